internal import PeerModel
internal import PeerWire

/// An own invitation to one or more peers: who was asked and what each answered.
struct InvitationRound: Sendable {
    /// One invited peer on its way from being dialled to its answer.
    struct Invitee: Sendable {
        enum State: Sendable {
            case dialling(DialID)
            case asked(ConnectionID)
            /// Accepted, and waiting on this connection for the chat to start.
            case accepted(SignedBytes, ConnectionID)
            case answered(Answer, String?)
        }

        let label: String
        /// Of the command that named it.
        let line: Int?
        /// When it is too late to answer.
        let deadline: Instant
        var peer: Peer?
        /// For a peer asked for by its ID before its name is known.
        var id: PeerID?
        var state: State

        /// Who it is, once that is known.
        var known: PeerID? { peer?.id ?? id }

        var target: InviteTarget { InviteTarget(peer: peer, label: label) }

        var answer: Answer? {
            switch state {
            case .dialling, .asked: nil
            case .accepted: .accepted
            case .answered(let answer, _): answer
            }
        }

        /// Whether it may still come of this round; one that was let in, or has refused, may be invited anew.
        var isOpen: Bool { if case .answered = state { false } else { true } }

        var connection: ConnectionID? {
            switch state {
            case .asked(let connection), .accepted(_, let connection): connection
            case .dialling, .answered: nil
            }
        }
    }

    let chat: ChatID
    /// Sent with every invitation and signed by who accepts, so that no acceptance of an earlier one counts for it.
    let nonce: [UInt8]
    let purpose: Purpose
    /// What is sent as soon as the chat starts, when the purpose is a file.
    let offer: OfferBody?
    /// Of the commands that invited: one after the other may add to a round.
    var lines: [Int?]
    /// How long a recipient of the files may do nothing.
    let patience: Double?
    /// When the chat starts with those who have accepted by then; `nil` once that has passed: then each starts it.
    var startBy: Instant?
    var invitees: [Invitee]

    var isComplete: Bool { invitees.allSatisfy { $0.answer != nil } }

    func index(of connection: ConnectionID) -> Int? { invitees.firstIndex { $0.connection == connection } }

    func index(of dial: DialID) -> Int? {
        invitees.firstIndex { if case .dialling(dial) = $0.state { true } else { false } }
    }

    /// Whether this peer was asked and has not answered yet.
    func isWaiting(for id: PeerID) -> Bool { invitees.contains { $0.known == id && $0.answer == nil } }

    var isDiallingUnknown: Bool {
        invitees.contains { invitee in
            if case .dialling = invitee.state { invitee.known == nil } else { false }
        }
    }

    var accepted: [(signed: SignedBytes, connection: ConnectionID)] {
        invitees.compactMap {
            if case .accepted(let signed, let connection) = $0.state { (signed, connection) } else { nil }
        }
    }

    /// What is told when it is over, for each command whose invitees these are.
    func done(in chat: ChatID?) -> [Effect] {
        lines.map { line in
            let answers = invitees.filter { $0.line == line }.map { ($0.target, $0.answer ?? .timeout) }
            return .emit(.inviteDone(chat: chat, answers: answers, line: line))
        }
    }

    /// When something is due: an answer, or the start.
    var deadline: Instant? {
        (invitees.filter { $0.answer == nil }.map(\.deadline) + [startBy].compactMap { $0 }).min()
    }

    /// Takes the invitation back from everyone who has not answered, or with `all` from those who accepted too.
    mutating func withdraw(_ reason: WithdrawReason, all: Bool) -> [Effect] {
        invitees.indices.filter { all ? invitees[$0].isOpen : invitees[$0].answer == nil }.flatMap { index in
            takeBack(index, reason) + settle(index, .timeout)
        }
    }

    /// Takes it back from those who have had their time.
    mutating func expire(at now: Instant) -> [Effect] {
        if let start = startBy, now >= start { startBy = nil }
        let due = invitees.indices.filter { invitees[$0].answer == nil && now >= invitees[$0].deadline }
        return due.flatMap { takeBack($0, .timeout) + settle($0, .timeout) }
    }

    /// Takes it back from everyone without a word to the user: the chat that takes this one's place decides how it ends.
    func giveWay() -> [Effect] { invitees.indices.flatMap { takeBack($0, .crossed) } }

    /// How it ends for those who were open when it gave way: in the other chat or not.
    mutating func settle(present: Set<PeerID>) -> [Effect] {
        invitees.indices.filter { invitees[$0].isOpen }.flatMap { index -> [Effect] in
            let isPresent = invitees[index].known.map(present.contains) ?? false
            return settle(index, isPresent ? .accepted : .timeout)
        }
    }

    private func takeBack(_ index: Int, _ reason: WithdrawReason) -> [Effect] {
        switch invitees[index].state {
        case .dialling(let dial): [.abandon(dial)]
        case .asked(let connection), .accepted(_, let connection):
            [.send(connection, .withdraw(chat: chat, reason: reason)), .close(connection)]
        case .answered: []
        }
    }

    private mutating func settle(_ index: Int, _ answer: Answer) -> [Effect] {
        let isNews = invitees[index].answer != answer
        invitees[index].state = .answered(answer, nil)
        guard isNews else { return [] }
        let event = NodeEvent.inviteAnswered(
            invitees[index].target, answer: answer, reason: nil, line: invitees[index].line)
        return [.emit(event)]
    }
}

/// Someone else's invitation that waits for an answer here.
struct Question: Sendable {
    let number: Int
    let from: RemotePeer
    let connection: ConnectionID
    let invite: Invite
    let deadline: Instant
}

/// An invitation that was accepted here and whose chat has not started yet.
struct Joining: Sendable {
    /// The question's, or 0 when nobody was asked.
    let number: Int
    let from: RemotePeer
    let connection: ConnectionID
    let invite: Invite
    /// The bytes that were signed for it.
    let join: [UInt8]
    let deadline: Instant
}
