package import PeerModel
package import PeerWire

/// The states of the whole program: which invitations and chats this peer is in, and what every event does to them.
///
///     idle ──invite──▶ inviting ──all answered──▶ hosting ──end / last one left──▶ idle
///     idle ──accept──▶ joining ──welcome──▶ member ──leave / end / host lost──▶ idle
///
/// No sockets, clocks or tasks: each method takes what happened and leaves what to do in `takeEffects()`. Nothing another
/// peer sends may trap in here.
package struct NodeMachine: Sendable {
    /// What this peer is in one chat, from its first invitation to its end.
    enum Slot: Sendable {
        case inviting(InvitationRound)
        case joining(Joining)
        /// While a chat runs its host may invite more.
        case hosting(HostChat, InvitationRound?)
        case member(MemberChat)

        /// Not for bringing a file, which nothing is said to.
        var isForTalk: Bool {
            switch self {
            case .inviting(let round): round.purpose != .file
            case .joining(let joining): joining.invite.purpose != .file
            case .hosting(let chat, _): chat.purpose != .file
            case .member(let chat): chat.invite.purpose != .file
            }
        }

        func uses(_ connection: ConnectionID) -> Bool {
            switch self {
            case .inviting(let round): round.index(of: connection) != nil
            case .joining(let joining): joining.connection == connection
            case .hosting(let chat, let round):
                round?.index(of: connection) != nil || chat.connections.values.contains(connection)
            case .member(let chat): chat.connection == connection
            }
        }
    }

    private(set) var me: LocalPeer
    let environment: Environment
    package var settings: Policy
    var slots: [ChatID: Slot] = [:]
    /// The chats this peer is in, in the order they began: the slots that are hosting or member, for talk and not for files.
    package private(set) var chats: [ChatID] = []
    var questions: [Question] = []
    /// Invitations of larger peers that were invited too: unanswered until the own invitation to them is.
    var held: [Question] = []
    /// Whom this peer invited before it gave way to another invitation: theirs is accepted unasked until then.
    var crossed: [PeerID: Instant] = [:]
    /// Own rounds that gave way to another's chat, which has not started yet: they are told of with it.
    var yielded: [(to: ChatID, round: InvitationRound)] = []
    /// Until when the one that an inviter gave way to may still invite this peer.
    var settleAt: Instant?
    /// Whose refusal was told, and until when it is not told again.
    var refused: [PeerID: Instant] = [:]
    var peers: [ConnectionID: RemotePeer] = [:]
    var numbers = ItemNumbers()
    private var lastRef = 0
    private var lastDial: UInt64 = 0
    var effects: [Effect] = []

    package init(me: LocalPeer, settings: Policy, environment: Environment) {
        self.me = me
        self.settings = settings
        self.environment = environment
    }

    /// Takes another name, under the same key.
    ///
    /// Not while somebody is told the present one: in a chat, inviting, invited, or waiting for a chat to begin.
    package mutating func rename(to name: String) -> Reply {
        guard slots.isEmpty else {
            return .failed(
                PeerConnectError(
                    .busy, "Your name stays as it is during a chat.", hint: "Change it when the chat is over."))
        }
        // An acceptance is signed with the name that the inviter was greeted with.
        guard questions.isEmpty, held.isEmpty else {
            return .failed(
                PeerConnectError(
                    .busy, "Who invites you knows you by your present name.", hint: "Answer the invitation first."))
        }
        me = LocalPeer(peer: Peer(id: me.peer.id, name: name), key: me.key)
        return .done
    }

    /// What to do, in order; asked after every call.
    package mutating func takeEffects() -> [Effect] {
        settleStranded()
        defer { effects = [] }
        return effects.flatMap { effect in
            guard case .emit(let event) = effect else { return [effect] }
            return [effect] + namesakeWarnings(after: event)
        }
    }

    /// Whether an invitation would be answered `busy`; what the advert says.
    package var isBusy: Bool { settings.doNotDisturb || slots.count >= settings.maximumChats }

    package var isIdle: Bool { slots.isEmpty && questions.isEmpty }

    mutating func nextDial() -> DialID {
        lastDial += 1
        return DialID(lastDial)
    }

    mutating func nextRef() -> Int {
        lastRef += 1
        return lastRef
    }

    func newChatID() -> ChatID {
        while true {
            if let id = ChatID(bytes: environment.random(ChatID.size)), slots[id] == nil { return id }
        }
    }

    // MARK: Connections

    /// Whether something depends on a connection: a question, an invitation or a chat.
    package func hasUse(for connection: ConnectionID) -> Bool {
        (questions + held).contains { $0.connection == connection }
            || slots.values.contains { $0.uses(connection) }
    }

    /// A connection this peer was dialled on; invitations may come on it.
    package mutating func opened(_ connection: ConnectionID, _ remote: RemotePeer) { peers[connection] = remote }

    /// Takes a frame of an open connection; ping and hello are not for here.
    package mutating func receive(_ message: ControlMessage, on connection: ConnectionID, at moment: Moment) {
        guard let remote = peers[connection] else { return }
        switch message {
        case .invite(let invite): received(invite, from: remote, on: connection, at: moment)
        case .answer(let answer): received(answer, from: remote, on: connection, at: moment)
        case .withdraw(let chat, let reason): withdrawn(chat, reason, on: connection, at: moment)
        case .welcome(let welcome): received(welcome, on: connection, at: moment)
        default: receiveInChat(message, from: remote, on: connection, at: moment)
        }
    }

    /// A connection is gone; `isSilent` when it timed out instead of being closed.
    package mutating func closed(_ connection: ConnectionID, isSilent: Bool, at moment: Moment) {
        guard let remote = peers.removeValue(forKey: connection) else { return }
        dropQuestion(on: connection)
        for (id, slot) in slots {
            switch slot {
            case .inviting(let round), .hosting(_, let round?):
                if let index = round.index(of: connection) {
                    settle(id, index, .unreachable, "the connection broke", at: moment)
                }
            default: break
            }
            switch slots[id] {
            case .joining(let joining) where joining.connection == connection:
                leaveJoining(id, joining, reason: isSilent ? "timeout" : "withdrawn", at: moment)
            case .hosting where hostConnection(of: remote.peer.id, in: id) == connection:
                let reason: DepartureReason = isSilent ? .timedOut : .crashed
                withHost(id) { $0.remove(remote.peer.id, reason, at: moment, numbers: &$1) }
            case .member(let chat) where chat.connection == connection:
                withMember(id) { chat, _ in chat.ended(.hostLost, cause: isSilent ? .timedOut : .crashed) }
            default: break
            }
        }
        reconsiderHeld(at: moment)
    }

    // MARK: Chats

    /// From here on this peer is in a chat, until its slot says that it is over.
    mutating func begin(_ slot: Slot, in id: ChatID) {
        slots[id] = slot
        if slot.isForTalk { chats.append(id) }
    }

    private mutating func leaveSlot(_ id: ChatID) {
        slots[id] = nil
        chats.removeAll { $0 == id }
    }

    private func hostConnection(of peer: PeerID, in chat: ChatID) -> ConnectionID? {
        guard case .hosting(let host, _) = slots[chat] else { return nil }
        return host.connections[peer]
    }

    /// Changes a hosted chat in its slot; a chat that is over leaves the slot.
    mutating func withHost(_ id: ChatID, _ body: (inout HostChat, inout ItemNumbers) -> [Effect]) {
        guard case .hosting(var chat, let round) = slots[id] else { return }
        slots[id] = nil  // the only owner changes it in place
        effects += body(&chat, &numbers)
        if chat.isFulfilled { effects += chat.end() }
        if chat.isOver, var round {
            effects += round.withdraw(.withdrawn, all: true)
            effects += round.done(in: nil)
        }
        if chat.isOver { leaveSlot(id) } else { slots[id] = .hosting(chat, round) }
    }

    /// Changes a chat this peer is a member of; a chat that is over leaves the slot.
    mutating func withMember(_ id: ChatID, _ body: (inout MemberChat, inout ItemNumbers) -> [Effect]) {
        guard case .member(var chat) = slots[id] else { return }
        slots[id] = nil
        effects += body(&chat, &numbers)
        if chat.isOver { leaveSlot(id) } else { slots[id] = .member(chat) }
    }

    // MARK: Time

    package var deadline: Instant? {
        var all = (questions + held).map(\.deadline) + [settleAt].compactMap { $0 }
        for slot in slots.values {
            switch slot {
            case .inviting(let round): all += [round.deadline].compactMap { $0 }
            case .joining(let joining): all.append(joining.deadline)
            case .hosting(let chat, let round): all += [chat.deadline, round?.deadline].compactMap { $0 }
            case .member(let chat): all += [chat.deadline].compactMap { $0 }
            }
        }
        return all.min()
    }

    package mutating func timerFired(at moment: Moment) {
        for question in questions + held where moment.now >= question.deadline {
            answer(question, .timeout, at: moment)
            guard question.number != 0 else { continue }
            effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "timeout")))
        }
        crossed = crossed.filter { $0.value > moment.now }
        if let due = settleAt, moment.now >= due { settleAt = nil }
        for (id, slot) in slots {
            switch slot {
            case .inviting(let round), .hosting(_, let round?):
                if let due = round.deadline, moment.now >= due { expire(id, at: moment) }
            case .joining(let joining) where moment.now >= joining.deadline:
                effects.append(.close(joining.connection))
                leaveJoining(id, joining, reason: "timeout", at: moment)
            default: break
            }
            withHost(id) { $0.timerFired(at: moment, numbers: &$1) }
            withMember(id) { chat, _ in chat.timerFired(at: moment) }
        }
    }
}

/// The rules of this run that its user may change.
package struct Policy: Sendable {
    package var maximumPeers = Limits.peersByDefault
    package var maximumChats = 1
    package var invitations = NodeSettings.Acceptance.ask
    package var files = NodeSettings.Acceptance.ask
    package var maximumFileSize: UInt64?
    package var doNotDisturb = false
    package var acquaintances = Acquaintances()

    package init() {}

    /// What to do with an offer of this size from this peer, unasked; `nil` to ask.
    func decision(on size: UInt64?, from peer: PeerID) -> Bool? {
        if let maximumFileSize, let size, size > maximumFileSize { return false }
        return decision(files, peer)
    }

    func decision(_ acceptance: NodeSettings.Acceptance, _ peer: PeerID) -> Bool? {
        guard !acquaintances.isBlocked(peer) else { return false }
        return switch acceptance {
        case .trusted: acquaintances.isTrusted(peer) ? true : nil
        case .ask: nil
        case .all: true
        case .none: false
        case .from(let peers): peers.contains(peer)
        }
    }
}
