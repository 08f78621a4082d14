import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// What lines at the prompt are answered with.
@Suite(.timeLimit(.minutes(8)))
struct PromptAnswerTests {
    private let me, ada, bob: Peer
    private let chat: ChatID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        bob = try peer("bob", 2)
        chat = try chatID(3)
    }

    private func stage(_ snapshot: NodeSnapshot = NodeSnapshot(), stored: [StoredIdentity]? = nil) -> Stage {
        let node = ScriptedSession(me: me, snapshot: snapshot)
        return Stage(
            home: ScriptedHome(node: node, stored: stored ?? [StoredIdentity(peer: me, isCurrent: true)]))
    }

    private func transfer(
        _ number: Int, from: Peer, to: [Peer], isOpen: Bool = false, isRunning: Bool = true, by done: [Peer] = []
    ) throws -> TransferState {
        TransferState(
            offer: FileOffer(
                number: number, chat: chat, transfer: try transferID(UInt8(number)), from: from, to: to,
                isMine: from.id == me.id,
                summary: OfferSummary(name: "f", size: 1, files: 1), line: nil),
            isOpen: isOpen, isRunning: isRunning, results: done.map { TransferResult(peer: $0, status: .verified) })
    }

    @Test(
        "A text of several lines keeps them under its bar in an answer at the live terminal; no other line break does")
    func severalLines() throws {
        let terminal = ScriptedTerminal(), stage = stage()
        let world = stage.world(terminal: terminal, environment: ["TERM": "xterm"])
        let options = try GlobalOptions(ParsedArguments(command: "chat"), environment: world.environment)
        let display = try #require(LiveDisplay(Run(world: world, options: options, home: stage.home), me: me))
        display.answer(1, ChatAnswer(sentences: ["12:00 ben: two\n  | three four", "one\ntwo"]))
        _ = display.step()
        let rows = terminal.output.split(separator: "\r\n").map { $0.filter { $0 != "\r" } }
        #expect(rows.contains { $0.hasSuffix("12:00 ben: two") } && rows.contains("  | three four"))
        #expect(terminal.output.contains("one␊two") && !terminal.output.contains("two␊"))
    }

    private func busy() throws -> NodeSnapshot {
        var snapshot = NodeSnapshot()
        snapshot.chats = [(chat, .host, me, [ada, bob])]
        snapshot.transfers = [
            try transfer(1, from: me, to: [ada]),
            try transfer(2, from: ada, to: [me, bob]),
            try transfer(3, from: ada, to: [me, bob], by: [me]),
            try transfer(4, from: ada, to: [me], isOpen: true),
            try transfer(5, from: ada, to: [bob]),
            try transfer(6, from: me, to: [ada], isRunning: false, by: [ada]),
        ]
        return snapshot
    }

    @Test("Leaving stops own transfers and what is being received, not what is open, done, or between others")
    func whatStops() async throws {
        let stage = stage(try busy())
        #expect(await stage.run("chat", input: ["/quit", "/quit"], isTerminal: true) == 0)
        #expect(stage.err.contains("Quitting ends the chat for 2 members and stops 2 transfers. "))
    }

    @Test("At a terminal the end of input says what would end, as /quit does, and a second wish leaves")
    func endOfInput() async throws {
        for input in [[], ["/quit"]] {
            let stage = stage(try busy())
            #expect(await stage.run("chat", "--plain", input: input, isTerminal: true) == 0)
            #expect(stage.err.ranges(of: "Quitting ends the chat for 2 members").count == 1)
        }
        let idle = stage()
        #expect(await idle.run("chat", "--plain", isTerminal: true) == 0)
        #expect(!idle.err.contains("Quitting"))
        let script = stage(try busy())
        #expect(await script.run("chat") == 0)
        #expect(!script.err.contains("Quitting"))
    }

    @Test("A message that is missing somewhere is named by its beginning, and for who is gone it is not awaited")
    func undelivered() {
        var narrator = PlainNarrator(me: me)
        func tell(_ event: NodeEvent) -> [String] { narrator.tell(event, now: 0).notes }
        _ = tell(.chatStarted(chat: chat, role: .host, host: me, members: [ada, bob]))
        for (seq, text) in [(1, "see you at the old harbour, by the crane"), (2, "bye\nall")] {
            _ = tell(
                .message(ChatMessage(chat: chat, seq: UInt64(seq), from: me, text: text, sent: 0, ref: seq, line: 1)))
        }
        func missing(_ seq: UInt64, _ peers: Peer...) -> [String] {
            tell(.messageDelivered(chat: chat, seq: seq, ref: Int(seq), missing: peers, line: 1))
        }
        #expect(missing(1, bob) == ["Not delivered yet to bob, “see you at the old harbour, by…”."])
        _ = tell(.memberLeft(chat: chat, member: bob, reason: .timedOut))
        #expect(
            missing(2, ada, bob) == [
                "Not delivered yet to ada, “bye…”.",
                "Not delivered to bob, who is gone; your message, “bye…”, will not arrive there.",
            ])
        #expect(missing(9, bob) == ["Not delivered to bob, who is gone; your message will not arrive there."])
    }

    @Test("To trust someone blocked says that this is over")
    func trustsBlocked() async throws {
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])]
        let stage = stage(snapshot)
        #expect(await stage.run("chat", input: ["/block ada", "/trust ada", "/trust ada"]) == 0)
        let who = "ada (\(ada.id.short))"
        #expect(
            stage.outLines.suffix(2) == ["\(who) is trusted, and no longer blocked.", "\(who) is trusted."])
    }

    @Test("To verify without a current identity names one that can be said")
    func verifies() async throws {
        let stage = stage(
            stored: [StoredIdentity(peer: bob, isCurrent: false), StoredIdentity(peer: me, isCurrent: false)])
        #expect(await stage.run("peers", "verify", ada.id.description) == 3)
        #expect(stage.err == "None of your identities is the current one.\n  Say which, as in --name bob.\n")
        #expect(await stage.run("peers", "verify", ada.id.description, "--name", "bob") == 0)
    }
}
