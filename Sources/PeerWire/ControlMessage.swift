package import PeerModel

/// One frame of a control connection, read and checked: sizes, ranges and known words, not who may send it when.
package enum ControlMessage: Equatable, Sendable {
    case hello(Hello)
    case refuse(min: Int, max: Int)
    case ping
    case pong
    case open(Open)
    case invite(Invite)
    case answer(InviteAnswer)
    case withdraw(chat: ChatID, reason: WithdrawReason)
    case welcome(Welcome)
    /// A `Statement` to be ordered.
    case say(SignedBytes)
    /// The exact bytes of a `ChatEvent`, for they are hashed; n is from 1.
    case event(n: UInt64, bytes: [UInt8])
    case seen(n: UInt64)
    case delivered(n: UInt64, missing: [PeerID])
    /// The reason is text for a person, 255 bytes at most.
    case rejected(counter: UInt64, reason: String)
    case leave
    /// Only `ended` and `kicked` can be sent.
    case end(reason: ChatEndReason)
    case respond(transfer: TransferID, accept: Bool, automatic: Bool)
    case get(Get)
    /// The peer is there when the host tells the sender whose progress it is.
    case progress(transfer: TransferID, peer: PeerID?, bytes: UInt64)
    case result(transfer: TransferID, status: TransferStatus, reason: TransferReason?)
    case cancel(transfer: TransferID)
    case failed(transfer: TransferID, reason: TransferReason)
    /// A kind this build does not know: skipped, so that newer peers may add kinds.
    case unknown(kind: UInt8)

    /// The frame's kind.
    package var kind: UInt8 {
        switch self {
        case .hello: Kind.hello.rawValue
        case .refuse: Kind.refuse.rawValue
        case .ping: Kind.ping.rawValue
        case .pong: Kind.pong.rawValue
        case .open: Kind.open.rawValue
        case .invite: Kind.invite.rawValue
        case .answer: Kind.answer.rawValue
        case .withdraw: Kind.withdraw.rawValue
        case .welcome: Kind.welcome.rawValue
        case .say: Kind.say.rawValue
        case .event: Kind.event.rawValue
        case .seen: Kind.seen.rawValue
        case .delivered: Kind.delivered.rawValue
        case .rejected: Kind.rejected.rawValue
        case .leave: Kind.leave.rawValue
        case .end: Kind.end.rawValue
        case .respond: Kind.respond.rawValue
        case .get: Kind.get.rawValue
        case .progress: Kind.progress.rawValue
        case .result: Kind.result.rawValue
        case .cancel: Kind.cancel.rawValue
        case .failed: Kind.failed.rawValue
        case .unknown(let kind): kind
        }
    }

    /// The numbers of `WIRE.md`, "Control frames".
    enum Kind: UInt8, CaseIterable {
        case hello = 1, refuse, ping, pong, open
        case invite = 16, answer, withdraw, welcome
        case say = 32, event, seen, delivered, rejected, leave, end
        case respond = 48, get, progress, result, cancel, failed
    }
}
