internal import PeerConnect
internal import PeerModel

/// What a command needs of a node; the tests put a scripted one in its place.
protocol NodeSession: Sendable {
    /// In the order they happened; for one consumer, and over after `stop()`.
    var events: AsyncStream<NodeEvent> { get }
    /// Who this run is.
    var me: Peer { get }

    func start() async throws(PeerConnectError) -> SessionStart
    /// With a line, `.reply` with that line comes in `events`, after the events the command caused at once.
    ///
    /// What is done in a chat is done in this one; without a name in the only one there is.
    func perform(_ command: NodeCommand, in chat: ChatID?, line: Int?) async -> Reply
    /// Takes whom the user knows, trusts and blocks from now on.
    func know(_ acquaintances: Acquaintances) async
    /// Goes by another name from now on; the stored identity is the home's business.
    func rename(to name: DisplayName) async throws(PeerConnectError)
    /// What this run may look up and change; nothing when it keeps nothing.
    var records: Records { get }
    /// Returns when what was told so far is in the records.
    func settleRecords() async
    /// What could not be stored, once it has stopped.
    var unstored: PeerConnectError? { get }
    func snapshot() async -> NodeSnapshot
    /// The peer meant, `nil` for an address.
    func resolve(_ reference: PeerReference) async throws(PeerConnectError) -> PeerID?
    /// Serves one recipient in a chat of its own, where one answer covers invitation and offer.
    func offer(
        _ paths: [String], to reference: PeerReference, answerWithin: Duration, stallAfter: Duration
    ) async -> OfferOutcome
    /// Tells members and says goodbye; takes 2 s at most.
    func stop() async
    /// The same, and what there is to write down is written, even when the rest takes longer than this.
    func stop(within limit: Duration) async
}

extension NodeSession {
    /// The same where no chat need be named.
    func perform(_ command: NodeCommand, line: Int?) async -> Reply { await perform(command, in: nil, line: line) }
    func know(_ acquaintances: Acquaintances) async {}
    var records: Records { .none }
    func settleRecords() async {}
    var unstored: PeerConnectError? { nil }
    func stop(within limit: Duration) async { await stop() }
}

/// What a node says once it runs.
struct SessionStart: Sendable {
    /// `nil` when it does not listen.
    let port: UInt16?
    /// The back end of discovery.
    let discovery: String
}

/// How an offer to one peer went.
enum OfferOutcome: Sendable {
    /// It never came to an offer: no such peer, not reachable, a path that cannot be read.
    case failed(PeerConnectError)
    /// Answered, but not accepted.
    case refused(Peer, Answer)
    /// Given up here, by a signal.
    case cancelled
    case finished(TransferResult)
}
