internal import PeerSystem
internal import Synchronization

/// Joins what a command waits for (events, input, timers, answers) into one sequence for one consumer.
///
/// `close()` ends what still runs; the sequence itself ends when its consumer is cancelled.
final class StepQueue<Step: Sendable>: Sendable {
    /// Steps that may wait before what is followed waits too.
    private static var bound: Int { 1000 }

    let steps: AsyncStream<Step>
    private let queue: EventQueue<Step>
    private struct Work {
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
    }
    private let work = Mutex(Work())

    init() {
        queue = EventQueue(bound: Self.bound)
        steps = queue.elements
    }

    func add(_ step: Step) { queue.add(step) }

    /// Adds each element as a step, and `end` behind the last.
    func follow<Element: Sendable>(
        _ elements: AsyncStream<Element>, end: Step, _ step: @escaping @Sendable (Element) -> Step
    ) {
        run { [queue] in
            for await element in elements { await queue.addAndWait(step(element)) }
            return end
        }
    }

    /// Adds what `body` gives once it is done; nothing if it gives `nil` or is cancelled.
    func run(_ body: @escaping @Sendable () async -> Step?) {
        work.withLock { work in
            let id = work.next
            work.next += 1
            work.running[id] = Task { [weak self, queue] in
                let step = await body()
                if let step, !Task.isCancelled { queue.add(step) }
                self?.forget(id)
            }
        }
    }

    func close() {
        let running = work.withLock { $0.running.values.map { $0 } }
        for task in running { task.cancel() }
        queue.finish()
    }

    private func forget(_ id: Int) { work.withLock { $0.running[id] = nil } }
}
