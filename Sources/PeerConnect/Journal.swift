package import PeerModel
internal import PeerStore
internal import PeerSystem

/// Writes what a node tells into the records, in order, on a thread of its own.
///
/// Whoever tells does not wait for a database that another program holds: what cannot be written is kept in memory, up to
/// a bound, and tried again every second. `close()` gives it a last second, and says what could not be stored.
package final class Journal: Sendable {
    /// Events that may wait for the thread; a flood of messages is a few thousand.
    private static let bound = 4096

    private struct Queue {
        var events: [JournalWriter.Told] = []
        /// Those who told more than fits.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isRefreshWanted = false
        var isClosing = false
        var isOver = false
        /// What could not be stored in the end.
        var unstored: PeerConnectError?
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
        var events: [JournalWriter.Told] = []
        var flushing: [CheckedContinuation<Void, Never>] = []
    }

    /// Whom the user knows, whenever that has changed, here or in another process; the newest only.
    package let acquaintances: AsyncStream<Acquaintances>
    private let sink: AsyncStream<Acquaintances>.Continuation
    private let queue = Monitor(Queue())

    /// Begins to write what the own identity `me` sees.
    ///
    /// `known` is whom the user knows, as far as the node was told. `onFailure` is called from the thread when something
    /// could not be written, once until it can again, and when something is missing for good.
    package init(
        _ records: Records, me: Peer, known: Acquaintances, pace: JournalPace = JournalPace(),
        onFailure: @escaping @Sendable (PeerConnectError) -> Void
    ) throws(PeerConnectError) {
        (acquaintances, sink) = AsyncStream.makeStream(of: Acquaintances.self, bufferingPolicy: .bufferingNewest(1))
        do throws(SystemError) {
            try BlockingThread.spawn("journal") { [queue, sink] in
                var writer = JournalWriter(
                    records, me: me, known: known, pace: pace, onChange: { sink.yield($0) }, onFailure: onFailure)
                while let batch = Self.take(from: queue, within: writer.secondsToNextAttempt) {
                    writer.take(batch.events)
                    writer.work()
                    batch.flushing.forEach { $0.resume() }
                }
                let unstored = writer.finish()
                sink.finish()
                queue.update { queue in
                    queue.isOver = true
                    queue.unstored = unstored
                    return queue.takeWaiting()
                }.forEach { $0.resume() }
            }
        } catch {
            throw PeerConnectError.noThread(error.reason, cause: error)
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

    /// Returns when all that was told before is written, or cannot be for now.
    package func flush() async { await wait(isClosing: false) }

    /// Writes the rest and ends, within two seconds when others hold a database; may be called more than once.
    ///
    /// - Returns: What could not be stored, if so.
    @discardableResult
    package func close() async -> PeerConnectError? {
        await wait(isClosing: true)
        return queue.read { $0.unstored }
    }

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
    private static func take(from queue: Monitor<Queue>, within seconds: Double) -> Batch? {
        let taken = queue.wait(seconds: seconds) { queue -> Queue? in
            guard !queue.events.isEmpty || !queue.flushing.isEmpty || queue.isRefreshWanted || queue.isClosing
            else { return nil }
            let taken = queue
            (queue.events, queue.waiting, queue.isRefreshWanted) = ([], [], false)
            // At the end they stay in the queue, and are resumed behind the last attempt.
            if !taken.isClosing { queue.flushing = [] }
            return taken
        }
        guard let taken else { return Batch() }
        taken.waiting.forEach { $0.resume() }
        guard !taken.isClosing || !taken.events.isEmpty else { return nil }
        return Batch(events: taken.events, flushing: taken.isClosing ? [] : taken.flushing)
    }
}
