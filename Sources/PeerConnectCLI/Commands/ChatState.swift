internal import PeerModel

/// What a text that waits for a chat is meant for.
enum Wish: Hashable, Sendable {
    /// What is to come of an own invitation: that of `--invite` is 0, the others are counted.
    case own(Int)
    case accepted(ChatID)
}

/// What the chat command must know to say when a line may be sent and when everything has finished; pure.
struct ChatState {
    /// Whether the peers of `--invite` are still being looked for.
    var isLookingForInvitees = false
    /// The acceptances that wait for their chats, by number.
    private var joining: [Int: (chat: ChatID, purpose: Purpose)] = [:]
    /// The chats that the user said yes to.
    private var accepted: Set<ChatID> = []
    private var lastOwn = 0
    private var lastWish = Wish.own(0)
    /// What the current chat came of.
    private(set) var fulfilled: Set<Wish> = []
    /// The last invitation that led to a chat.
    private var done: (chat: ChatID, wish: Wish)?
    /// There is a chat that what is typed goes to.
    private(set) var isInChat = false
    /// Whether any chat came about in this run.
    private(set) var hadChat = false
    /// Own invitations without an end, by the line that asked for them, and whether a new chat is to come of them.
    private var rounds: [(line: Int?, isNew: Bool, wish: Wish)] = []
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
    var isGathering: Bool {
        isLookingForInvitees || rounds.contains { $0.isNew } || joining.values.contains { $0.purpose != .file }
    }

    /// A text typed now waits for the chat that is about to come.
    var holdsTexts: Bool { !isInChat && !isAdrift && isGathering }

    /// What such a text is meant for: what was wished last, of what is still open.
    var awaited: Wish { open.contains(lastWish) ? lastWish : open.first ?? lastWish }

    /// The wishes that may still come true.
    private var open: [Wish] {
        (isLookingForInvitees ? [.own(0)] : []) + ownWishes
            + joining.sorted { $0.key > $1.key }.filter { $0.value.purpose != .file }.map { .accepted($0.value.chat) }
    }

    private var ownWishes: [Wish] { rounds.filter(\.isNew).map(\.wish) }

    /// Whether a text that was meant for this waits in vain.
    func isVain(_ wish: Wish) -> Bool {
        !fulfilled.contains(wish) && !open.contains(wish) && done?.wish != wish
    }

    /// Nothing of our own is on its way.
    var isIdle: Bool { !isGathering && !isJoining && rounds.isEmpty && unsent.isEmpty && ownTransfers.isEmpty }

    /// Whether a chat that starts is one that was asked for, or no other is waited for.
    func isAsked(_ chat: ChatID, _ role: ChatRole) -> Bool {
        role == .host || !isGathering || accepted.contains(chat)
    }

    /// The user has accepted an invitation.
    mutating func join(_ number: Int, _ chat: ChatID, _ purpose: Purpose) {
        joining[number] = (chat, purpose)
        accepted.insert(chat)
        if purpose != .file { lastWish = .accepted(chat) }
    }

    /// What was typed is not said anywhere.
    mutating func lose() { hasLostLine = true }

    /// Everything of our own has arrived.
    var isWhole: Bool { undelivered.isEmpty && !hasIncompleteTransfer && !hasLostLine }

    /// A command is about to be given to the node, by the user's line or without one; `isHost` of the current chat.
    mutating func begin(_ command: NodeCommand, line: Int? = nil, isHost: Bool = false) {
        guard case .invite = command else { return }
        var wish = Wish.own(0)
        if line != nil {
            lastOwn += 1
            wish = .own(lastOwn)
            if !isHost { lastWish = wish }
        }
        rounds.append((line, !isHost, wish))
    }

    /// Gives what was wished with it.
    @discardableResult
    private mutating func endRound(_ line: Int?) -> Wish? {
        // What no line asked for ends whatever there is.
        let index = rounds.firstIndex { $0.line == line } ?? (line == nil ? rounds.indices.first : nil)
        return index.map { rounds.remove(at: $0).wish }
    }

    /// This chat is the current one from now on, or none is.
    mutating func follow(_ chat: ChatBook.Chat?) {
        isInChat = chat != nil
        guard let chat else { return fulfilled = [] }
        if accepted.contains(chat.id) { fulfilled = [.accepted(chat.id)] }
        // It came of what was invited to, be it here or by the other side's invitation, which won.
        if !accepted.contains(chat.id), fulfilled.isEmpty { fulfilled = Set(ownWishes) }
        if let done, done.chat == chat.id { fulfilled.insert(done.wish) }
    }

    /// The node's answer to that command, which was for this chat.
    mutating func end(_ command: NodeCommand, in chat: ChatID? = nil, line: Int? = nil, _ reply: Reply) {
        switch (command, reply) {
        case (.invite, .failed): endRound(line)
        // The chat was there, and it was not said all the same.
        case (.say, .failed) where chat != nil: hasLostLine = true
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
        case .inviteDone(let chat, _, let line):
            if let wish = endRound(line), let chat { done = (chat, wish) }
        case .inviteWithdrawn(let number, _):
            if let gone = joining.removeValue(forKey: number) { accepted.remove(gone.chat) }
        case .chatStarted(let chat, _, _, _, let purpose):
            if purpose != .file { hadChat = true }
            joining = joining.filter { $0.value.chat != chat }
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
        accepted.remove(chat)
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
