import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Events in, the content of the live area out.
@Suite struct LiveBoardTests {
    private let me, ada, bob: Peer
    private let chat: ChatID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        bob = try peer("bob", 2)
        chat = try chatID(3)
    }

    private func area(_ board: LiveBoard, width: Int = 80) -> LiveArea {
        var area = LiveArea(), names = NameBook()
        for peer in [me, ada, bob] { names.note(peer) }
        board.fill(&area, names: names, width: width)
        return area
    }

    private func board(_ events: NodeEvent...) -> LiveBoard {
        var board = LiveBoard(me: me)
        for event in events { board.take(event, at: Instant(nanoseconds: 1)) }
        return board
    }

    private func listed(_ peer: Peer, _ number: Int, isBusy: Bool = false, kind: String = "chat") -> ListedPeer {
        ListedPeer(peer: peer, number: number, isBusy: isBusy, kind: kind, addresses: [])
    }

    private func offer(_ number: Int, from: Peer, to: Peer..., name: String = "photos") throws -> FileOffer {
        FileOffer(
            number: number, chat: chat, transfer: try transferID(UInt8(number)), from: from, to: to,
            isMine: from.id == me.id,
            summary: OfferSummary(name: name, size: 1000, files: 1), line: nil)
    }

    @Test("While idle the peers are listed in place, by number")
    func people() {
        var board = board(
            .discovery(backend: "daemon", state: .published, reason: nil), .peerFound(listed(bob, 2, isBusy: true)),
            .peerFound(listed(ada, 1, kind: "inbox")))
        #expect(area(board).people.map(\.text) == ["Here: 1 ada (takes files)  2 bob (busy)"])
        #expect(area(board).status.text == "you are me, not in a chat  discovery daemon")
        board.take(.peerUpdated(listed(bob, 2)), at: Instant(nanoseconds: 2))
        board.take(.peerLost(listed(ada, 1), reason: "gone"), at: Instant(nanoseconds: 2))
        #expect(area(board).people.map(\.text) == ["Here: 2 bob"])
        board.take(.chatStarted(chat: chat, role: .host, host: me, members: [bob]), at: Instant(nanoseconds: 3))
        #expect(area(board).people.isEmpty && area(board).status.text == "hosting bob, you are me  discovery daemon")
    }

    @Test("Many peers take four rows at most, and an empty list says so")
    func manyPeople() throws {
        var board = LiveBoard(me: me)
        #expect(area(board).status.text == "you are me, nobody else is here yet")
        for number in 1...90 {
            let peer = try peer("peer-\(number)", UInt8(number))
            board.take(.peerFound(listed(peer, number)), at: Instant(nanoseconds: 1))
        }
        let rows = area(board).people.map(\.text)
        #expect(rows.count == 4 && rows[0].hasPrefix("Here: 1 peer-1"))
        #expect(rows[3] == "      and more, /peers lists all")
        board.take(.discovery(backend: "daemon", state: .down, reason: "it died"), at: Instant(nanoseconds: 1))
        #expect(area(board).questions.map(\.text) == ["Discovery does not work at the moment, because it died."])
    }

    @Test("Who the chat is with stands in the status, and follows who joins and leaves")
    func status() {
        var board = board(.chatStarted(chat: chat, role: .member, host: ada, members: [me]))
        #expect(area(board).status.text == "chat with ada (host), you are me")
        board.take(.memberJoined(chat: chat, member: bob), at: Instant(nanoseconds: 1))
        board.take(.memberJoined(chat: chat, member: bob), at: Instant(nanoseconds: 1))
        #expect(area(board).status.text == "chat with ada (host), bob, you are me")
        board.take(.memberLeft(chat: chat, member: bob, reason: .left), at: Instant(nanoseconds: 1))
        #expect(area(board).status.text == "chat with ada (host), you are me")
    }

    @Test("Who has accepted is told what is waited for, and what gives up")
    func joining() {
        var board = LiveBoard(me: me)
        board.setGathering(true, isJoining: false)
        #expect(area(board).status.text == "you are me, inviting, /start begins now, /end gives up")
        board.setGathering(true, isJoining: true)
        let waiting = "you are me, accepted, the chat starts when the others have answered, /leave gives up"
        #expect(area(board).status.text == waiting)
    }

    @Test("Whom an invitation waits for is named where there is room, until they have answered")
    func inviting() {
        var board = board(.peerFound(listed(ada, 1)))
        func status(_ width: Int = 80) -> String { area(board, width: width).status.text }
        func answer(_ target: InviteTarget) {
            let answer = NodeEvent.inviteAnswered(target, answer: .accepted, reason: nil, line: nil)
            board.take(answer, at: Instant(nanoseconds: 2))
        }
        let rest = ", /start begins now, /end gives up"
        board.setGathering(true, isJoining: false)
        board.invite(["1", "Bob", "carl"])
        #expect(status() == "you are me, inviting ada, Bob and carl" + rest)
        #expect(status(60) == "you are me, inviting" + rest)
        answer(InviteTarget(peer: bob, label: "bob"))
        #expect(status() == "you are me, inviting ada and carl" + rest)
        answer(InviteTarget(peer: ada, label: "ada"))
        #expect(status() == "you are me, inviting carl" + rest)
        answer(InviteTarget(peer: bob, label: "bob"))
        #expect(status() == "you are me, inviting" + rest, "what is not certain is not said")
    }

    @Test("An own text waits until it comes back, and is given up with the chat")
    func waiting() {
        var board = board(.chatStarted(chat: chat, role: .host, host: me, members: [bob]))
        board.expect("held", line: 1, isHeld: true)
        board.expect("one", line: 2, isHeld: false)
        #expect(area(board).waiting.map(\.text) == ["waits for the chat: held", "on its way: one"])
        board.take(.reply(line: 2, .message(ref: 7)), at: Instant(nanoseconds: 1))
        #expect(board.waiting.count == 2)
        let message = ChatMessage(chat: chat, seq: 1, from: me, text: "one", sent: 0, ref: 7, line: 2)
        board.take(.message(message), at: Instant(nanoseconds: 1))
        board.expect("held", line: 1, isHeld: false)
        #expect(area(board).waiting.map(\.text) == ["on its way: held"])
        board.take(.reply(line: 1, .failed(PeerConnectError(.noChat, "No."))), at: Instant(nanoseconds: 1))
        #expect(board.waiting.isEmpty)
    }

    @Test("Questions show what to type, in a row of its own where the width does not do", arguments: [80, 40])
    func questions(width: Int) throws {
        let board = board(
            .inviteReceived(number: 1, from: ada, purpose: .chat, offer: nil, known: .new),
            .fileOffered(try offer(2, from: bob, to: me)))
        let rows = area(board, width: width).questions.map(\.text)
        let invitation = "#1 ada (\(ada.id.short), new) invites you to chat", offer = "#2 bob offers “photos”, 1 kB"
        #expect(
            rows
                == (width == 80
                    ? [invitation + "  /accept 1 or /decline 1", offer + "  /accept 2 or /decline 2"]
                    : [
                        String(invitation.dropLast(" chat".count)), "  chat", "   /accept 1 or /decline 1", offer,
                        "   /accept 2 or /decline 2",
                    ]))
        #expect(area(board).transfers.isEmpty)
    }

    @Test("A progress line is as far as its slowest recipient, and marks each of them")
    func progress() throws {
        let offer = try offer(3, from: me, to: ada, bob)
        var board = board(.fileOffered(offer))
        func note(_ event: NodeEvent) -> ProgressLine? {
            board.take(event, at: Instant(nanoseconds: 1))
            return area(board).transfers.first
        }
        func moved(_ peer: Peer, _ bytes: UInt64) -> NodeEvent {
            .fileProgress(FileProgress(transfer: offer.transfer, recipient: peer, bytes: bytes, size: 1000, rate: 10))
        }
        #expect(area(board).transfers.first?.marks == "ada asked, bob asked")
        _ = note(.fileAnswered(transfer: offer.transfer, peer: ada, accepted: true, automatic: false))
        #expect(note(moved(ada, 400))?.marks == "ada 40 %, bob asked")
        let line = note(moved(bob, 100))
        #expect(
            line
                == ProgressLine(
                    label: "#3", name: "photos", done: 100, total: 1000, rate: 10, marks: "ada 40 %, bob 10 %"))
        let done = TransferResult(peer: bob, status: .verified)
        #expect(note(.fileDelivered(transfer: offer.transfer, result: done))?.done == 400)
        #expect(note(moved(bob, 200))?.marks == "ada 40 %, bob done", "what is late does not undo an end")
        #expect(note(.fileDone(transfer: offer.transfer, results: [done], line: nil)) == nil)
    }

    @Test("Where the others have it, who has not answered is named, and nothing says that it is done")
    func waitsForAnAnswer() throws {
        let offer = try offer(3, from: me, to: ada, bob)
        var board = board(.fileOffered(offer))
        func note(_ event: NodeEvent) -> ProgressLine? {
            board.take(event, at: Instant(nanoseconds: 1))
            return area(board).transfers.first
        }
        _ = note(.fileAnswered(transfer: offer.transfer, peer: ada, accepted: true, automatic: false))
        let moved = FileProgress(transfer: offer.transfer, recipient: ada, bytes: 0, size: 1000, rate: 0)
        #expect(note(.fileProgress(moved))?.rate == nil, "none is known yet")
        let done = TransferResult(peer: ada, status: .verified)
        let line = note(.fileDelivered(transfer: offer.transfer, result: done))
        #expect(line?.text(width: 38) == "#3 photos  1.0 kB  waits for bob")
        let answered = note(.fileAnswered(transfer: offer.transfer, peer: bob, accepted: true, automatic: false))
        #expect(answered?.done == 0 && answered?.total == 1000 && answered?.marks == "ada done, bob 0 %")
    }

    @Test("What this peer receives moves from the questions to the progress lines, and goes when it is whole")
    func receiving() throws {
        let offer = try offer(4, from: ada, to: me, bob)
        var board = board(.fileOffered(offer))
        #expect(board.openNumbers == [4])
        board.take(
            .fileAnswered(transfer: offer.transfer, peer: bob, accepted: false, automatic: false),
            at: Instant(nanoseconds: 2))
        #expect(board.openNumbers == [4], "another's answer is not ours")
        board.take(
            .fileAnswered(transfer: offer.transfer, peer: me, accepted: true, automatic: false),
            at: Instant(nanoseconds: 2))
        #expect(board.openNumbers.isEmpty && area(board).transfers.first?.marks == "from ada")
        board.take(
            .fileDelivered(transfer: offer.transfer, result: TransferResult(peer: me, status: .verified)),
            at: Instant(nanoseconds: 2))
        #expect(area(board).transfers.isEmpty)
    }

    @Test("A bare /accept means the only open item, unless one came or went since the line was begun")
    func bare() throws {
        var board = board(.inviteReceived(number: 1, from: ada, purpose: .chat, offer: nil, known: .new))
        let before = Instant(nanoseconds: 0), after = Instant(nanoseconds: 5)
        guard case .accept(.number(1))? = board.certain(.accept(nil), begun: after) else {
            return #expect(Bool(false), "the only one")
        }
        #expect(board.certain(.accept(nil), begun: before) == nil)
        #expect(board.certain(.cancel(nil), begun: after) == nil)
        board.take(
            .inviteReceived(number: 2, from: bob, purpose: .chat, offer: nil, known: .new), at: Instant(nanoseconds: 6))
        #expect(board.certain(.accept(nil), begun: Instant(nanoseconds: 7)) == nil, "two are open")
        board.take(.inviteWithdrawn(number: 1, reason: "withdrawn"), at: Instant(nanoseconds: 8))
        #expect(board.certain(.decline(nil), begun: Instant(nanoseconds: 7)) == nil, "one went")
        #expect(board.certain(.decline(nil), begun: Instant(nanoseconds: 9)) != nil)
    }

    @Test(
        "A mention is the own name as a word, said by another",
        arguments: [
            ("me: look", true), ("look, ME!", true), ("me", true), ("some", false), ("meow", false), ("ask @me", true),
        ])
    func mention(text: String, isOne: Bool) {
        let message = ChatMessage(chat: chat, seq: 1, from: ada, text: text, sent: 0, ref: nil, line: nil)
        #expect(message.mentions(me) == isOne)
        let own = ChatMessage(chat: chat, seq: 1, from: me, text: text, sent: 0, ref: 1, line: 1)
        #expect(!own.mentions(me))
    }
}
