import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// What of the events is printed at the live terminal, and in which ink.
struct LiveSentencesTests {
    private let me, ada: Peer
    private let chat: ChatID
    private let transfer: TransferID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        chat = try chatID(3)
        transfer = try transferID(7)
    }

    private func inks(_ event: NodeEvent, after earlier: [NodeEvent] = []) -> [Ink] {
        var narrator = PlainNarrator(me: me)
        for event in earlier { _ = narrator.tell(event, now: 0) }
        let told = narrator.tell(event, now: 0)
        return LiveSentences(me: me).lines(event, told: told, names: narrator.names).flatMap { $0.pieces.map(\.ink) }
    }

    private func message(_ from: Peer, _ text: String, isEarlier: Bool = false) -> NodeEvent {
        .message(
            ChatMessage(
                chat: chat, seq: 1, from: from, text: text, sent: 0, isEarlier: isEarlier, ref: nil, line: nil))
    }

    @Test("The ink says what kind of line it is")
    func table() {
        let offer = FileOffer(
            number: 1, chat: chat, transfer: transfer, from: ada, to: [me], isMine: false,
            summary: OfferSummary(name: "f", size: 1, files: 1), line: nil)
        let received = ReceivedFiles(
            transfer: transfer, from: ada, paths: ["/d/f"], size: 1, mended: [], skipped: [])
        let error = PeerConnectError(.noChat, "There is no chat.", hint: "Begin one.")
        let cases: [(NodeEvent, [Ink])] = [
            (message(ada, "hello"), [.peer(ada.id), .plain]), (message(me, "hello"), [.own, .plain]),
            (message(ada, "me: look"), [.peer(ada.id), .question]),
            (message(ada, "hello", isEarlier: true), [.peer(ada.id), .quiet]),
            (.warning(code: .otherKey, peer: ada, message: "Another key."), [.bad]),
            (.failure(error), [.warning]), (.reply(line: 1, .failed(error)), [.warning]),
            (.messageFailed(chat: chat, ref: 1, reason: "the chat ended", line: 1), [.warning]),
            (.fileReceived(received), [.good]), (.fileOffered(offer), [.quiet]),
            (.memberJoined(chat: chat, member: ada), [.quiet]), (.reply(line: 1, .done), []),
        ]
        for (event, expected) in cases { #expect(inks(event) == expected, "\(event)") }
    }

    @Test("What the live area shows is not printed as well")
    func quiet() {
        let listed = ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])
        for event: NodeEvent in [
            .discovery(backend: "daemon", state: .up, reason: nil), .peerFound(listed), .peerUpdated(listed),
            .peerLost(listed, reason: "goodbye"),
            .inviteReceived(number: 1, from: ada, purpose: .chat, offer: nil, known: .new),
            .inviteWithdrawn(number: 1, reason: "withdrawn"),
            .fileDelivered(transfer: transfer, result: TransferResult(peer: ada, status: .verified, reason: nil)),
        ] { #expect(inks(event).isEmpty, "\(event)") }
    }

    @Test("In plain lines a new name is told, and that someone is free again to who was refused as busy")
    func updates() {
        var narrator = PlainNarrator(me: me)
        func told(_ name: String, isBusy: Bool, _ isLost: Bool = false) -> [String] {
            let listed = ListedPeer(
                peer: Peer(id: ada.id, name: name), number: 4, isBusy: isBusy, kind: "chat", addresses: [])
            return narrator.tell(isLost ? .peerLost(listed, reason: "goodbye") : .peerUpdated(listed), now: 0).notes
        }
        #expect(told("ada", isBusy: false) == [])
        #expect(told("ada", isBusy: true) == [] && told("ada", isBusy: false) == [])
        #expect(told("bea", isBusy: true) == ["ada is called bea (\(ada.id.short)) now (number 4)."])
        #expect(told("bea", isBusy: false) == [])
        _ = told("bea", isBusy: true)
        _ = narrator.tell(
            .inviteAnswered(
                InviteTarget(peer: Peer(id: ada.id, name: "bea"), label: "bea"), answer: .busy, reason: nil, line: 1),
            now: 0)
        #expect(told("bea", isBusy: false) == ["bea is idle now; /invite 4 asks again."])
        #expect(told("bea", isBusy: true) == [] && told("bea", isBusy: false) == [])
        _ = told("bea", isBusy: false, true)
        #expect(told("cleo", isBusy: false) == [])
    }
}
