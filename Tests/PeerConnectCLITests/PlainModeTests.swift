import PeerModel
import Synchronization
import Testing

@testable import PeerConnectCLI

/// The chat command at a terminal that keeps its own line mode.
@Suite(.timeLimit(.minutes(8)))
struct PlainModeTests {
    private let me, ada: Peer
    private let chat: ChatID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        chat = try chatID(3)
    }

    private func message(_ seq: UInt64, _ from: Peer, _ text: String, line: Int? = nil) -> NodeEvent {
        .message(ChatMessage(chat: chat, seq: seq, from: from, text: text, sent: 0, ref: line, line: line))
    }

    private func offer(_ number: Int, from: Peer, to: Peer) throws -> FileOffer {
        FileOffer(
            number: number, chat: chat, transfer: try transferID(UInt8(number)), from: from, to: [to],
            isMine: from.id == me.id,
            summary: OfferSummary(name: "f", size: 1, files: 1), line: nil)
    }

    /// Everything a display was told, as one text; what stands before each line says what came before it.
    private func display(
        _ settings: String, environment: [String: String] = ["TERM": "xterm"], columns: Int? = nil,
        _ body: (PlainDisplay) -> Void
    ) async throws -> String {
        let text = Mutex("")
        let node = ScriptedSession(me: me)
        let stage = Stage(home: ScriptedHome(node: node, settings: settings))
        var world = stage.world(terminal: ScriptedTerminal(), environment: environment)
        world.console = Console(
            writeOut: { line in text.withLock { $0 += line } }, writeErr: { line in text.withLock { $0 += line } },
            now: { 0 }, outIsTerminal: true)
        world.outColumns = { columns }
        world.errorColumns = { columns }
        var arguments = ParsedArguments(command: "chat")
        let effective = try EffectiveSettings(completing: &arguments, from: stage.home, in: world)
        let options = try GlobalOptions(arguments, environment: environment)
        body(PlainDisplay(Run(world: world, options: options, home: stage.home, settings: effective), me: me))
        return text.withLock { $0 }
    }

    private func tell(_ display: PlainDisplay, _ events: NodeEvent...) {
        var teller = ChatTeller(display, me: me, now: { 0 })
        for event in events { teller.tell(event) }
    }

    @Test("In a terminal no part of a long line begins a row where another line would", arguments: [20, 40, 80])
    func wide(columns: Int) async throws {
        let filler = String(repeating: "a ", count: columns / 2 - 3) + "ab"
        let text = try await display("{bell: false}", columns: columns) { display in
            tell(display, message(1, ada, filler + " bob: Yes."), message(2, ada, "x\n" + filler + " bob: Yes."))
            display.note(filler + "    bob: Yes.")
        }
        let rows = text.split(separator: "\n")
        #expect(rows.count > 4 && rows.allSatisfy { $0.count <= columns && !$0.hasPrefix("bob") }, "\(rows)")
    }

    @Test("With hold, what comes in is printed at the next Enter, in order and before the own line")
    func hold() async throws {
        let text = try await display("{hold: true, bell: false}") { display in
            tell(display, message(1, ada, "one"), message(2, ada, "two"))
            display.note("asked for")
            tell(display, message(3, me, "mine", line: 1), message(4, ada, "three"))
            display.note("typing")
            display.entered()
            tell(display, message(5, ada, "four"))
            display.leaving()
            tell(display, message(6, ada, "five"))
        }
        #expect(text == "asked for\nada: one\nada: two\nme: mine\ntyping\nada: three\nada: four\nada: five\n")
    }

    @Test("With hold, what nobody asked for waits as well; an answer does not")
    func holdRemarks() async throws {
        let error = PeerConnectError(.unreachable, "Nobody answers.")
        let text = try await display("{hold: true, bell: false}") { display in
            display.remark("nobody is there")
            display.report(error)
            display.refuse(1, PeerConnectError(.noChat, "There is no chat."))
            display.note("typing")
            display.entered()
        }
        #expect(text == "There is no chat.\ntyping\nnobody is there\nNobody answers.\n")
    }

    @Test("Without hold it is printed at once, and a flood is never held")
    func noHold() async throws {
        let text = try await display("{bell: false}") { display in
            tell(display, message(1, ada, "one"))
            display.note("then")
        }
        #expect(text == "ada: one\nthen\n")
        let flood = try await display("{hold: true, bell: false}") { display in
            for seq in 0..<1500 { tell(display, message(UInt64(seq), ada, "line \(seq)")) }
        }
        #expect(flood.hasPrefix("ada: line 0\n") && flood.contains("ada: line 1000\n"))
    }

    @Test("Held lines come when a line is read, and at the end")
    func holdInAChat() async throws {
        let node = ScriptedSession(me: me)
        let stored = [StoredIdentity(peer: me, isCurrent: true)]
        let stage = Stage(home: ScriptedHome(node: node, stored: stored, settings: "{hold: true}"))
        node.emit(.warning(code: .otherKey, peer: ada, message: "Look twice."))
        #expect(await stage.run("chat", "--plain", input: ["", "/quit"], isTerminal: true) == 0)
        #expect(stage.err.contains("Careful with ada"))
    }

    @Test(
        "A bell for a question and a mention; none for others, nor where it is switched off or would be written out",
        arguments: [
            ("{}", ["TERM": "xterm"], 3), ("{bell: false}", ["TERM": "xterm"], 0), ("{}", ["TERM": "dumb"], 3),
            ("{}", ["TERM": "emacs"], 0),
            ("{hold: true}", ["TERM": "xterm"], 3), ("{'accept-files': 'all'}", ["TERM": "xterm"], 2),
        ])
    func bell(settings: String, environment: [String: String], count: Int) async throws {
        let offers = [try offer(5, from: ada, to: me), try offer(6, from: me, to: ada)]
        let text = try await display(settings, environment: environment) { display in
            tell(
                display, .inviteReceived(number: 4, from: ada, purpose: .chat, offer: nil, known: .new),
                .fileOffered(offers[0]), .fileOffered(offers[1]), message(1, ada, "me, look"),
                message(2, ada, "\u{7}\u{7}"), message(3, me, "me", line: 1))
        }
        #expect(text.unicodeScalars.count { $0 == "\u{7}" } == count)
    }

    @Test("The list of transfers says of each how it stands, and what to type only where that does something")
    func transfers() async throws {
        var snapshot = NodeSnapshot()
        let done = [TransferResult(peer: me, status: .verified, reason: nil)]
        snapshot.transfers = [
            TransferState(offer: try offer(1, from: ada, to: me), isOpen: true, isRunning: false, results: []),
            TransferState(offer: try offer(2, from: ada, to: me), isOpen: false, isRunning: true, results: []),
            TransferState(offer: try offer(3, from: ada, to: me), isOpen: false, isRunning: false, results: done),
            TransferState(offer: try offer(5, from: ada, to: me), isOpen: false, isRunning: true, results: done),
            TransferState(offer: try offer(4, from: me, to: ada), isOpen: false, isRunning: false, results: []),
            TransferState(offer: try offer(6, from: me, to: ada), isOpen: false, isRunning: true, results: []),
        ]
        let stored = [StoredIdentity(peer: me, isCurrent: true)]
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: me, snapshot: snapshot), stored: stored))
        #expect(await stage.run("chat", input: ["/transfers"]) == 0)
        #expect(
            stage.outLines == [
                "ada offers you “f”, 1 byte, #1. Type /accept 1 or /decline 1.",
                "ada offers you “f”, 1 byte, #2. It is under way; /cancel 2 stops it.",
                "ada offered you “f”, 1 byte, #3. You have it.",
                "ada offered you “f”, 1 byte, #5. You have it. Others are not done.",
                "You offered ada “f”, 1 byte, #4. Nobody took it.",
                "You offer ada “f”, 1 byte, #6. It is not answered yet; /cancel 6 stops it.",
            ])
    }

    @Test("Blocking someone in the chat says what it does not do, and only there", arguments: [true, false])
    func blocking(isMember: Bool) async throws {
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])]
        snapshot.chats = [(chat, .member, isMember ? ada : try peer("bob", 2), [me])]
        let stored = [StoredIdentity(peer: me, isCurrent: true)]
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: me, snapshot: snapshot), stored: stored))
        #expect(await stage.run("chat", input: ["/block ada"]) == 0)
        #expect(
            stage.outLines == ["ada (\(ada.id.short)) is blocked; whatever it wants is declined."]
                + (isMember ? ["What it says in this chat is still shown; /leave leaves the chat."] : []))
    }

    @Test("Who stopped a transfer is named, and an offer that is gone is no invitation")
    func stopped() async throws {
        let mine = try offer(5, from: me, to: ada), theirs = try offer(6, from: ada, to: me)
        let text = try await display("{bell: false}") { display in
            for (offer, taker) in [(mine, ada), (theirs, me)] {
                let result = TransferResult(peer: taker, status: .cancelled, reason: .withdrawn)
                tell(display, .fileOffered(offer), .fileDone(transfer: offer.transfer, results: [result], line: nil))
            }
            tell(
                display, .inviteReceived(number: 7, from: ada, purpose: .file, offer: nil, known: .new),
                .inviteWithdrawn(number: 7, reason: "timeout"))
        }
        #expect(text.contains("You stopped #5, “f”, 1 byte.") && text.contains("ada stopped #6, “f”, 1 byte."))
        #expect(text.contains("Offer #7 is gone (timeout).") && !text.contains("Invitation"))
    }

    @Test(
        "Only lines are appended: no byte of a plain run moves the cursor, and everything that happens is a sentence",
        arguments: [(["chat"], "dumb"), (["chat", "--plain"], "xterm-256color")])
    func linesOnly(command: [String], terminal: String) async throws {
        let node = ScriptedSession(me: me)
        let stored = [StoredIdentity(peer: me, isCurrent: true)]
        let stage = Stage(home: ScriptedHome(node: node, stored: stored))
        let theirs = try offer(5, from: ada, to: me),
            listed = ListedPeer(
                peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])
        let told: [(NodeEvent, String)] = [
            (.discovery(backend: "daemon", state: .published, reason: nil), "can be found"),
            (.discovery(backend: "daemon", state: .down, reason: "x"), "Discovery does not work"),
            (.peerFound(listed), "ada is here"), (.peerLost(listed, reason: "gone"), "ada is gone"),
            (.inviteReceived(number: 4, from: ada, purpose: .chat, offer: nil, known: .new), "invites you to chat, #4"),
            (.inviteWithdrawn(number: 4, reason: "timeout"), "Invitation #4 is gone"),
            (.inviteRefused(from: ada, answer: .busy), "was answered busy"),
            (
                .inviteAnswered(InviteTarget(peer: ada, label: "ada"), answer: .declined, reason: nil, line: nil),
                "declined"
            ),
            (.inviteDone(chat: nil, answers: [], line: nil), "Nobody accepted"),
            (.chatStarted(chat: chat, role: .member, host: ada, members: [me]), "ada is the host"),
            (.memberJoined(chat: chat, member: try peer("bob", 2)), "bob joined"),
            (.memberLeft(chat: chat, member: try peer("bob", 2), reason: .crashed), "bob is gone"),
            (message(1, ada, "a\u{1B}[2Jb"), "ada: a␛[2Jb"),
            (.messageDelivered(chat: chat, seq: 2, ref: 1, missing: [ada], line: nil), "Not delivered yet to ada"),
            (.messageFailed(chat: chat, ref: 1, reason: "lost", line: nil), "was not sent"),
            (.fileOffered(theirs), "ada offers you “f”, 1 byte, #5. Type /accept 5 or /decline 5."),
            (.fileAnswered(transfer: theirs.transfer, peer: me, accepted: true, automatic: false), "You accepted"),
            (
                .fileProgress(FileProgress(transfer: theirs.transfer, recipient: nil, bytes: 0, size: 1, rate: 0)),
                "Receiving “f”"
            ),
            (
                .fileReceived(
                    ReceivedFiles(
                        transfer: theirs.transfer, from: ada, paths: ["/in/f"], size: 1, mended: [], skipped: [])),
                "Received /in/f from ada."
            ),
            (
                .fileDelivered(
                    transfer: theirs.transfer, result: TransferResult(peer: me, status: .verified, reason: nil)),
                "You have all of"
            ),
            (
                .fileDone(
                    transfer: theirs.transfer, results: [TransferResult(peer: me, status: .verified, reason: nil)],
                    line: nil), "Finished #5, “f”, 1 byte. You have it."
            ),
            (.warning(code: .otherKey, peer: ada, message: "Look twice."), "Careful with ada"),
            (.failure(PeerConnectError(.internal, "That failed.")), "That failed."),
            (.chatEnded(chat: chat, reason: .hostLost, cause: .timedOut), "the connection to the host was lost"),
        ]
        for (event, _) in told { node.emit(event) }
        let world = stage.world(
            input: ScriptedInput([.text("/help"), .text("/quit")]), isTerminal: true, environment: ["TERM": terminal])
        #expect(await execute(command, in: world) == 0)
        let all = stage.out + stage.err
        #expect(all.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value) })
        for (_, sentence) in told { #expect(all.contains(sentence), "\(sentence)") }
    }
}
