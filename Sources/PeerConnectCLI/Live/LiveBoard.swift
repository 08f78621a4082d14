internal import PeerModel
internal import PeerTerminal

/// What is true at the moment, as the events tell it: who is here, the chat, what is open and what moves; pure.
struct LiveBoard: Sendable {
    struct Question: Sendable {
        let number: Int
        let from: Peer
        let purpose: Purpose
        let offer: OfferSummary?
        let known: Standing
    }

    /// An own text that the host has not ordered yet.
    struct Waiting: Sendable {
        let line: Int
        let text: String
        /// There is no chat yet that it could go to.
        let isHeld: Bool
        /// The one it goes to, once its turn has come.
        let chat: ChatID?
    }

    var me: Peer
    /// By number.
    private(set) var peers: [ListedPeer] = []
    var book = ChatBook()
    private(set) var invitations: [Question] = []
    /// Oldest first.
    private(set) var transfers: [LiveTransfer] = []
    private(set) var waiting: [Waiting] = []
    private(set) var discovery: (backend: String, state: DiscoveryState, reason: String?)?
    /// When a question or a transfer came or went.
    private(set) var changed: Instant?
    /// Whether a chat is about to come of what this peer asked for.
    private(set) var isGathering = false
    /// Whom it waits for, as they were typed; none where that is not certain.
    private(set) var awaited: [String] = []
    /// Whether that chat is another's, who was answered with yes.
    private(set) var isJoining = false
    /// Every invitation is refused.
    var refusesAll = false
    /// What Ctrl-C would end, until it is too late for the second one.
    var notice: (text: String, until: Instant)?

    init(me: Peer) { self.me = me }

    /// The members of the current chat but for this peer, the host first.
    var others: [Peer] { book.current.map { $0.everyone.filter { $0.id != me.id } } ?? [] }

    /// The numbers that wait for an answer of this peer.
    var openNumbers: [Int] { invitations.map(\.number) + transfers.filter(\.isOpen).map(\.offer.number) }

    /// What a command without a number means: the only open item, if none came or went since the line was begun.
    func certain(_ command: NodeCommand, begun: Instant) -> NodeCommand? {
        if let changed, changed >= begun { return nil }
        switch command {
        case .accept(nil): return only(openNumbers).map { .accept(.number($0)) }
        case .decline(nil): return only(openNumbers).map { .decline(.number($0)) }
        case .cancel(nil):
            return only(transfers.filter { !$0.isOpen }.map(\.offer.number)).map { .cancel(.number($0)) }
        default: return nil
        }
    }

    private func only(_ numbers: [Int]) -> Int? { numbers.count == 1 ? numbers[0] : nil }

    // MARK: Changes

    mutating func expect(_ text: String, line: Int, in chat: ChatID? = nil, isHeld: Bool) {
        drop(line)
        waiting.append(Waiting(line: line, text: text, isHeld: isHeld, chat: chat))
    }

    /// The text has come back, or never will.
    mutating func drop(_ line: Int) { waiting.removeAll { $0.line == line } }

    mutating func invite(_ wanted: [PeerReference]) { awaited += wanted.map(\.text) }

    mutating func setGathering(_ isGathering: Bool, isJoining: Bool) {
        (self.isGathering, self.isJoining) = (isGathering, isJoining)
        if !isGathering { awaited = [] }
    }

    /// Takes one who has answered off the list, or everyone where it cannot be told who that is.
    private mutating func noteAnswer(of target: InviteTarget) {
        let number = peers.first { $0.peer.id == target.peer?.id }?.number
        let words = [target.label, target.peer?.name, number.map { "\($0)" }].compactMap { $0?.lowercased() }
        if let index = awaited.firstIndex(where: { words.contains($0.lowercased()) }) {
            awaited.remove(at: index)
        } else {
            awaited = []
        }
    }

    mutating func note(_ event: NodeEvent, at now: Instant) {
        switch event {
        case .inviteAnswered(let target, _, _, _): noteAnswer(of: target)
        case .discovery(let backend, let state, let reason): discovery = (backend, state, reason)
        case .peerFound(let peer), .peerUpdated(let peer): list(peer)
        case .peerLost(let peer, _): peers.removeAll { $0.number == peer.number }
        case .inviteReceived(let number, let from, let purpose, let offer, let known):
            invitations.append(Question(number: number, from: from, purpose: purpose, offer: offer, known: known))
            changed = now
        case .inviteWithdrawn(let number, _):
            invitations.removeAll { $0.number == number }
            changed = now
        case .chatEnded(let chat, _, _): end(chat, at: now)
        case .message(let message): if let line = message.line { drop(line) }
        case .messageFailed(_, _, _, let line): if let line { drop(line) }
        case .reply(_, .message): break  // it comes back at its place
        case .reply(let line, let reply):
            if case .failed = reply { awaited = [] }
            drop(line)
        case .fileOffered, .fileAnswered, .fileProgress, .fileDelivered, .fileDone: noteFile(event, at: now)
        default: break
        }
    }

    private mutating func list(_ peer: ListedPeer) {
        let place = peers.firstIndex { $0.number >= peer.number } ?? peers.count
        let isListed = place < peers.count && peers[place].number == peer.number
        peers.replaceSubrange(place..<(isListed ? place + 1 : place), with: [peer])
    }

    private mutating func end(_ chat: ChatID, at now: Instant) {
        if transfers.contains(where: { $0.offer.chat == chat }) { changed = now }
        transfers.removeAll { $0.offer.chat == chat }
        waiting.removeAll { $0.chat == chat }
    }

    private mutating func noteFile(_ event: NodeEvent, at now: Instant) {
        switch event {
        case .fileOffered(let offer):
            let isForMe = offer.to.contains { $0.id == me.id }
            guard offer.isMine || isForMe else { return }
            transfers.append(LiveTransfer(offer: offer, isOpen: !offer.isMine))
            changed = now
        case .fileAnswered(let transfer, let peer, let accepted, _):
            change(transfer, peer, accepted ? .accepted : .ended(.declined), at: now)
        case .fileProgress(let progress):
            change(progress.transfer, progress.recipient ?? me, .moving(progress), at: now)
        case .fileDelivered(let transfer, let result): change(transfer, result.peer, .ended(result.status), at: now)
        case .fileDone(let transfer, _, _): remove(transfer, at: now)
        default: break
        }
    }

    private mutating func change(
        _ transfer: TransferID, _ peer: Peer, _ progress: LiveTransfer.Progress, at now: Instant
    ) {
        guard let index = transfers.firstIndex(where: { $0.offer.transfer == transfer }),
            transfers[index].offer.isMine || peer.id == me.id
        else { return }
        if transfers[index].isOpen, peer.id == me.id {
            transfers[index].isOpen = false
            changed = now
        }
        // What is reported late does not undo an end.
        if case .ended? = transfers[index].progress[peer.id], case .moving = progress { return }
        transfers[index].progress[peer.id] = progress
        if case .moving(let moved) = progress, moved.rate > 0 { transfers[index].hasRate = true }
        // For this peer a received transfer is over, whatever the others still do.
        if !transfers[index].offer.isMine, case .ended = progress {
            remove(transfer, at: now)
        }
    }

    private mutating func remove(_ transfer: TransferID, at now: Instant) {
        guard let index = transfers.firstIndex(where: { $0.offer.transfer == transfer }) else { return }
        transfers.remove(at: index)
        changed = now
    }

    /// Drops the questions that were answered; the node knows which are left.
    mutating func settle(_ snapshot: NodeSnapshot, at now: Instant) -> [Question] {
        let left = Set(snapshot.invitations.map(\.number))
        let settled = invitations.filter { !left.contains($0.number) }
        invitations.removeAll { !left.contains($0.number) }
        if !settled.isEmpty { changed = now }
        return settled
    }
}
