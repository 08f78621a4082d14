internal import Synchronization

/// What happened, on its way to one reader: nothing is ever dropped, and whoever makes it can see that too much waits.
package final class EventQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Of the first that waits; those before it are gone.
        var head = 0
        var reader: CheckedContinuation<Element?, Never>?
        /// Those who add only when there is room.
        var adders: [CheckedContinuation<Void, Never>] = []
        var isOver = false
        var isBounded = true
        var isCrowded = false
        var onRelief: (@Sendable () -> Void)?

        var count: Int { elements.count - head }

        mutating func pop() -> Element? {
            guard count > 0 else { return nil }
            defer {
                head += 1
                // Now and then, so that it costs nothing for each.
                if head == elements.count || head >= 1024 {
                    elements.removeFirst(head)
                    head = 0
                }
            }
            return elements[head]
        }
    }

    /// From so many on it is crowded, until half of them have been read.
    private let bound: Int
    private let state = Mutex(State())

    package init(bound: Int) { self.bound = bound }

    /// For one consumer; over behind the last element before `finish()`, and when that consumer is cancelled.
    package var elements: AsyncStream<Element> {
        AsyncStream { [weak self] in await self?.next() }
    }

    /// Whether as many wait as may.
    package var isCrowded: Bool { state.withLock { $0.isCrowded } }

    /// Calls this, from any thread, whenever a crowd has gone down by half.
    package func onRelief(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onRelief = body } }

    /// Adds at once, however many wait.
    package func add(_ element: Element) {
        let reader = state.withLock { state -> CheckedContinuation<Element?, Never>? in
            guard !state.isOver else { return nil }
            if let reader = state.reader.take() { return reader }
            state.elements.append(element)
            if state.count >= bound { state.isCrowded = true }
            return nil
        }
        reader?.resume(returning: element)
    }

    /// Adds, and returns when no more than may are waiting.
    package func addAndWait(_ element: Element) async {
        add(element)
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                let isFree = !state.isCrowded || state.isOver || !state.isBounded
                if !isFree { state.adders.append(continuation) }
                return isFree
            }
            if isFree { continuation.resume() }
        }
    }

    /// From now on nobody waits for room: perhaps nobody reads any more.
    package func stopWaiting() {
        release { $0.isBounded = false }
    }

    /// Nothing comes any more; what waits is still read.
    package func finish() {
        let reader = state.withLock { state in
            state.isOver = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
        release { _ in }
    }

    private func release(_ change: (inout State) -> Void) {
        let adders = state.withLock { state in
            change(&state)
            defer { state.adders = [] }
            return state.adders
        }
        for adder in adders { adder.resume() }
    }

    private func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (element, isReady, relief) = take(continuation)
                if isReady { continuation.resume(returning: element) }
                relief?()
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: nil)
        }
    }

    /// The next element, if its reader need not wait for it, and what is to be done when it makes room.
    private func take(
        _ reader: CheckedContinuation<Element?, Never>
    ) -> (element: Element?, isReady: Bool, relief: (() -> Void)?) {
        state.withLock { state in
            guard let element = state.pop() else {
                if state.isOver || Task.isCancelled { return (nil, true, nil) }
                // One reader at a time; a second one would be this program's mistake, and is told that it is over.
                guard state.reader == nil else { return (nil, true, nil) }
                state.reader = reader
                return (nil, false, nil)
            }
            guard state.isCrowded, state.count <= bound / 2 else { return (element, true, nil) }
            state.isCrowded = false
            let adders = state.adders, onRelief = state.onRelief
            state.adders = []
            return (
                element, true,
                {
                    for adder in adders { adder.resume() }
                    onRelief?()
                }
            )
        }
    }
}
