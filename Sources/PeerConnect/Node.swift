internal import PeerLink
@_exported public import PeerModel
internal import Synchronization

/// A running peer: visible on the network, able to invite, to be invited, to talk and to send files.
///
/// In the spirit of a session with its advertiser and browser in one: start it, follow `events`, ask with `perform`.
///
///     let identity = try Identity.reusable(displayName: name, in: folders)
///     let settings = NodeSettings(downloads: folders.downloads, spools: folders.cache + "/spools")
///     let node = try Node(identity: identity, settings: settings)
///     let ready = try await node.start()
///     for await event in node.events { … }
///
/// Every call may come from any task.
public final class Node: Sendable {
    /// What a node says once it runs.
    public struct Ready: Sendable {
        /// The port it listens on; `nil` when it does not listen.
        public let port: UInt16?
        /// How peers are found: `daemon` or `embedded`; `off` when it is switched off or no back end works yet.
        ///
        /// Events tell what becomes of it.
        public let discovery: String
    }

    /// How an offer to one peer went.
    public enum OfferOutcome: Sendable {
        /// It never came to an offer: no such peer, not reachable, a path that cannot be read.
        case failed(PeerConnectError)
        /// Answered, but not accepted.
        case refused(Peer, Answer)
        case finished(TransferResult)
    }

    /// Who this run is.
    public var me: Peer { own.withLock { $0 } }
    /// In the order they happened; for one consumer, and over after `stop()`.
    ///
    /// None is ever dropped. While 10,000 of them wait to be taken, nothing more is read from peers: what those send waits
    /// on their side, and they take a node that reads nothing for 12 s for one that is gone.
    public var events: AsyncStream<NodeEvent> { engine.events }

    /// How long a start waits to know the back end: a few milliseconds, and on a busy machine up to a second.
    ///
    /// Only where D-Bus or avahi-daemon is stuck it takes longer, and then a person waits for the prompt.
    private static let backEndKnown = 2.0

    private let own: Mutex<Peer>
    private let engine: NodeEngine
    private let offers: Offers

    /// Makes a node that is not on the network yet.
    public init(identity: Identity, settings: NodeSettings) throws(PeerConnectError) {
        let offers = Offers()
        self.offers = offers
        engine = try NodeEngine(identity: identity.local, settings: settings) { offers.take($0) }
        own = Mutex(Peer(id: identity.id, name: identity.displayName.description))
    }

    /// Listens, advertises and browses, as the settings say.
    public func start() async throws(PeerConnectError) -> Ready {
        let port = try await engine.start()
        return Ready(port: port, discovery: await engine.backEnd(within: Self.backEndKnown))
    }

    /// Does what is asked.
    ///
    /// Events it causes at once are in `events` before the reply; with a line, the reply is an event too, behind them.
    /// What is done in a chat is done in the one that is named, or in the only one there is.
    @discardableResult
    public func perform(_ command: NodeCommand, in chat: ChatID? = nil, line: Int? = nil) async -> Reply {
        await engine.perform(command, in: chat, line: line)
    }

    /// Takes whom the user knows, trusts and blocks; until then everyone is new.
    ///
    /// Blocked peers are answered `declined` without asking, and a known name under another key is warned of. To be given
    /// before `start()` and again whenever it changes.
    public func know(_ acquaintances: Acquaintances) async { await engine.know(acquaintances) }

    /// Goes by another name from now on, under the same key; the stored identity is renamed by `Identities`.
    ///
    /// - Throws: `busy` during a chat or an invitation of its own.
    public func rename(to name: DisplayName) async throws(PeerConnectError) {
        try await engine.rename(to: name)
        own.withLock { $0 = Peer(id: $0.id, name: name.description) }
    }

    /// What is open at the moment.
    public func snapshot() async -> NodeSnapshot { await engine.snapshot() }

    /// The peer meant; `nil` for an address, whose peer is known only when it answers.
    public func resolve(_ reference: PeerReference) async throws(PeerConnectError) -> PeerID? {
        try await engine.resolve(reference)
    }

    /// Serves one recipient in a chat of its own, where one answer covers invitation and offer.
    ///
    /// Waits for the answer no longer than `answer`, and for the transfer unless nothing moves for as long as `stall`.
    /// Cancelling the task takes the offer back.
    public func offer(
        _ paths: [String], to reference: PeerReference, answerWithin answer: Duration = .seconds(300),
        stallAfter stall: Duration = .seconds(60)
    ) async -> OfferOutcome {
        let token = offers.pending.withLock { $0.newToken() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard offers.pending.withLock({ $0.add(continuation, token) }) else {
                    return continuation.resume(returning: .failed(Self.stopped))
                }
                let task = Task {
                    if case .failed(let error) = await engine.offer(
                        paths, to: reference, answerWithin: answer / .seconds(1), stallAfter: stall / .seconds(1),
                        line: token)
                    {
                        offers.pending.withLock { $0.settle(token, .failed(error)) }?()
                    }
                }
                // Taken back at once: the files need not be looked at.
                if !offers.pending.withLock({ $0.keep(task, token) }) { task.cancel() }
            }
        } onCancel: {
            offers.pending.withLock { $0.cancel(token) }?()
            Task { await engine.withdrawOffer(line: token) }
        }
    }

    fileprivate static let stopped = PeerConnectError(.internal, "The offer was given up.")

    /// Tells members and says goodbye; takes 2 s at most.
    public func stop() async {
        await engine.stop()
        offers.pending.withLock { $0.settleAll() }.forEach { $0() }
    }
}

/// The pending offers, for the node and for its events.
private final class Offers: Sendable {
    let pending = Mutex(PendingOffers())

    func take(_ event: NodeEvent) { pending.withLock { $0.take(event) }?() }
}

/// Offers whose outcome somebody waits for, by a negative number that no input line has.
private struct PendingOffers {
    private var last = 0
    private var waiting: [Int: CheckedContinuation<Node.OfferOutcome, Never>] = [:]
    /// What makes them, until they are settled.
    private var tasks: [Int: Task<Void, Never>] = [:]
    /// Given out, and not waited for yet.
    private var fresh: Set<Int> = []
    private var isOver = false

    mutating func newToken() -> Int {
        last -= 1
        fresh.insert(last)
        return last
    }

    /// False when it is too late to wait.
    mutating func add(_ continuation: CheckedContinuation<Node.OfferOutcome, Never>, _ token: Int) -> Bool {
        guard fresh.remove(token) != nil, !isOver else { return false }
        waiting[token] = continuation
        return true
    }

    /// False when it is settled already.
    mutating func keep(_ task: Task<Void, Never>, _ token: Int) -> Bool {
        guard waiting[token] != nil else { return false }
        tasks[token] = task
        return true
    }

    mutating func cancel(_ token: Int) -> (() -> Void)? {
        fresh.remove(token)
        let task = tasks[token]
        return settle(token, .failed(Node.stopped)).map { settle in
            {
                task?.cancel()
                settle()
            }
        }
    }

    /// Nothing more will be heard.
    mutating func settleAll() -> [() -> Void] {
        isOver = true
        return waiting.keys.compactMap { settle($0, .failed(Node.stopped)) }
    }

    /// Gives what is to be done once no lock is held.
    mutating func settle(_ token: Int, _ outcome: Node.OfferOutcome) -> (() -> Void)? {
        tasks[token] = nil
        return waiting.removeValue(forKey: token).map { continuation in { continuation.resume(returning: outcome) } }
    }

    mutating func take(_ event: NodeEvent) -> (() -> Void)? {
        switch event {
        case .inviteAnswered(let target, let answer, let reason, let line?) where answer != .accepted:
            return settle(line, outcome(target, answer, reason))
        case .fileDone(_, let results, let line?):
            return results.first.flatMap { settle(line, .finished($0)) }
        default: return nil
        }
    }

    private func outcome(_ target: InviteTarget, _ answer: Answer, _ reason: String?) -> Node.OfferOutcome {
        switch answer {
        case .accepted, .declined, .busy, .timeout:
            guard let peer = target.peer else { break }
            return .refused(peer, answer)
        case .unreachable, .incompatible, .wrongKey: break
        }
        let code: PeerConnectError.Code = answer == .wrongKey ? .wrongKey : .unreachable
        let text = "\(target.label) cannot be reached: \(reason ?? answer.rawValue)."
        let hint =
            answer == .wrongKey
            ? "Ask its owner for its ID, and name it by that."
            : "Check that it runs there, in the same network; peerconnect doctor checks this machine."
        return .failed(PeerConnectError(code, text, hint: hint))
    }
}
