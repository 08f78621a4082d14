import Foundation
import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// The chat command at a terminal that is scripted: keys in, what is written out.
@Suite(.timeLimit(.minutes(8)))
struct LiveChatTests {
    private let me, ada: Peer
    private let chat: ChatID
    private let terminal: ScriptedTerminal

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        chat = try chatID(3)
        terminal = ScriptedTerminal()
    }

    /// Runs the chat while `body` acts; both must end.
    private func run(
        _ arguments: String..., node: ScriptedSession, settings: String? = nil, in owner: ScriptedHome? = nil,
        _ body: () async -> Void
    ) async -> (code: Int32, stage: Stage) {
        let home = ScriptedHome(
            node: node, stored: [StoredIdentity(peer: me, isCurrent: true)], settings: settings, in: owner)
        let stage = Stage(home: home)
        let world = stage.world(terminal: terminal, environment: ["TERM": "xterm"], sleep: terminal.sleep)
        let work = Task { await execute(["chat"] + arguments, in: world) }
        await body()
        if Task.isCancelled { work.cancel() }
        return (await work.value, stage)
    }

    @Test("Who this is and what can be done stand there at once, and nothing goes past the terminal")
    func firstScreen() async {
        let (code, stage) = await run(node: ScriptedSession(me: me)) {
            await terminal.output(until: "nobody else is here yet")
            terminal.type("/help\r")
            await terminal.output(until: "or one command")
            terminal.type("/quit\r")
        }
        #expect(code == 0 && terminal.isClosed)
        #expect(stage.out.isEmpty && stage.err.isEmpty)
        let lines = terminal.output.split(separator: "\r\n").prefix { !$0.contains("> ") }
        #expect(lines.count < 10 && terminal.output.contains("You are me (\(me.id.short))."))
        #expect(terminal.output.contains("> /help"))
    }

    @Test("An own line is shown as on its way, then once at its place")
    func ownLine() async {
        let node = ScriptedSession(me: me) { _, line in ([], .message(ref: line ?? 0)) }
        let result = await run("--color", "never", node: node) {
            await terminal.output(until: "> ")
            node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
            await terminal.output(until: "hosting ada")
            terminal.type("hello\r")
            await terminal.output(until: "on its way: hello")
            #expect(!terminal.output.contains("me: hello"))
            node.emit(.message(ChatMessage(chat: chat, seq: 1, from: me, text: "hello", sent: 0, ref: 1, line: 1)))
            await terminal.output(until: "me: hello")
            terminal.send(.ended)
        }
        #expect(result.code == 0 && terminal.output.ranges(of: "me: hello").count == 1)
        #expect(!terminal.output.contains("\u{1B}[38"), "no colour was asked for")
    }

    @Test("A bare /accept takes the only invitation, which rings once")
    func accepts() async {
        let node = ScriptedSession(me: me)
        _ = await run(node: node) {
            node.emit(.inviteReceived(number: 4, from: ada, purpose: .chat, offer: nil, known: .new))
            await terminal.output(until: "invites you to chat")
            terminal.type("/accept\r")
            await terminal.output(until: "#4: ada")
            terminal.send(.ended)
        }
        #expect(node.commands == ["\(NodeCommand.accept(.number(4)))"])
        #expect(terminal.bells == 1)
    }

    @Test("Ctrl-C says what would end, and a second one leaves; Ctrl-D is /quit; Ctrl-Z stops")
    func ways() async {
        var snapshot = NodeSnapshot()
        snapshot.chats = [(id: chat, role: .host, host: me, members: [ada])]
        let node = ScriptedSession(me: me, snapshot: snapshot)
        let (code, stage) = await run("--color", "never", node: node) {
            await terminal.output(until: "> ")
            node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
            await terminal.output(until: "hosting ada")
            terminal.type("\u{4}")
            await terminal.output(until: "Quitting ends the chat for 1 member.")
            terminal.type("\u{1A}")
            terminal.send(.resumed(terminal.size))
            terminal.type("\u{3}")
            await terminal.output(until: "Ctrl-C again leaves, which ends the chat for 1 member.")
            for keys in ["x", "\u{3}", "/who\r"] { terminal.type(keys) }  // what disarms it
            await terminal.output(until: "you, is host")
            for _ in 1...2 { terminal.type("\u{3}") }
        }
        #expect(code == 0 && stage.home.node.isStopped && terminal.suspensions == 1)
    }

    @Test(
        "A mention rings once; own lines and a bell in someone's text do not, nor does anything with the setting off",
        arguments: [(nil, 1), ("{bell: true}", 1), ("{bell: false}", 0)] as [(String?, Int)])
    func bell(settings: String?, count: Int) async {
        let node = ScriptedSession(me: me)
        _ = await run(node: node, settings: settings) {
            await terminal.output(until: "> ")
            node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
            for (seq, (from, text)) in [(ada, "some \u{7}"), (me, "me"), (ada, "me?"), (ada, "last")].enumerated() {
                let message = ChatMessage(
                    chat: chat, seq: UInt64(seq), from: from, text: text, sent: 0, ref: nil, line: nil)
                node.emit(.message(message))
                await terminal.output(until: text == "some \u{7}" ? "some ␇" : ": \(text)")
            }
            terminal.send(.ended)
        }
        #expect(terminal.bells == count)
    }

    @Test("What is entered while a command runs is looked at in order")
    func order() async {
        let node = ScriptedSession(me: me) { [me, chat] command, line in
            guard case .say(let text) = command else { return ([], .done) }
            let message = ChatMessage(
                chat: chat, seq: UInt64(line ?? 0), from: me, text: text, sent: 0, ref: line, line: line)
            return ([.message(message)], .message(ref: line ?? 0))
        }
        _ = await run("--color", "never", node: node) {
            await terminal.output(until: "> ")
            node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
            await terminal.output(until: "hosting ada")
            terminal.type("/send f\rone\rtwo\r")
            await terminal.output(until: "me: two")
            terminal.send(.ended)
        }
        #expect(node.commands.map { $0.prefix(7) } == ["send(pa", "say(\"on", "say(\"tw"])
    }

    @Test("Text that finds no chat is given back with the reason")
    func refused() async {
        let node = ScriptedSession(me: me) { _, _ in
            ([], .failed(PeerConnectError(.noChat, "There is no chat.")))
        }
        _ = await run(node: node) {
            await terminal.output(until: "> ")
            terminal.type("anyone?\r")
            await terminal.output(until: "There is no chat.")
            terminal.send(.ended)
        }
        #expect(terminal.output.contains("> anyone?"))
    }

    @Test(
        "Lines of an earlier run come back with the arrow key and Ctrl-R; a run without history leaves and reads none")
    func inputHistory() async {
        let (_, first) = await run(node: ScriptedSession(me: me)) {
            await terminal.output(until: "> ")
            terminal.type("/peers something\r")
            await terminal.output(until: "Nobody is there yet.")
            terminal.send(.ended)
        }
        let file = first.home.stateFolder + "/" + InputHistoryFile.name
        func stored() -> String? { try? String(contentsOfFile: file, encoding: .utf8) }
        #expect(stored() == "/peers something\n")
        let second = ScriptedTerminal()
        await LiveChatTests(other: self, second).arrows(first.home)
        #expect(stored() == "/peers something\n")
        let third = ScriptedTerminal()
        await LiveChatTests(other: self, third).arrowsWithoutHistory(first.home)
        #expect(stored() == "/peers something\n")
    }

    private init(other: LiveChatTests, _ terminal: ScriptedTerminal) {
        (me, ada, chat, self.terminal) = (other.me, other.ada, other.chat, terminal)
    }

    private func arrows(_ owner: ScriptedHome) async {
        _ = await run(node: ScriptedSession(me: me), in: owner) {
            await terminal.output(until: "> ")
            terminal.type("\u{1B}[A")
            await terminal.output(until: "/peers something")
            terminal.type("\u{3}\u{12}some")
            await terminal.output(until: "search: some > ")
            terminal.send(.ended)
        }
    }

    private func arrowsWithoutHistory(_ owner: ScriptedHome) async {
        _ = await run("--no-history", node: ScriptedSession(me: me), in: owner) {
            await terminal.output(until: "> ")
            terminal.type("\u{1B}[Aprivate\r")
            await terminal.output(until: "on its way: private")
            terminal.send(.ended)
        }
        #expect(!terminal.output.contains("something"))
    }

    @Test("What nobody is seen for is said above the live area, and nowhere else")
    func nobody() async {
        let node = ScriptedSession(me: me)
        let home = ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)])
        let stage = Stage(home: home)
        let world = stage.world(
            terminal: terminal, environment: ["TERM": "xterm"],
            sleep: { if $0 != EmptyListHint.delay { try await terminal.sleep($0) } })
        let work = Task { await execute(["chat"], in: world) }
        await terminal.output(until: "peerconnect doctor")
        terminal.send(.ended)
        #expect(await work.value == 0 && stage.err.isEmpty && stage.out.isEmpty)
    }

    @Test("A transfer of one byte leaves a line with its name, its size and who has it")
    func tinyFile() async throws {
        let node = ScriptedSession(me: me), bob = try peer("bob", 2)
        let offer = FileOffer(
            number: 1, chat: chat, transfer: try transferID(7), from: me, to: [ada, bob], isMine: true,
            summary: OfferSummary(name: "f", size: 1, files: 1), line: 1)
        let results = [
            TransferResult(peer: ada, status: .verified, reason: nil),
            TransferResult(peer: bob, status: .declined, reason: nil),
        ]
        _ = await run("--color", "never", node: node) {
            await terminal.output(until: "> ")
            node.emit(
                .chatStarted(chat: chat, role: .host, host: me, members: [ada, bob]), .fileOffered(offer),
                .fileAnswered(transfer: offer.transfer, peer: ada, accepted: true, automatic: true),
                .fileDelivered(transfer: offer.transfer, result: results[0]),
                .fileAnswered(transfer: offer.transfer, peer: bob, accepted: false, automatic: true),
                .fileDelivered(transfer: offer.transfer, result: results[1]),
                .fileDone(transfer: offer.transfer, results: results, line: 1))
            await terminal.output(until: "Finished #1, “f”, 1 byte. ada has it. bob declined.")
            terminal.send(.ended)
        }
    }

    @Test(
        "Colour is as the option says, else as NO_COLOR does",
        arguments: [
            ([], [:], true), ([], ["NO_COLOR": "1"], false), ([], ["NO_COLOR": ""], true),
            (["--color", "always"], ["NO_COLOR": "1"], true), (["--color", "never"], [:], false),
        ] as [([String], [String: String], Bool)])
    func color(options: [String], environment: [String: String], isColored: Bool) async {
        let home = ScriptedHome(
            node: ScriptedSession(me: me), stored: [StoredIdentity(peer: me, isCurrent: true)])
        let world = Stage(home: home).world(
            terminal: terminal, environment: ["TERM": "xterm"].merging(environment) { $1 }, sleep: terminal.sleep)
        let work = Task { await execute(["chat"] + options, in: world) }
        await terminal.output(until: "nobody else is here yet")
        terminal.send(.ended)
        #expect(await work.value == 0)
        #expect(terminal.output.contains("\u{1B}[2m") == isColored)
    }

    @Test(
        "Plain lines where a live area cannot be, or is not wanted",
        arguments: [
            (["--plain"], [:]), ([], ["PEERCONNECT_PLAIN": "1"]), ([], ["TERM": "dumb"]), (["--json"], [:]),
        ] as [([String], [String: String])])
    func plain(options: [String], environment: [String: String]) async {
        let node = ScriptedSession(me: me)
        let stage = Stage(home: ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)]))
        let environment = ["TERM": "xterm"].merging(environment) { $1 }
        let input = ScriptedInput([.text("/quit")])
        let world = stage.world(input: input, terminal: terminal, environment: environment, sleep: terminal.sleep)
        #expect(await execute(["chat"] + options, in: world) == 0)
        #expect(terminal.output.isEmpty && !(stage.out + stage.err).isEmpty)
    }

    @Test("Tab offers commands, peers by name, open numbers and paths")
    func completion() throws {
        var board = LiveBoard(me: me)
        let now = Instant(nanoseconds: 1)
        board.take(
            .peerFound(ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])), at: now)
        board.take(.inviteReceived(number: 12, from: ada, purpose: .chat, offer: nil, known: .new), at: now)
        var paths = PathExpander(home: "/home/me") { pattern in
            #expect(pattern == "/home/me/do*")
            return ["/home/me/docs", "/home/me/done.txt"]
        }
        paths.isFolder = { $0.hasSuffix("docs") }
        let completer = ChatCompleter(board: board, names: NameBook(), paths: paths)
        func offered(_ text: String) -> String {
            var editor = LineEditor()
            for character in text { _ = editor.handle(.text(String(character)), completer: completer.candidates) }
            if case .candidates(let words) = editor.handle(.tab, completer: completer.candidates) {
                return words.joined(separator: " ")
            }
            return editor.text
        }
        #expect(offered("/inv") == "/invite " && offered("/invite A") == "/invite ada ")
        #expect(offered("/accept ") == "/accept 12 ")
        #expect(offered("/send ~/do") == "docs/ done.txt")
        #expect(offered("/dnd o") == "on off" && offered("plain words") == "plain words")
    }
}
