import PeerModel
import Testing

@testable import PeerConnectCLI

/// The chat command off a terminal: lines in, events and answers out.
@Suite(.timeLimit(.minutes(8)))
struct ChatTests {
    private let me, ada: Peer
    private let chat: ChatID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        chat = try chatID(3)
    }

    private func listed() -> NodeSnapshot {
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])]
        return snapshot
    }

    /// Says lines at once when there is a chat, and starts one when asked to.
    private func node(snapshot: NodeSnapshot? = nil, delivers: Bool = true) -> ScriptedSession {
        ScriptedSession(me: me, snapshot: snapshot ?? listed()) { [me, chat] command, line in
            guard case .say(let text) = command else { return ([], .done) }
            let ref = line ?? 0
            let message = ChatMessage(chat: chat, seq: UInt64(ref), from: me, text: text, sent: 0, ref: ref, line: line)
            let delivered = NodeEvent.messageDelivered(chat: chat, seq: UInt64(ref), ref: ref, missing: [], line: line)
            let failed = NodeEvent.messageFailed(chat: chat, ref: ref, reason: "lost", line: line)
            return ([.message(message), delivers ? delivered : failed], .message(ref: ref))
        }
    }

    /// What the node tells when ada has accepted.
    private var started: [NodeEvent] {
        let target = InviteTarget(peer: ada, label: "ada")
        return [
            .inviteAnswered(target, answer: .accepted, reason: nil, line: nil),
            .inviteDone(chat: chat, answers: [(target, .accepted)], line: nil),
            .chatStarted(chat: chat, role: .host, host: me, members: [ada]),
        ]
    }

    @Test("An offer made while inviting waits for the chat too, behind the text before it")
    func offerWaits() async throws {
        let node = node()
        let stage = Stage(home: ScriptedHome(node: node))
        let status = await stage.run("chat", input: ["/invite ada", "hello", "/send f"]) {
            for event in started { node.emit(event) }
        }
        #expect(status == 0)
        #expect(node.commands.map { $0.prefix(6) } == ["invite", "say(\"h", "send(p"])
    }

    @Test("A line for which a chat had no room is lost; one that had no chat was only refused")
    func lostLine() throws {
        let full = Reply.failed(PeerConnectError(.busy, "The chat has taken no more lines for a minute."))
        var state = ChatState()
        state.end(.say("early"), full)
        #expect(!state.hasLostLine)
        state.note(.chatStarted(chat: chat, role: .member, host: ada, members: [me]))
        state.end(.say("hello"), in: chat, full)
        #expect(state.hasLostLine)
    }

    @Test("An own offer is waited for from its reply to its end, whichever comes first")
    func ownOffer() throws {
        let transfer = try transferID(7)
        let offer = FileOffer(
            number: 1, chat: chat, transfer: transfer, from: me, to: [ada], isMine: true,
            summary: OfferSummary(name: "f", size: 1, files: 1), line: 2)
        let done = NodeEvent.fileDone(
            transfer: transfer, results: [TransferResult(peer: ada, status: .verified, reason: nil)], line: 2)
        var state = ChatState()
        state.end(.send(paths: ["f"], to: []), .offered(transfer))
        #expect(!state.isIdle)
        state.note(.fileOffered(offer))
        #expect(!state.isIdle)
        state.note(done)
        #expect(state.isIdle && !state.hasIncompleteTransfer)

        state.note(.fileOffered(offer))
        state.note(done)
        state.end(.send(paths: ["f"], to: []), .offered(transfer))
        #expect(state.isIdle && !state.hasIncompleteTransfer)

        state.end(.send(paths: ["f"], to: []), .offered(transfer))
        state.note(.chatEnded(chat: chat, reason: .ended, cause: nil))
        #expect(state.isIdle && state.hasIncompleteTransfer)
    }

    @Test("A text typed while inviting waits for the chat, and the end of input for its delivery")
    func textWaits() async throws {
        let node = node()
        let stage = Stage(home: ScriptedHome(node: node))
        let status = await stage.run("chat", input: ["/invite ada", "hello"]) {
            for event in started { node.emit(event) }
        }
        #expect(status == 0)
        #expect(stage.out == "me: hello\n")
        #expect(node.commands.map { $0.prefix(6) } == ["invite", "say(\"h"])
        #expect(node.isStopped)
    }

    @Test("Invited from the command line: found, invited, and the lines follow")
    func inviteOption() async throws {
        let node = node()
        let stage = Stage(home: ScriptedHome(node: node))
        let status = await stage.run("chat", "--invite", "ada", input: ["hello"]) {
            for event in started { node.emit(event) }
        }
        #expect(status == 0)
        #expect(stage.out == "me: hello\n")
        #expect(stage.err.hasPrefix("You are me (\(me.id.short)). Received files go to /downloads.\nada accepted.\n"))
    }

    @Test("A line that the terminal has cut is refused, and the next is sent")
    func cutLine() async throws {
        let node = node(), stage = Stage(home: ScriptedHome(node: node))
        let input = ScriptedInput([.text("/invite ada"), .cut, .text("whole")]) {
            for event in started { node.emit(event) }
        }
        #expect(await execute(["chat", "--json"], in: stage.world(input: input)) == 0)
        #expect(stage.out.contains(#""line":2,"ok":false,"code":"too-long","message":"The line was cut: "#))
        #expect(node.commands.map { $0.prefix(6) } == ["invite", "say(\"w"])
    }

    @Test("An undelivered line is 5", arguments: ["hello"])
    func undelivered(text: String) async throws {
        let node = node(delivers: false)
        let stage = Stage(home: ScriptedHome(node: node))
        #expect(await stage.run("chat", input: [text]) == 5)
        #expect(stage.err.contains("Your message was not sent (lost)."))
    }

    @Test(
        "When those invited do not come, the exit code says why, and the text is refused",
        arguments: [(.declined, 4), (.busy, 4), (.timeout, 4), (.unreachable, 3), (.wrongKey, 3)] as [(Answer, Int32)])
    func noChat(answer: Answer, status: Int32) async throws {
        let node = ScriptedSession(me: me, snapshot: listed()) { command, line in
            guard case .say = command else { return ([], .done) }
            return ([], .failed(PeerConnectError(.noChat, "There is no chat.")))
        }
        let stage = Stage(home: ScriptedHome(node: node))
        let target = InviteTarget(peer: ada, label: "ada")
        let code = await stage.run("chat", "--invite", "ada", "--json", input: ["hello"]) {
            node.emit(
                .inviteAnswered(target, answer: answer, reason: nil, line: nil),
                .inviteDone(chat: nil, answers: [(target, answer)], line: nil))
        }
        #expect(code == status)
        #expect(stage.outLines.filter { $0.contains(#""event":"reply""#) }.count == 1)
        #expect(stage.out.contains(#""line":1,"ok":false,"code":"no-chat""#))
        #expect(stage.outLines.last?.hasSuffix(#""code":\#(status)}"#) == true)
    }

    @Test("A peer that is not there within the wait is named, and the exit code is 3")
    func missingInvitee() async throws {
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: me)))
        #expect(await stage.run("chat", "--invite", "nobody", "--wait", "1") == 3)
        #expect(stage.err.contains("There is no peer called nobody."))
        #expect(stage.home.node.commands.isEmpty)
    }

    @Test("Each line has exactly one reply, in order, empty and wrong ones too")
    func replies() async throws {
        let node = node()
        let stage = Stage(home: ScriptedHome(node: node))
        let lines = [
            "", "hi", "/frobnicate", "/peers", "/who", "/start", "{\"text\":\"a\\nb\"}", "/transfers", "/help quit",
        ]
        #expect(await stage.run("chat", "--json", input: lines) == 0)
        let replies = stage.outLines.filter { $0.contains(#""event":"reply""#) }
        #expect(replies.count == lines.count)
        for (index, reply) in replies.enumerated() { #expect(reply.contains(#""line":\#(index + 1),"#)) }
        #expect(replies[1].hasSuffix(#""line":2,"ok":true,"ref":2}"#))
        #expect(replies[2].contains(#""code":"unknown-command""#))
        #expect(replies[3].contains(#""peers":[{"peer":{"id":"\#(ada.id)","name":"ada"},"number":1,"state":"idle""#))
        #expect(replies[4].contains(#""code":"no-chat""#))
        #expect(replies[7].hasSuffix(#""transfers":[]}"#))
        #expect(replies[8].contains(#""help":[{"command":"/quit""#))
        #expect(stage.out.contains(#""text":"a\nb""#))
        #expect(stage.outLines.first?.contains(#""event":"ready""#) == true)
        #expect(stage.outLines.last?.contains(#""event":"exit""#) == true)
        let own = try #require(stage.outLines.firstIndex { $0.contains(#""event":"message","#) })
        let answer = try #require(stage.outLines.firstIndex { $0.contains(#""line":2,"ok":true"#) })
        #expect(own < answer)
    }

    @Test("A bad line is refused with its code and the next is read")
    func badLines() async throws {
        let stage = Stage(home: ScriptedHome(node: node()))
        let world = stage.world(input: ScriptedInput([.notUTF8, .tooLong, .text("/who")]))
        #expect(await execute(["chat", "--json"], in: world) == 0)
        let replies = stage.outLines.filter { $0.contains(#""event":"reply""#) }
        #expect(replies.count == 3)
        #expect(replies[0].contains(#""code":"not-utf8""#))
        #expect(replies[1].contains(#""code":"too-long""#))
    }

    @Test("The end of input waits for own transfers")
    func transfers() async throws {
        let transfer = TransferID(try digest(5))
        let offer = FileOffer(
            number: 2, chat: chat, transfer: transfer, from: me, to: [ada], isMine: true,
            summary: OfferSummary(name: "f", size: 1, files: 1), line: 1)
        for (status, code) in [(TransferStatus.verified, Int32(0)), (.declined, 5)] {
            let node = ScriptedSession(me: me) { _, _ in ([.fileOffered(offer)], .offered(transfer)) }
            let stage = Stage(home: ScriptedHome(node: node))
            let result = TransferResult(peer: ada, status: status)
            let exit = await stage.run("chat", input: ["/send f"]) {
                node.emit(.fileDone(transfer: transfer, results: [result], line: 1))
            }
            #expect(exit == code)
            #expect(
                stage.err.contains(
                    "You offer ada “f”, 1 byte, #2.\nFinished #2, “f”, 1 byte. \(status == .verified ? "ada has it." : "ada declined.")\n"
                ))
        }
    }

    @Test("Quit leaves at once off a terminal, and refuses what still waited for a chat")
    func quit() async throws {
        let node = ScriptedSession(me: me, snapshot: listed())
        let stage = Stage(home: ScriptedHome(node: node))
        #expect(await stage.run("chat", "--json", input: ["/invite ada", "hello", "/quit", "never read"]) == 0)
        let replies = stage.outLines.filter { $0.contains(#""event":"reply""#) }
        #expect(replies.count == 3)
        #expect(replies[1].contains(#""line":2,"ok":false,"code":"no-chat""#))
        #expect(replies[2].contains(#""line":3,"ok":true"#))
    }

    @Test("At a terminal quitting a chat is confirmed, and accepting without a number reads out what is open")
    func terminal() async throws {
        var snapshot = listed()
        snapshot.chats = [(chat, .host, me, [ada])]
        snapshot.invitations = [(4, ada, .chat, nil, .known)]
        let node = node(snapshot: snapshot)
        let stage = Stage(
            home: ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)]))
        #expect(await stage.run("chat", input: ["/accept", "/quit", "hi", "/quit", "/quit"], isTerminal: true) == 0)
        #expect(
            stage.out.hasPrefix("ada (\(ada.id.short), known) invites you to chat, #4. Type /accept 4 or /decline 4.\n")
        )
        #expect(stage.out.contains("Nothing was accepted, because plain lines need a number, as in /accept 4.\n"))
        let warning = "Quitting ends the chat for 1 member. Type /quit or Ctrl-D again to do it.\n"
        #expect(stage.err.components(of: warning) == 2)
        #expect(node.commands == ["say(\"hi\")"])
    }

    @Test("A cancelled run still stops the node, and tells its last events")
    func interrupted() async throws {
        let node = node()
        let stage = Stage(home: ScriptedHome(node: node))
        let world = stage.world(input: ScriptedInput([]), isTerminal: false)
        let endless = EndlessInput()
        var waiting = world
        waiting.input = endless
        let task = Task { [waiting] in await execute(["chat", "--json"], in: waiting) { 130 } }
        await endless.isAsked()
        task.cancel()
        #expect(await task.value == 130)
        #expect(node.isStopped)
        #expect(
            stage.outLines.last?.hasSuffix(#""event":"exit","time":"2026-11-30T00:53:20.123Z","code":130}"#) == true)
    }
}

/// Never has a line; says when one was asked for.
final class EndlessInput: LineSource {
    private let asked: AsyncStream<Void>
    private let ask: AsyncStream<Void>.Continuation

    init() { (asked, ask) = AsyncStream.makeStream(of: Void.self) }

    func isAsked() async {
        for await _ in asked { return }
    }

    func next() async -> InputLine? {
        ask.yield()
        try? await Task.sleep(for: .seconds(3600))
        return nil
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int {
        indices.count { self[$0...].hasPrefix(text) }
    }
}
