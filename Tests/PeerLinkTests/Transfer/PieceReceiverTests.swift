import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("Receiving pieces from who breaks the rules", .timeLimit(.minutes(8))) struct PieceReceiverTests {
    private static let pieces = 17 << 20

    /// Receives into a spool, as a host does that only passes the files on, and gives how it went.
    private func spooled(_ script: ScriptedStream, isSigned: @escaping @Sendable (UInt64) -> Bool) async throws
        -> PieceIntake.Outcome?
    {
        let folder = try TemporaryFolder(), ledger = script.ledger, queue = ArrivalQueue()
        let spool = try Spool(folder: folder.path, length: ledger.length)
        let intake = PieceIntake(
            keeping: .spool(spool), queue: queue, ledger: ledger, transfer: script.transfer,
            key: script.key.publicKey, progress: { _ in })
        let outcome = Monitor<PieceIntake.Outcome?>(nil)
        try BlockingThread.spawn("intake") {
            let ended = intake.run()
            outcome.update { $0 = ended }
        }
        _ = try await withDataConnection { stream in
            try script.send(&stream, isSigned: isSigned)
        } _: { stream in
            PieceReceiver(queue: queue, ledger: ledger).run(&stream, from: 0)
        }
        while outcome.read({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
        return outcome.read { $0 }
    }

    @Test("All pieces with their signatures are kept")
    func complete() async throws {
        let outcome = try await spooled(ScriptedStream(Self.pieces)) { $0 == 16 || $0 == 17 }
        guard case .kept? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
    }

    @Test(
        "A checkpoint that is left out ends the connection: whoever is served would wait for it", arguments: [16, 17])
    func missingCheckpoint(left: UInt64) async throws {
        let outcome = try await spooled(ScriptedStream(Self.pieces)) { ($0 == 16 || $0 == 17) && $0 != left }
        guard case .failed(.corrupt, _, by: _)? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
    }

    @Test("A sender that gives a byte now and then, but no frame, has stalled")
    func dribble() async throws {
        let ledger = PieceLedger(length: 100), queue = ArrivalQueue()
        _ = try await withDataConnection { stream in
            // An announced piece of 100 bytes, one byte of it every 50 ms, for 5 s.
            let header = PieceHeader(index: 1, hash: SHA256.hash([1])).frameStart(length: 100)
            try stream.write(header)
            for _ in 0..<100 {
                try stream.write([1])
                try stream.flushAll()
                _ = Monitor(0).wait(seconds: 0.05) { _ in Int?.none }
            }
        } _: { stream in
            PieceReceiver(queue: queue, ledger: ledger, silence: 0.5).run(&stream, from: 0)
        }
        // Who waits for the whole piece gets it, and no error.
        #expect(throws: StreamError.stalled) { try queue.next() }
    }
}
