import PeerConnect
import PeerModel
import Synchronization
import Testing

@testable import PeerConnectCLI

/// The lines of a `send` at a terminal.
@Suite(.timeLimit(.minutes(8)))
struct DeliveryBoardTests {
    private final class Terminal: Sendable {
        let time = Mutex<Int64>(1000)
        private let text = Mutex("")

        var console: Console {
            Console(
                writeOut: { _ in Issue.record("this is not for standard output") },
                writeErr: { new in self.text.withLock { $0 += new } }, now: { self.time.withLock { $0 } })
        }

        /// What was written since the last call.
        func taken() -> String {
            text.withLock { text in
                defer { text = "" }
                return text
            }
        }
    }

    private func progress(_ bytes: UInt64, _ transfer: UInt8 = 1) throws -> FileProgress {
        FileProgress(
            transfer: try transferID(transfer), recipient: try peer("ada", 1), bytes: bytes, size: 100, rate: 10)
    }

    @Test("A line is drawn in place, ten times a second at most, and leaves nothing")
    func inPlace() throws {
        let terminal = Terminal(), board = DeliveryBoard(terminal.console) { 60 }
        board.show(try progress(10), named: "g.log", for: "ada")
        let first = terminal.taken()
        #expect(first.hasPrefix("g.log  to ada") && first.hasSuffix("10 %  10 B/s  0:09 left"), "\(first)")
        #expect(first.count < 60 && !first.contains("\n"))
        terminal.time.withLock { $0 += 99 }
        board.show(try progress(20), named: "g.log", for: "ada")
        #expect(terminal.taken() == "")
        terminal.time.withLock { $0 += 1 }
        board.show(try progress(30), named: "g.log", for: "ada")
        let next = terminal.taken()
        #expect(next.hasPrefix("\r\u{1B}[Jg.log") && next.contains("30 %"))
        board.say("ada is busy.")
        #expect(terminal.taken() == "\r\u{1B}[Jada is busy.\n" + next.dropFirst(4))
        board.remove(try transferID(1), of: nil)
        #expect(terminal.taken() == "\r\u{1B}[J")
        board.close()
        #expect(terminal.taken() == "")
    }

    @Test("No rate is shown before one is known, and nought is one when there was another")
    func rate() throws {
        let terminal = Terminal(), board = DeliveryBoard(terminal.console) { 60 }
        for (rate, shown) in [(0, false), (10, true), (0, true)] as [(UInt64, Bool)] {
            let transfer = try transferID(1), ada = try peer("ada", 1)
            let progress = FileProgress(transfer: transfer, recipient: ada, bytes: 10, size: 100, rate: rate)
            board.show(progress, named: "f", for: "ada")
            #expect(terminal.taken().contains("B/s") == shown)
            terminal.time.withLock { $0 += 1000 }
        }
    }

    @Test("Several are drawn below each other, and a clock that was set back does not stop them")
    func several() throws {
        let terminal = Terminal(), board = DeliveryBoard(terminal.console) { 60 }
        board.show(try progress(10), named: "a", for: "ada")
        terminal.time.withLock { $0 -= 500 }
        board.show(try progress(10, 2), named: "b", for: "ada")
        terminal.time.withLock { $0 += 200 }
        _ = terminal.taken()
        board.show(try progress(20), named: "a", for: "ada")
        let text = terminal.taken()
        #expect(text.hasPrefix("\r\u{1B}[1A\u{1B}[Ja  to ada") && text.contains("\r\nb  to ada"), "\(text)")
        board.close()
        #expect(terminal.taken() == "\r\u{1B}[1A\u{1B}[J")
    }

    @Test(
        "Send shows them at a terminal that can, and else says sentences",
        arguments: [
            ([], 60, "xterm", true), (["--plain"], 60, "xterm", false), ([], 60, "dumb", false),
            ([], nil, "xterm", false),
        ] as [([String], Int?, String, Bool)])
    func send(options: [String], columns: Int?, term: String, isDrawn: Bool) async throws {
        let ada = try peer("ada", 1), me = try peer("me", 9), transfer = try transferID(1)
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 1, isBusy: false, kind: "inbox", addresses: [])]
        let node = ScriptedSession(
            me: me, snapshot: snapshot, offer: { _, _ in .finished(TransferResult(peer: ada, status: .verified)) })
        node.emit(
            .fileOffered(
                FileOffer(
                    number: 1, chat: try chatID(3), transfer: transfer, from: me, to: [ada], isMine: true,
                    summary: OfferSummary(name: "g.log", size: 100, files: 1), line: nil)),
            .fileProgress(try progress(10)))
        let stage = Stage(home: ScriptedHome(node: node))
        var world = stage.world(environment: ["TERM": term])
        world.errorColumns = { columns }
        #expect(await execute(["send", "f", "--to", "ada"] + options, in: world) == 0)
        #expect(stage.out == "verified\tada\t\(ada.id)\t\n")
        #expect(stage.err.contains("Sending “g.log” to ada, 10 %") != isDrawn)
        #expect(stage.err.hasSuffix("10 B/s  0:09 left\r\u{1B}[J") == isDrawn, "\(stage.err)")
    }
}
