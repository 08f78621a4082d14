internal import PeerConnect
internal import PeerModel

/// A node on the network, with the lock on its identity while it is visible.
struct LiveSession: NodeSession {
    private let node: Node
    private let lock: (any Sendable)?

    init(_ identity: Identity, _ settings: NodeSettings) throws(PeerConnectError) {
        // Only who listens and advertises keeps others from doing so.
        lock = settings.isVisible ? try identity.lock() : nil
        node = try Node(identity: identity, settings: settings)
    }

    var events: AsyncStream<NodeEvent> { node.events }
    var me: Peer { node.me }

    func start() async throws(PeerConnectError) -> SessionStart {
        let ready = try await node.start()
        return SessionStart(port: ready.port, discovery: ready.discovery)
    }

    func perform(_ command: NodeCommand, in chat: ChatID?, line: Int?) async -> Reply {
        await node.perform(command, in: chat, line: line)
    }

    func know(_ acquaintances: Acquaintances) async { await node.know(acquaintances) }

    func rename(to name: DisplayName) async throws(PeerConnectError) { try await node.rename(to: name) }

    func snapshot() async -> NodeSnapshot { await node.snapshot() }

    func resolve(_ reference: PeerReference) async throws(PeerConnectError) -> PeerID? {
        try await node.resolve(reference)
    }

    func offer(
        _ paths: [String], to reference: PeerReference, answerWithin: Duration, stallAfter: Duration
    ) async -> OfferOutcome {
        switch await node.offer(paths, to: reference, answerWithin: answerWithin, stallAfter: stallAfter) {
        case .failed(let error): .failed(error)
        case .refused(let peer, let answer): .refused(peer, answer)
        case .finished(let result): .finished(result)
        }
    }

    func stop() async { await node.stop() }
}
