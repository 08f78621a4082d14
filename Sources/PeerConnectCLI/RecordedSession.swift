internal import PeerConnect
internal import PeerModel
internal import PeerSystem
internal import Synchronization

/// A node whose chats and peers are written down: its events pass through here, in their order.
final class RecordedSession: NodeSession {
    let events: AsyncStream<NodeEvent>
    let records: Records
    /// Events that may wait for the command before the node's own ones wait.
    private static let bound = 1000

    private let session: any NodeSession
    private let queue: EventQueue<NodeEvent>
    private let journal: Journal
    /// Ends behind the last event.
    private let telling: Task<Void, Never>
    private let knowing: Task<Void, Never>
    /// Only a node that has started ends its events.
    private let isStarted = Mutex(false)
    private let lost = Mutex<PeerConnectError?>(nil)
    private let ending = Mutex<Task<Void, Never>?>(nil)

    /// Follows the events of a node that is not started.
    init(
        _ session: any NodeSession, _ records: Records, knowing known: Acquaintances,
        now: @escaping @Sendable () -> Int64
    ) throws(PeerConnectError) {
        let queue = EventQueue<NodeEvent>(bound: Self.bound)
        let journal = try Journal(records, me: session.me, known: known) { queue.add(.failure($0)) }
        (self.session, self.records, self.journal, self.queue) = (session, records, journal, queue)
        events = queue.elements
        telling = Task {
            for await event in session.events {
                // First, so that whoever has seen it finds it in the records.
                await journal.record(event, at: now())
                await queue.addAndWait(event)
            }
            queue.finish()
        }
        knowing = Task { for await acquaintances in journal.acquaintances { await session.know(acquaintances) } }
    }

    var me: Peer { session.me }

    func start() async throws(PeerConnectError) -> SessionStart {
        let start = try await session.start()
        isStarted.withLock { $0 = true }
        return start
    }

    func perform(_ command: NodeCommand, in chat: ChatID?, line: Int?) async -> Reply {
        await session.perform(command, in: chat, line: line)
    }

    func know(_ acquaintances: Acquaintances) async {
        await session.know(acquaintances)
        journal.refresh()
    }

    func rename(to name: DisplayName) async throws(PeerConnectError) { try await session.rename(to: name) }

    func settleRecords() async { await journal.flush() }

    var unstored: PeerConnectError? { lost.withLock { $0 } }

    func snapshot() async -> NodeSnapshot { await session.snapshot() }

    func resolve(_ reference: PeerReference) async throws(PeerConnectError) -> PeerID? {
        try await session.resolve(reference)
    }

    func offer(
        _ paths: [String], to reference: PeerReference, answerWithin: Duration, stallAfter: Duration
    ) async -> OfferOutcome {
        await session.offer(paths, to: reference, answerWithin: answerWithin, stallAfter: stallAfter)
    }

    /// What the node told last is written when this returns, or is not going to be.
    func stop() async { await stop(atMost: nil) }

    func stop(within limit: Duration) async { await stop(atMost: limit) }

    /// The first call decides how long it may take; every call returns when all has ended.
    private func stop(atMost limit: Duration?) async {
        let end = ending.withLock { ending in
            let end = ending ?? Task { await self.end(within: limit) }
            ending = end
            return end
        }
        await end.value
    }

    private func end(within limit: Duration?) async {
        // Whoever followed the events may have what it wanted, and not look at them any more.
        queue.stopWaiting()
        let hasStopped = await hasStopped(within: limit)
        if !hasStopped || !isStarted.withLock({ $0 }) { telling.cancel() }
        await telling.value
        let unstored = await journal.close()
        lost.withLock { $0 = unstored }
        // One that hangs may never take what it is told.
        if hasStopped { await knowing.value }
    }

    /// Stops the node; false when that takes longer.
    private func hasStopped(within limit: Duration?) async -> Bool {
        guard let limit else {
            await session.stop()
            return true
        }
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        Task { [session] in
            await session.stop()
            answer.yield(true)
        }
        Task {
            try? await Task.sleep(for: limit)
            answer.yield(false)
        }
        return await answers.first { _ in true } ?? false
    }
}

extension Run {
    /// Gives a node what is known of others; one that runs under a stored identity is written down too.
    func recorded(_ session: any NodeSession, isStored: Bool) async throws(PeerConnectError) -> any NodeSession {
        let records = try await Records.open(
            state: home.stateFolder, data: home.dataFolder, keepsHistory: isStored && options.keepsHistory,
            limits: options.historyLimits, creating: isStored)
        let known = try await records.acquaintances()
        await session.know(known)
        guard isStored else { return session }
        return try RecordedSession(session, records, knowing: known, now: console.now)
    }
}
