internal import PeerModel

/// What the chat command must know to say when a line may be sent and when everything has finished; pure.
struct ChatState {
    /// Whether the peers of `--invite` are still being looked for.
    var isLookingForInvitees = false
    /// The acceptances that wait for their chats, by number, and whose chats these are.
    private var joining: [Int: PeerID] = [:]
    /// There is a chat that what is typed goes to.
    var isInChat = false
    /// Whether any chat came about in this run.
    private(set) var hadChat = false
    /// Own invitations without an end, by the line that asked for them, and whether a new chat is to come of them.
    private var rounds: [(line: Int?, isNew: Bool)] = []
    /// The current chat is one that was accepted, of this host; else it is an own one or came of an own invitation.
    private(set) var acceptedFrom: PeerID?
    /// The current chat has ended beside others.
    var isAdrift = false
    /// Own lines that nobody has acknowledged yet, by the number of their reply, and their chats.
    private(set) var unsent: [Int: ChatID?] = [:]
    /// Own lines that some member has missed, or all have.
    private(set) var undelivered: Set<Int> = []
    /// Own transfers that are offered, or about to be, and not done, and their chats.
    private(set) var ownTransfers: [TransferID: ChatID?] = [:]
    /// Those that the chat has been told of.
    private var ownOffers: [TransferID: ChatID] = [:]
    private(set) var hasIncompleteTransfer = false
    /// Whether a line could not be said, as there was no room for it.
    private(set) var hasLostLine = false
    /// Those that came before the reply that gave their number.
    private var settledEarly: Set<Int> = []
    private var endedEarly: [TransferID: ChatID] = [:]
    /// When the list of peers changed last, or began.
    var listedAt = Instant(nanoseconds: 0)

    /// An acceptance waits for its chat.
    var isJoining: Bool { !joining.isEmpty }

    /// A chat is about to come, or may be.
    var isGathering: Bool { isLookingForInvitees || isJoining || rounds.contains { $0.isNew } }

    /// A text typed now waits for the chat that is about to come.
    var holdsTexts: Bool { !isInChat && !isAdrift && isGathering }

    /// Whose chat such a text is meant for: that of the last acceptance, or of an own invitation.
    var awaitedHost: PeerID? { joining.max { $0.key < $1.key }?.value }

    /// Nothing of our own is on its way.
    var isIdle: Bool { !isGathering && rounds.isEmpty && unsent.isEmpty && ownTransfers.isEmpty }

    /// Whether a chat that starts is one that was asked for, or no other is waited for.
    func isAsked(_ role: ChatRole, host: Peer) -> Bool {
        role == .host || !isGathering || joining.values.contains(host.id)
    }

    /// Everything of our own has arrived.
    var isWhole: Bool { undelivered.isEmpty && !hasIncompleteTransfer && !hasLostLine }

    /// A command is about to be given to the node, by the user's line or without one; `isHost` of the current chat.
    mutating func begin(_ command: NodeCommand, line: Int? = nil, isHost: Bool = false) {
        if case .invite = command { rounds.append((line, !isHost)) }
    }

    private mutating func endRound(_ line: Int?) {
        guard let index = rounds.firstIndex(where: { $0.line == line }) ?? rounds.indices.first else { return }
        rounds.remove(at: index)
    }

    /// The node's answer to that command, which was for this chat.
    mutating func end(_ command: NodeCommand, in chat: ChatID? = nil, line: Int? = nil, _ reply: Reply) {
        switch (command, reply) {
        case (.invite, .failed): endRound(line)
        // The chat was there, and it was not said all the same.
        case (.say, .failed) where chat != nil: hasLostLine = true
        case (_, .joining(let number, let host)): joining[number] = host.id
        case (_, .message(let ref)):
            if settledEarly.remove(ref) == nil { unsent[ref] = .some(chat) }
        case (_, .offered(let transfer)):
            // A member hears of its own offer only when the host has ordered it; it may be done by now, too.
            if endedEarly.removeValue(forKey: transfer) == nil { ownTransfers[transfer] = .some(chat) }
        default: break
        }
    }

    mutating func note(_ event: NodeEvent, at now: Instant) {
        switch event {
        case .peerFound, .peerUpdated, .peerLost: listedAt = now
        default: note(event)
        }
    }

    mutating func note(_ event: NodeEvent) {
        switch event {
        case .inviteDone(_, _, let line): endRound(line)
        case .inviteWithdrawn(let number, _): joining[number] = nil
        case .chatStarted(_, let role, let host, _, let purpose):
            if purpose != .file { hadChat = true }
            guard role == .member, joining.values.contains(host.id) else { return acceptedFrom = nil }
            acceptedFrom = host.id
            joining = joining.filter { $0.value != host.id }
        case .chatEnded(let chat, _, _): chatEnded(chat)
        case .messageDelivered(_, _, let ref, let missing, _): settle(ref, isWhole: missing.isEmpty)
        case .messageFailed(_, let ref, _, _): settle(ref, isWhole: false)
        case .fileOffered(let offer) where offer.isMine: ownOffers[offer.transfer] = offer.chat
        case .fileDone(let transfer, let results, _):
            guard let chat = ownOffers.removeValue(forKey: transfer) else { return }
            if ownTransfers.removeValue(forKey: transfer) == nil { endedEarly[transfer] = chat }
            if results.contains(where: { $0.status != .verified }) { hasIncompleteTransfer = true }
        default: break
        }
    }

    /// What did not come back before the end will not come.
    private mutating func chatEnded(_ chat: ChatID) {
        // What was said before the chat was known here was said in the only one.
        func isOther(_ own: ChatID?) -> Bool { own != nil && own != chat }
        undelivered.formUnion(unsent.filter { !isOther($0.value) }.keys)
        unsent = unsent.filter { isOther($0.value) }
        if ownTransfers.values.contains(where: { !isOther($0) }) { hasIncompleteTransfer = true }
        ownTransfers = ownTransfers.filter { isOther($0.value) }
        ownOffers = ownOffers.filter { $0.value != chat }
        endedEarly = endedEarly.filter { $0.value != chat }
    }

    /// A line that reaches a missing member later counts as delivered then.
    private mutating func settle(_ ref: Int, isWhole: Bool) {
        if unsent.removeValue(forKey: ref) == nil, !undelivered.contains(ref) { settledEarly.insert(ref) }
        if isWhole { undelivered.remove(ref) } else { undelivered.insert(ref) }
    }
}
