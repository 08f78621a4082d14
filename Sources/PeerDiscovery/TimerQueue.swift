/// What is to happen later, in the order it is due.
struct TimerQueue {
    /// One thing that is to happen.
    final class Timer {
        let due: ContinuousClock.Instant
        /// Tells those of one moment apart.
        fileprivate let number: Int
        private var body: (() -> Void)?

        fileprivate init(due: ContinuousClock.Instant, _ number: Int, _ body: @escaping () -> Void) {
            self.due = due
            self.number = number
            self.body = body
        }

        var isPending: Bool { body != nil }

        /// Does it, once, unless it was cancelled.
        func fire() {
            let body = self.body
            self.body = nil
            body?()
        }

        fileprivate func drop() { body = nil }

        fileprivate func isBefore(_ other: Timer) -> Bool { (due, number) < (other.due, other.number) }
    }

    /// The next one last, so that taking it out moves nothing.
    private var timers: [Timer] = []
    private var made = 0

    /// When the next one is due.
    var next: ContinuousClock.Instant? { timers.last?.due }
    var count: Int { timers.count }

    mutating func add(due: ContinuousClock.Instant, _ body: @escaping () -> Void) -> Timer {
        made += 1
        let timer = Timer(due: due, made, body)
        timers.insert(timer, at: place(of: timer))
        return timer
    }

    /// Takes out the next one, if it is due.
    mutating func take(at now: ContinuousClock.Instant) -> Timer? {
        guard let next, next <= now else { return nil }
        return timers.removeLast()
    }

    /// It will not happen.
    mutating func cancel(_ timer: Timer) {
        timer.drop()
        let index = place(of: timer)
        if index < timers.count, timers[index] === timer { timers.remove(at: index) }
    }

    /// Where it is, or belongs.
    private func place(of timer: Timer) -> Int {
        var low = 0, high = timers.count
        while low < high {
            let middle = (low + high) / 2
            if timer.isBefore(timers[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
