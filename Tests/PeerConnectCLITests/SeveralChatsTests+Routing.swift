import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Where a line goes, and where it must not.
extension SeveralChatsTests {
    @Test("What stands behind a /switch does not overtake it, and texts for a chat to come stay there")
    func order() async {
        let more = NodeEvent.chatStarted(chat: second, role: .host, host: me, members: [bob])
        let (done, answer) = (NodeEvent.inviteDone(chat: second, answers: [], line: 3), line(first, 5, ada, "heard"))
        let node = node { command in
            switch command {
            case .invite: [more, done]
            case .say("three"): [answer]
            default: []
            }
        }
        _ = await live(node) {
            await terminal.output(until: "> ")
            node.emit(started[0])
            await terminal.output(until: "hosting ada")
            terminal.type("one\r/switch 0\r/invite bob\rtwo\r/switch 1\rthree\r")
            await terminal.output(until: "ada: heard")
            terminal.send(.ended)
        }
        let said = zip(node.commands, node.chats).filter { !$0.0.hasPrefix("invite") }
        #expect(said.map(\.0) == ["one", "two", "three"].map { "\(NodeCommand.say($0))" })
        #expect(said.map(\.1) == [first, second, first])
        let invited = zip(node.commands, node.chats).first { $0.0.hasPrefix("invite") }
        #expect(invited?.1 == nil, "it begins a new one")
    }

    @Test("Nobody goes elsewhere while texts wait for the chat that is about to start")
    func held() async {
        let node = node()
        let code = await live(node) {
            await terminal.output(until: "> ")
            node.emit(started[1])
            await terminal.output(until: "chat with bob")
            terminal.type("/switch 0\r/invite ada\rfor ada\r")
            await terminal.output(until: "waits for the chat: for ada")
            terminal.type("/switch 1\r")
            terminal.type("for bob\r")
            await terminal.output(until: "That waits until what you typed has gone to the chat that is about to start.")
            node.emit(.inviteDone(chat: nil, answers: [], line: 2))
            await terminal.output(until: "This was typed for a chat that you are not in.")
            await terminal.output(until: "What you type goes to chat 1 with bob and eve now.")
            await terminal.output(until: "on its way: for bob")
            terminal.send(.ended)
        }
        #expect(code == 0 && terminal.output.contains("> for ada"), "what was not said is given back")
        let said = zip(node.commands, node.chats).filter { $0.0.hasPrefix("say") }
        #expect(said.map(\.0) == ["\(NodeCommand.say("for bob"))"] && said.map(\.1) == [second])
    }

    @Test("Without a current chat, /end and /leave give up what is about to start, and end nothing that runs")
    func givesUp() async {
        let node = node()
        _ = await live(node) {
            await terminal.output(until: "> ")
            node.emit(started[0])
            await terminal.output(until: "hosting ada")
            terminal.type("/switch 0\r/invite bob\r")
            await terminal.output(until: "inviting")
            terminal.type("/end\r/leave\r")
            await terminal.output(until: "> /leave")
            node.emit(.failure(PeerConnectError(.internal, "seen")))
            await terminal.output(until: "seen")
            terminal.send(.ended)
        }
        let giving = "\(NodeCommand.giveUp)"
        #expect(node.commands.dropFirst() == [giving, giving])
    }

    @Test("A line begun in a chat that has ended goes neither to one that waits to start nor to one that has started")
    func late() async {
        let node = node()
        let started = started
        _ = await live(node) {
            await terminal.output(until: "> ")
            started.forEach { node.emit($0) }
            await terminal.output(until: "It is chat 2")
            terminal.type("/switch 0\r/invite eve\r")
            await terminal.output(until: "inviting")
            terminal.type("/switch 1\r")
            await terminal.output(until: "What you type goes to chat 1")
            terminal.type("half")
            await terminal.output(until: "half")
            terminal.advance(seconds: 1)
            node.emit(ended(first))
            await terminal.output(until: "What you type goes nowhere now")
            terminal.type("\u{15}secret\r")
            await terminal.output(until: "> secret\r\nYou are in no chat now.")
            terminal.type("/switch 2\r")
            await terminal.output(until: "What you type goes to chat 2")
            terminal.type("late")
            await terminal.output(until: "late")
            terminal.advance(seconds: 1)
            node.emit(ended(second), .inviteDone(chat: nil, answers: [], line: 2))
            await terminal.output(until: "Nobody accepted")
            node.emit(.chatStarted(chat: first, role: .member, host: eve, members: [me]))
            await terminal.output(until: "Chat started with eve")
            terminal.type("r\r")
            await terminal.output(until: "The chat you began that line in is over")
            terminal.send(.ended)
        }
        #expect(!node.commands.contains { $0.hasPrefix("say") })
    }

    @Test(
        "Texts held for an invitation go to no chat that starts unasked, and those for an acceptance only to its host's"
    )
    func heldForOne() async {
        let auto = NodeEvent.chatStarted(chat: second, role: .member, host: eve, members: [me])
        let own = NodeEvent.chatStarted(chat: first, role: .host, host: me, members: [bob])
        let done = NodeEvent.inviteDone(chat: first, answers: [], line: 1)
        let node = ScriptedSession(me: me) { command, line in
            switch command {
            case .say: ([.messageDelivered(chat: self.first, seq: 1, ref: 2, missing: [], line: 2)], .message(ref: 2))
            case .start: ([auto], .done)
            case .cancel: ([own, done], .done)
            default: ([], .done)
            }
        }
        let stage = Stage(home: ScriptedHome(node: node))
        #expect(
            await stage.run(
                "chat", "--max-chats", "3", input: ["/invite bob", "secret", "/start", "/cancel 9", "/chats"]) == 0)
        let said = zip(node.commands, node.chats).filter { $0.0.hasPrefix("say") }
        #expect(said.map(\.1) == [first], "\(node.commands)")
    }

    @Test("Several texts whose chat does not come are all refused, and a /switch behind them is done then")
    func scriptGoesOn() async {
        let never = NodeEvent.inviteDone(chat: nil, answers: [], line: 3)
        let started = started
        let node = ScriptedSession(me: me) { command, line in
            switch command {
            case .start: ([started[1]], .done)
            case .say: ([.messageDelivered(chat: self.second, seq: 1, ref: 7, missing: [], line: 7)], .message(ref: 7))
            default: ([], .done)
            }
        }
        let stage = Stage(home: ScriptedHome(node: node))
        let input = ScriptedInput(
            ["/start", "/switch 0", "/invite ada", "one", "two", "/switch 1", "three"].map { .text($0) })
        let world = stage.world(input: input)
        let run = Task { await execute(["chat", "--json", "--max-chats", "3"], in: world) }
        while node.commands.count < 2 { try? await Task.sleep(for: .milliseconds(5)) }
        node.emit(never)
        _ = await run.value
        #expect(stage.outLines.filter { $0.contains(#""ok":false,"code":"no-chat""#) }.count == 2)
        let said = zip(node.commands, node.chats).filter { $0.0.hasPrefix("say") }
        #expect(said.map(\.0) == ["\(NodeCommand.say("three"))"] && said.map(\.1) == [second])
    }

    @Test("A text is meant for what was wished last, and waits in vain once that cannot come true")
    func wishes() throws {
        var state = ChatState()
        state.begin(.invite(["ada"]), line: 1)
        let ada = state.awaited
        state.join(7, second, .chat)
        #expect(state.awaited == .accepted(second))
        state.join(8, first, .file)
        #expect(state.awaited == .accepted(second), "files are no chat")
        state.begin(.invite(["eve"]), line: 2)
        let eve = state.awaited
        #expect(eve != ada && eve != .accepted(second))
        state.note(.inviteDone(chat: nil, answers: [], line: 1))
        #expect(state.isVain(ada) && !state.isVain(eve) && !state.isVain(.accepted(second)))

        var book = ChatBook()
        book.note(started[1])
        state.note(started[1])
        state.follow(book.current)
        #expect(state.fulfilled == [.accepted(second)] && !state.isVain(eve))
        state.note(.inviteDone(chat: first, answers: [], line: 2))
        state.follow(book.current)
        #expect(state.fulfilled == [.accepted(second)], "what has come of it is another chat")
        state.follow(nil)
        #expect(state.fulfilled.isEmpty && state.isVain(.accepted(second)))
    }

    @Test(
        "After a /switch to a chat that is gone a script says nothing until it is in one; a failed /invite changes nothing"
    )
    func wrongSwitch() async {
        let refused = PeerConnectError(.noSuchPeer, "No peer nobody is visible.")
        let (both, gone) = (started, ended(first))
        let node = ScriptedSession(me: me) { command, line in
            switch command {
            case .start: (both, .done)
            case .cancel: ([gone], .done)
            case .invite: ([], .failed(refused))
            case .say: ([.messageDelivered(chat: self.second, seq: 1, ref: 9, missing: [], line: 9)], .message(ref: 9))
            default: ([], .done)
            }
        }
        let stage = Stage(home: ScriptedHome(node: node))
        let input = [
            "/start", "/switch 5", "one", "/switch 1", "/cancel 1", "/invite nobody", "two", "/switch 2", "three",
        ]
        _ = await stage.run("chat", "--json", "--max-chats", "3", input: input)
        let said = zip(node.commands, node.chats).filter { $0.0.hasPrefix("say") }
        #expect(said.map(\.0) == ["\(NodeCommand.say("three"))"] && said.map(\.1) == [second])
    }

    @Test("Where only one chat may be, the one that starts is the current one, whoever else was looked for")
    func onlyOne() async {
        let node = node(starting: [started[1]])
        let stage = Stage(home: ScriptedHome(node: node))
        _ = await stage.run("chat", "--json", "--invite", "nobody", "--wait", "600", input: ["/start", "hi"]) {
            node.emit(.chatEnded(chat: second, reason: .ended, cause: nil))
        }
        #expect(stage.out.contains(#""number":1,"current":true"#))
        #expect(node.commands.contains { $0.hasPrefix("say") } && node.chats.contains(second))
    }

    @Test("A chat that began for a file is on no list, and nothing that is typed goes there")
    func delivery() async {
        let file = NodeEvent.chatStarted(chat: second, role: .member, host: bob, members: [me], purpose: .file)
        let node = node(starting: [file, ended(second)])
        let stage = Stage(home: ScriptedHome(node: node))
        _ = await stage.run("chat", "--max-chats", "2", input: ["/start", "/chats", "hello"])
        #expect(stage.outLines == ["You are in no chat."])
        #expect(!stage.err.contains("Chat started") && !stage.err.contains("Chat ended"))
        #expect(node.chats == [nil, nil])
    }
}
