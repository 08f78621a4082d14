internal import PeerModel

/// What the chat command must know to say when a line may be sent and when everything has finished; pure.
struct ChatState {
    /// Whether the peers of `--invite` are still being looked for.
    var isLookingForInvitees = false
    /// An acceptance waits for its chat.
    private(set) var isJoining = false
    /// There is a chat that what is typed goes to.
    var isInChat = false
    /// Whether any chat came about in this run.
    private(set) var hadChat = false
    private(set) var openRounds = 0
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
    /// The numbers of the invitations that wait for an answer.
    private var invitations: Set<Int> = []
    /// When the list of peers changed last, or began.
    var listedAt = Instant(nanoseconds: 0)

    /// A text typed now waits for the chat that is about to come.
    var holdsTexts: Bool {
        !isInChat && (isLookingForInvitees || openRounds > 0 || isJoining)
    }

    /// Nothing of our own is on its way.
    var isIdle: Bool {
        !isLookingForInvitees && openRounds == 0 && !isJoining && unsent.isEmpty && ownTransfers.isEmpty
    }

    /// Everything of our own has arrived.
    var isWhole: Bool { undelivered.isEmpty && !hasIncompleteTransfer && !hasLostLine }

    /// A command is about to be given to the node.
    mutating func begin(_ command: NodeCommand) {
        if case .invite = command { openRounds += 1 }
    }

    /// The node's answer to that command, which was for this chat.
    mutating func end(_ command: NodeCommand, in chat: ChatID? = nil, _ reply: Reply) {
        switch (command, reply) {
        case (.invite, .failed): openRounds = max(0, openRounds - 1)
        // The chat was there, and it was not said all the same.
        case (.say, .failed) where isInChat: hasLostLine = true
        case (.accept(.number(let number)), .done) where invitations.contains(number): isJoining = true
        case (.accept, .done): isJoining = !isInChat
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
        case .inviteDone: openRounds = max(0, openRounds - 1)
        case .inviteReceived(let number, _, _, _, _): invitations.insert(number)
        case .inviteWithdrawn(let number, _):
            isJoining = false
            invitations.remove(number)
        case .chatStarted: (isInChat, hadChat, isJoining) = (true, true, false)
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
        isInChat = false
        undelivered.formUnion(unsent.filter { $0.value ?? chat == chat }.keys)
        unsent = unsent.filter { $0.value ?? chat != chat }
        if ownTransfers.values.contains(where: { $0 ?? chat == chat }) { hasIncompleteTransfer = true }
        ownTransfers = ownTransfers.filter { $0.value ?? chat != chat }
        ownOffers = ownOffers.filter { $0.value != chat }
        endedEarly = endedEarly.filter { $0.value != chat }
    }

    /// A line that reaches a missing member later counts as delivered then.
    private mutating func settle(_ ref: Int, isWhole: Bool) {
        if unsent.removeValue(forKey: ref) == nil, !undelivered.contains(ref) { settledEarly.insert(ref) }
        if isWhole { undelivered.remove(ref) } else { undelivered.insert(ref) }
    }
}
