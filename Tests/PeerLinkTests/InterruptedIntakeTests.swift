import Glibc
import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("Pieces behind what is here already") struct InterruptedIntakeTests {
    private let from: TemporaryFolder, into: TemporaryFolder
    private let key = SigningKey.generate()

    init() throws {
        from = try TemporaryFolder()
        into = try TemporaryFolder()
    }

    private func stream() throws -> SignedStream {
        try from.file("a", noise(18 << 20, 1))
        return try SignedStream(SourceWalk.walk(paths: [from("a")]), key)
    }

    /// Gives an intake the pieces behind those that are here, as a sender that hashed piece 17 to `other`.
    private func intake(_ stream: SignedStream, _ landing: Landing, hashing other: [UInt8]) throws
        -> PieceIntake.Outcome
    {
        let queue = ArrivalQueue(), ledger = PieceLedger(length: stream.source.length)
        ledger.take(landing.kept)
        var chain = PieceChain(stream.offer.transfer, at: try #require(landing.kept.proof))
        for piece in (chain.index + 1)...ledger.pieces {
            let bytes = try piece == 17 ? other : stream.bytes(of: piece)
            chain.append(SHA256.hash(bytes), length: bytes.count)
            guard piece > landing.kept.count else { continue }
            let buffer = try #require(queue.buffer())
            (buffer.index, buffer.count, buffer.hash) = (piece, bytes.count, SHA256.hash(bytes).bytes)
            buffer.memory.copyBytes(from: bytes)
            #expect(queue.put(.piece(buffer)))
        }
        let checkpoint = Checkpoint(index: chain.index, signature: key.sign(chain.checkpoint))
        #expect(queue.put(.checkpoint(checkpoint)))
        #expect(
            queue.put(.end(StreamEnd(index: chain.index, changed: [], signature: key.sign(chain.end(changed: []))))))
        return PieceIntake(
            keeping: .landing(landing), queue: queue, ledger: ledger, transfer: stream.offer.transfer,
            key: key.publicKey, progress: { _ in }
        ).run()
    }

    private func interrupted(_ stream: SignedStream) throws -> Landing {
        var run = stream
        let landing = try run.landing(in: into.path)
        try run.feed(landing, upTo: 17)
        landing.die()
        let again = try stream.landing(in: into.path)
        #expect(again.kept.count == 17 && again.kept.proof?.index == 16)
        return again
    }

    @Test("A sender that hashes the same bytes again is believed")
    func same() throws {
        let stream = try stream(), landing = try interrupted(stream)
        guard case .landed(let landed, partial: nil) = try intake(stream, landing, hashing: stream.bytes(of: 17)) else {
            Issue.record("it did not land")
            return
        }
        #expect(landed.paths == [into("a")])
        #expect(TemporaryFolder.areEqual(from("a"), into("a")))
    }

    @Test("A sender that goes on with other bytes than it sent before is refused, and what it had signed is kept")
    func other() throws {
        let stream = try stream(), landing = try interrupted(stream)
        let other = [UInt8](repeating: 7, count: Limits.pieceSize)
        guard case .failed(.corrupt, _, by: .neighbourOrSender?) = try intake(stream, landing, hashing: other) else {
            Issue.record("it was not refused")
            return
        }
        let again = try stream.landing(in: into.path)
        #expect(again.kept.count == 16 && again.kept.proof?.index == 16)
        try #expect(again.bytes(at: 0, count: 16 << 20) == stream.source.bytes(at: 0, count: 16 << 20))
    }

    @Test("Where no signature holds, nothing is kept of what was altered")
    func neverSigned() throws {
        let stream = try stream()
        var run = stream
        let landing = try run.landing(in: into.path)
        try run.feed(landing, upTo: 3)
        landing.keepSigned()
        landing.leave(isContinuable: true)
        #expect(try TemporaryFolder.tree(into.path).isEmpty)
    }

    @Test("What is kept and what is removed when the receiving ends")
    func ends() throws {
        let stream = try stream()
        for (isContinuable, gaveUp, stays) in [
            (true, nil, true), (false, nil, false), (true, true, true), (true, false, false), (false, true, false),
        ] as [(Bool, Bool?, Bool)] {
            var run = stream
            let landing = try run.landing(in: into.path)
            try run.feed(landing, upTo: 3)
            if let gaveUp { #expect(landing.giveUp(keeping: false, isContinuable: gaveUp) == .notNeeded) }
            landing.leave(isContinuable: isContinuable)
            #expect(try TemporaryFolder.tree(into.path).isEmpty == !stays)
            // Word that it was cancelled may come behind the end of the connection.
            #expect(landing.giveUp(keeping: false, isContinuable: true) == .notNeeded)
            #expect(landing.giveUp(keeping: false) == (stays ? .mustBeRemoved : .notNeeded))
            landing.remove()
            #expect(try TemporaryFolder.tree(into.path).isEmpty)
        }
    }

    @Test("What cannot be continued is not kept: nothing was written down of it")
    func nothingNoted() throws {
        let landing = try stream().landing(in: into.path)
        landing.leave(isContinuable: true)
        #expect(try TemporaryFolder.tree(into.path).isEmpty)
    }

    @Test(
        "On a full disk it stops, and goes on behind that when there is room",
        .enabled(if: canMount(), "needs to mount"))
    func fullDisk() throws {
        let stream = try stream()
        #expect(mount("tmpfs", into.path, "tmpfs", 0, "size=9m") == 0)
        defer { umount2(into.path, Int32(MNT_DETACH)) }
        var run = stream
        let landing = try run.landing(in: into.path)
        #expect(throws: TransferFailure.diskFull) { try run.feed(landing, upTo: 18) }
        landing.leave(isContinuable: true)
        #expect(mount("tmpfs", into.path, "tmpfs", UInt(MS_REMOUNT), "size=40m") == 0)
        let again = try stream.landing(in: into.path)
        #expect((7...9).contains(again.kept.count))
        var rest = stream
        try rest.feed(again, upTo: stream.ledger.pieces)
        #expect(try again.finish(dropping: [])?.paths == [into("a")])
        #expect(TemporaryFolder.areEqual(from("a"), into("a")))
    }
}

/// Whether this process may mount file systems.
private func canMount() -> Bool {
    guard let folder = try? TemporaryFolder() else { return false }
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=1m") == 0 else { return false }
    return umount2(folder.path, Int32(MNT_DETACH)) == 0
}
