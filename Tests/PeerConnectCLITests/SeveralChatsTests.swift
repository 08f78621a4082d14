import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Several chats in one run: where lines go, and what waits to be read.
@Suite("Several chats at once", .timeLimit(.minutes(8)))
struct SeveralChatsTests {
    let me, ada, bob, eve: Peer
    let first, second: ChatID
    let terminal = ScriptedTerminal(columns: 100)

    init() throws {
        (me, ada, bob) = (try peer("me", 9), try peer("ada", 1), try peer("bob", 2))
        eve = try peer("eve", 4)
        (first, second) = (try chatID(3), try chatID(4))
    }

    var started: [NodeEvent] {
        [
            .chatStarted(chat: first, role: .host, host: me, members: [ada]),
            .chatStarted(chat: second, role: .member, host: bob, members: [me, eve]),
        ]
    }

    func line(_ chat: ChatID, _ seq: UInt64, _ from: Peer, _ text: String) -> NodeEvent {
        .message(ChatMessage(chat: chat, seq: seq, from: from, text: text, sent: 0, ref: nil, line: nil))
    }

    func ended(_ chat: ChatID) -> NodeEvent { .chatEnded(chat: chat, reason: .ended, cause: nil) }

    func errLines(_ stage: Stage) -> [String] { stage.err.split(separator: "\n").map(String.init) }

    /// Says lines at once, in the chat they were for; `/start` lets these events happen.
    func node(starting events: [NodeEvent]) -> ScriptedSession {
        node { command in if case .start = command { events } else { [] } }
    }

    func node(_ before: @escaping @Sendable (NodeCommand) -> [NodeEvent] = { _ in [] }) -> ScriptedSession {
        ScriptedSession(me: me) { [first] command, line in
            guard case .say = command, let line else { return (before(command), .done) }
            let delivered = NodeEvent.messageDelivered(chat: first, seq: 9, ref: line, missing: [], line: line)
            return (before(command) + [delivered], .message(ref: line))
        }
    }

    func live(_ node: ScriptedSession, _ body: () async -> Void) async -> Int32 {
        let home = ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)])
        let stage = Stage(home: home)
        let world = stage.world(terminal: terminal, environment: ["TERM": "xterm"], sleep: terminal.sleep)
        let work = Task { await execute(["chat", "--color", "never", "--max-chats", "3"], in: world) }
        await body()
        if Task.isCancelled { work.cancel() }
        return await work.value
    }

    @Test("The first chat is the current one until it ends or another is gone to; a further one never takes its place")
    func book() {
        var book = ChatBook()
        started.forEach { book.note($0) }
        #expect(book.current?.id == first && book.chats.map(\.number) == [1, 2])
        book.note(line(first, 1, ada, "here"))
        book.note(line(second, 1, bob, "there"))
        #expect(book.unread.map(\.number) == [2] && book.chat(second)?.unread == 1)
        book.switchTo(7)
        #expect(book.current?.id == first)
        book.switchTo(2)
        #expect(book.current?.id == second && book.unread.isEmpty)
        book.note(ended(second))
        #expect(book.current == nil && book.chats.map(\.number) == [1], "nobody is led into a chat unasked")
        book.note(started[1])
        #expect(book.current == nil && book.chats.map(\.number) == [1, 3], "not even into one that starts")
        book.switchTo(3)
        book.switchTo(0)
        #expect(book.current == nil && book.isElsewhere(first) && book.isElsewhere(second))
        book.note(.memberLeft(chat: second, member: eve, reason: .left))
        book.note(.memberJoined(chat: second, member: ada))
        #expect(book.chat(second)?.everyone.map(\.name) == ["bob", "me", "ada"])
    }

    @Test("What is said elsewhere is counted in the status and shown on going there, where typed lines then go")
    func unread() async {
        let node = node()
        let code = await live(node) {
            await terminal.output(until: "> ")
            started.forEach { node.emit($0) }
            await terminal.output(until: "It is chat 2; what you type still goes to chat 1. /switch 2 goes there.")
            node.emit(line(second, 1, bob, "you there?"), .memberLeft(chat: second, member: eve, reason: .left))
            node.emit(line(second, 2, bob, "me, I mean"), line(first, 1, ada, "hello"))
            await terminal.output(until: "ada: hello")
            await terminal.output(until: "unread 2 in chat 2, hosting chat 1 with ada, you are me")
            #expect(!terminal.output.contains("you there?") && !terminal.output.contains("eve left"))
            #expect(terminal.bells == 1, "a mention rings wherever it is")
            terminal.type("to ada\r")
            await terminal.output(until: "on its way: to ada")
            terminal.type("/switch 2\r")
            await terminal.output(until: "bob: me, I mean")
            await terminal.output(until: "chat 2 with bob (host), you are me")
            terminal.type("to bob\r")
            await terminal.output(until: "on its way: to bob")
            terminal.type("/quit\r/quit\r")
        }
        #expect(code == 0)
        let lines = terminal.output.split(separator: "\r\n").filter {
            $0.contains("you there?") || $0.contains("eve left")
        }
        #expect(lines.count == 2 && lines.first?.contains("you there?") == true)
        let chats = zip(node.commands, node.chats).filter { $0.0.hasPrefix("say") }.map(\.1)
        #expect(chats == [first, second])
    }

    @Test("A line whose chat has ended goes to no other; /chats and /switch say where one can go")
    func orphaned() async {
        let node = node()
        _ = await live(node) {
            await terminal.output(until: "> ")
            started.forEach { node.emit($0) }
            node.emit(ended(first))
            await terminal.output(until: "What you type goes nowhere now. /switch 2 goes to chat 2 with bob and eve.")
            await terminal.output(until: "in no chat now, /switch 2 goes to one")
            for typed in ["for ada", "/send f", "/leave", "/end"] { terminal.type(typed + "\r") }
            terminal.type("/chats\r")
            await terminal.output(until: "Chat 2 with bob and eve, bob is the host, /switch 2 goes there.")
            terminal.type("/switch 5\r")
            await terminal.output(until: "There is no chat 5. /chats lists them.")
            terminal.type("/switch 2\r/leave\r")
            await terminal.output(until: "What you type goes to chat 2 with bob and eve now.")
            terminal.send(.ended)
        }
        #expect(terminal.output.ranges(of: "You are in no chat now.").count == 4)
        #expect(terminal.output.contains("> for ada"), "what was not said is given back")
        #expect(node.commands == ["leave"] && node.chats == [second])
    }

    @Test("A script sees every event at once, and is told numbers, members and what is unread")
    func json() async throws {
        let node = node(starting: started + [line(second, 1, bob, "unread")])
        let stage = Stage(home: ScriptedHome(node: node))
        let code = await stage.run(
            "chat", "--json", "--max-chats", "2", input: ["/start", "/chats", "/switch 2", "hi", "/switch 3"])
        #expect(code == 0)
        #expect(stage.outLines.contains { $0.contains(#""event":"message""#) && $0.contains("unread") })
        let replies = stage.outLines.filter { $0.contains(#""event":"reply""#) }
        #expect(replies.dropFirst().first?.contains(#""chats":[{"number":1,"chat":"\#(first)","role":"host""#) == true)
        #expect(replies.dropFirst().first?.contains(#""current":false,"unread":1}"#) == true)
        #expect(replies.dropFirst(2).first?.contains(#""chat":{"number":2,"#) == true)
        #expect(replies.last?.contains(#""ok":false,"code":"no-such-number""#) == true)
        #expect(node.chats.last == second)
    }

    @Test("In plain lines the first unread one and every mention are told; the rest comes on going there")
    func plain() async {
        let said = [line(second, 1, bob, "one"), line(second, 2, bob, "two"), line(second, 3, eve, "me!")]
        let stage = Stage(home: ScriptedHome(node: node(starting: started + said)))
        _ = await stage.run("chat", "--plain", "--max-chats", "2", input: ["/start", "/switch 2", "/switch 2"])
        #expect(
            errLines(stage).filter { $0.contains("nread") } == [
                "Unread in chat 2 with bob and eve. /switch 2 shows it."
            ]
        )
        #expect(errLines(stage).contains("eve names you in chat 2 with bob and eve. /switch 2 shows it."))
        #expect(
            stage.outLines == [
                "What you type goes to chat 2 with bob and eve now.", "bob: one", "bob: two", "eve: me!",
                "You are in chat 2 with bob and eve already.",
            ])
    }

    @Test("What was unread in a chat that ends is shown before its end, and the end says which chat it was")
    func unreadAtTheEnd() async {
        let events = started + [line(second, 1, bob, "last words"), ended(second), ended(first)]
        let stage = Stage(home: ScriptedHome(node: node(starting: events)))
        _ = await stage.run("chat", "--max-chats", "2", input: ["/start"])
        let told = stage.outLines + errLines(stage)
        #expect(told.contains("bob: last words") && told.contains("This was unread in chat 2 with bob and eve."))
        #expect(errLines(stage).contains("That was chat 2 with bob and eve."))
        #expect(!errLines(stage).contains("That was chat 1 with ada."), "there is no other")
    }

    @Test("Of what is unread so many lines and bytes are kept, the newest")
    func bounded() {
        for text in ["short", String(repeating: "x", count: 16 << 10)] {
            var unread = UnreadLines()
            for number in 1...5000 as ClosedRange<UInt64> { unread.add(line(second, number, bob, text), .result(text)) }
            #expect(unread.lines.count <= 1000 && unread.lines.count * text.utf8.count <= 4 << 20)
            #expect(unread.lines.count > 30 && unread.dropped + unread.lines.count == 5000)
            guard case .message(let last)? = unread.lines.last?.event else {
                Issue.record("the last line is gone")
                continue
            }
            #expect(last.seq == 5000)
        }
    }

    @Test("Leaving says what it does in each of them")
    func leaving() {
        let teller = ChatTeller(
            JSONDisplay(console: Stage(home: ScriptedHome(node: node())).world().console), me: me, now: { 0 })
        let host = (role: ChatRole.host, members: 2), member = (role: ChatRole.member, members: 5)
        #expect(teller.whatLeavingDoes(in: [], running: 0) == nil)
        #expect(teller.whatLeavingDoes(in: [host], running: 1) == "ends the chat for 2 members and stops 1 transfer")
        #expect(teller.whatLeavingDoes(in: [member], running: 0) == "leaves the chat")
        #expect(
            teller.whatLeavingDoes(in: [host, member], running: 0)
                == "ends the chat for 2 members and leaves another chat")
        #expect(
            teller.whatLeavingDoes(in: [host, host, member, member], running: 0)
                == "ends 2 chats for 4 members and leaves 2 chats")
    }
}
