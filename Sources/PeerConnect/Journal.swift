package import PeerModel
internal import PeerStore
internal import PeerSystem

/// Writes what a node tells into the records, in order, on a thread of its own.
///
/// Whoever tells waits only when the disk is far behind. What cannot be written is kept and tried again with the next
/// event, up to a bound; `close()` returns when the last event is written, or cannot be.
package final class Journal: Sendable {
    /// Events that may wait; a flood of messages is a few thousand.
    private static let bound = 4096
    /// How often changes by other processes are looked for; seconds.
    private static let pause = 5.0

    private struct Queue {
        var events: [(event: NodeEvent, time: Int64)] = []
        /// Those who told more than fits.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isRefreshWanted = false
        var isClosing = false
        var isOver = false
        /// Those who wait until all that was told before is written.
        var flushing: [CheckedContinuation<Void, Never>] = []

        /// Whoever waits, taken out to be resumed without the lock.
        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { (waiting, flushing) = ([], []) }
            return waiting + flushing
        }
    }

    /// What the thread takes from the queue at once.
    private struct Batch {
        var events: [(event: NodeEvent, time: Int64)] = []
        var flushing: [CheckedContinuation<Void, Never>] = []
    }

    /// Whom the user knows, whenever that has changed, here or in another process; the newest only.
    package let acquaintances: AsyncStream<Acquaintances>
    private let sink: AsyncStream<Acquaintances>.Continuation
    private let queue = Monitor(Queue())

    /// Begins to write what the own identity `me` sees.
    ///
    /// `known` is whom the user knows, as far as the node was told. `onFailure` is called from the thread when something
    /// could not be written, once until it can again.
    package init(
        _ records: Records, me: Peer, known: Acquaintances, onFailure: @escaping @Sendable (PeerConnectError) -> Void
    ) throws(PeerConnectError) {
        (acquaintances, sink) = AsyncStream.makeStream(of: Acquaintances.self, bufferingPolicy: .bufferingNewest(1))
        do throws(SystemError) {
            try BlockingThread.spawn("journal") { [queue, sink] in
                var writer = Writer(records: records, me: me, known: known, sink: sink, onFailure: onFailure)
                while let batch = Self.take(from: queue) {
                    writer.write(batch.events)
                    batch.flushing.forEach { $0.resume() }
                }
                writer.write([])
                sink.finish()
                queue.update { queue in
                    queue.isOver = true
                    return queue.takeWaiting()
                }.forEach { $0.resume() }
            }
        } catch {
            throw PeerConnectError(.internal, "A thread could not be started: \(error.reason).", cause: error)
        }
    }

    /// Keeps an event, if it is to be kept; events come in their order, from one task.
    package func record(_ event: NodeEvent, at time: Int64) async {
        guard History.keeps(event) else { return }
        await withCheckedContinuation { continuation in
            let fits = queue.update { queue in
                guard !queue.isClosing else { return true }
                queue.events.append((event, time))
                if queue.events.count >= Self.bound { queue.waiting.append(continuation) }
                return queue.events.count < Self.bound
            }
            if fits { continuation.resume() }
        }
    }

    /// Looks at once for changes that others have made.
    package func refresh() { queue.update { $0.isRefreshWanted = true } }

    /// Returns when all that was told before is written, or cannot be.
    package func flush() async { await wait(isClosing: false) }

    /// Writes the rest and ends; may be called more than once.
    package func close() async { await wait(isClosing: true) }

    private func wait(isClosing: Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = queue.update { queue in
                queue.isClosing = queue.isClosing || isClosing
                if !queue.isOver { queue.flushing.append(continuation) }
                return queue.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    /// What is to be written next, nothing when it is only time to look; `nil` at the end.
    private static func take(from queue: Monitor<Queue>) -> Batch? {
        let taken = queue.wait(seconds: pause) { queue -> Queue? in
            guard !queue.events.isEmpty || !queue.flushing.isEmpty || queue.isRefreshWanted || queue.isClosing
            else { return nil }
            let taken = queue
            // At the end whoever waits stays in the queue, and is resumed behind the last look.
            if taken.isClosing, taken.events.isEmpty { return taken }
            (queue.events, queue.waiting, queue.flushing, queue.isRefreshWanted) = ([], [], [], false)
            return taken
        }
        guard let taken else { return Batch() }
        guard !taken.isClosing || !taken.events.isEmpty else { return nil }
        taken.waiting.forEach { $0.resume() }
        return Batch(events: taken.events, flushing: taken.flushing)
    }

    /// Lives on the thread.
    private struct Writer {
        let records: Records
        let me: Peer
        var known: Acquaintances
        let sink: AsyncStream<Acquaintances>.Continuation
        let onFailure: @Sendable (PeerConnectError) -> Void
        /// What could not be written so far.
        private var pending: [(event: NodeEvent, time: Int64)] = []
        private var isFailing = false

        init(
            records: Records, me: Peer, known: Acquaintances, sink: AsyncStream<Acquaintances>.Continuation,
            onFailure: @escaping @Sendable (PeerConnectError) -> Void
        ) {
            self.records = records
            self.me = me
            self.known = known
            self.sink = sink
            self.onFailure = onFailure
        }

        mutating func write(_ batch: [(event: NodeEvent, time: Int64)]) {
            pending = Array((pending + batch).suffix(bound))
            do throws(StoreError) {
                if !pending.isEmpty {
                    // Whom one talks with first: it is what the next invitation is judged by.
                    try meet()
                    try records.history?.record(pending, by: me)
                    pending = []
                }
                try look()
                isFailing = false
            } catch {
                if !isFailing { onFailure(error.publicError) }
                isFailing = true
            }
        }

        private func meet() throws(StoreError) {
            guard let knownPeers = records.knownPeers else { return }
            for (event, time) in pending {
                let met: [Peer] =
                    switch event {
                    case .chatStarted(_, _, let host, let members): [host] + members
                    case .memberJoined(_, let member): [member]
                    default: []
                    }
                for peer in met where peer.id != me.id { try knownPeers.met(peer, at: time) }
            }
        }

        private mutating func look() throws(StoreError) {
            guard let knownPeers = records.knownPeers else { return }
            let now = Acquaintances(try knownPeers.list())
            guard now != known else { return }
            known = now
            sink.yield(now)
        }
    }
}
