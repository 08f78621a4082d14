internal import CAvahi

/// Avahi's event loop for one thread, with timers, and a descriptor that others wake it by.
///
/// Everything here is for that thread alone.
final class PollLoop {
    /// Something that is to happen later.
    final class Timer {
        fileprivate let due: ContinuousClock.Instant
        /// Tells those of one moment apart.
        fileprivate let number: Int
        fileprivate var body: (() -> Void)?
        fileprivate unowned let loop: PollLoop

        fileprivate init(_ loop: PollLoop, due: ContinuousClock.Instant, _ number: Int, _ body: @escaping () -> Void) {
            self.loop = loop
            self.due = due
            self.number = number
            self.body = body
        }

        var isPending: Bool { body != nil }

        func cancel() {
            guard body != nil else { return }
            body = nil
            loop.remove(self)
        }

        fileprivate func isBefore(_ other: Timer) -> Bool { (due, number) < (other.due, other.number) }
    }

    private let poll: OpaquePointer
    let api: UnsafePointer<AvahiPoll>
    /// Those to come, the next one last.
    ///
    /// For all of them there is one timeout of Avahi's, which walks through every one that it has each time it waits.
    private var timers: [Timer] = []
    private var timersMade = 0
    private var timeout: OpaquePointer?
    /// How long calls of Avahi's have taken so far; the daemon's are answered by another process.
    private(set) var timeInCalls = Duration.zero
    private var watch: OpaquePointer?
    private var woken: () -> Void = {}

    /// `nil` when there is no memory.
    init?() {
        guard let poll = avahi_simple_poll_new() else { return nil }
        guard let api = avahi_simple_poll_get(poll) else {
            avahi_simple_poll_free(poll)
            return nil
        }
        self.poll = poll
        self.api = api
    }

    deinit {
        if let timeout { pc_timeout_free(api, timeout) }
        if let watch { pc_watch_free(api, watch) }
        avahi_simple_poll_free(poll)
    }

    /// Runs until `quit`.
    func run() { while turn(milliseconds: -1) {} }

    /// Waits for one round of events, or so long; whether there will be another.
    @discardableResult
    func turn(milliseconds: CInt) -> Bool { avahi_simple_poll_iterate(poll, milliseconds) == 0 }

    func quit() { avahi_simple_poll_quit(poll) }

    /// Makes a call of Avahi's, whose time counts.
    func call<Value>(_ body: () -> Value) -> Value {
        let clock = ContinuousClock(), start = clock.now
        defer { timeInCalls += clock.now - start }
        return body()
    }

    // MARK: Timers

    /// Does it after so many seconds; never at once, so that nothing happens inside a callback of Avahi's.
    @discardableResult
    func after(_ seconds: Double, _ body: @escaping () -> Void) -> Timer {
        timersMade += 1
        let timer = Timer(self, due: .now + .seconds(max(0, seconds)), timersMade, body)
        timers.insert(timer, at: place(of: timer))
        if timers.last === timer { arm() }
        return timer
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

    private func remove(_ timer: Timer) {
        let index = place(of: timer)
        if index < timers.count, timers[index] === timer { timers.remove(at: index) }
    }

    /// Sets the timeout for the next one; once too early, when that was cancelled, does no harm.
    private func arm() {
        guard let next = timers.last else { return }
        let milliseconds = UInt32(min(max(0, ((next.due - .now) / .milliseconds(1)).rounded(.up)), 1e9))
        if let timeout { return pc_timeout_set(api, timeout, milliseconds) }
        timeout = pc_timeout_new(
            api, milliseconds,
            { _, context in
                guard let context else { return }
                Unmanaged<PollLoop>.fromOpaque(context).takeUnretainedValue().fire()
            }, Unmanaged.passUnretained(self).toOpaque())  // freed in `deinit`
    }

    /// Does what is due; what that adds is for later, so that others have their turn.
    private func fire() {
        let now = ContinuousClock.now, made = timersMade
        while let next = timers.last, next.due <= now, next.number <= made {
            timers.removeLast()
            let body = next.body
            next.body = nil
            body?()
        }
        arm()
    }

    /// Ends what `follow` began, which would keep what its body knows alive.
    func unfollow() {
        if let watch { pc_watch_free(api, watch) }
        watch = nil
        woken = {}
    }

    /// Calls `body` whenever the descriptor, an eventfd(2), was written to.
    func follow(_ descriptor: CInt, _ body: @escaping () -> Void) {
        woken = body
        watch = pc_watch_new(
            api, descriptor,
            { _, descriptor, _, context in
                var count: UInt64 = 0
                read(descriptor, &count, 8)
                guard let context else { return }
                Unmanaged<PollLoop>.fromOpaque(context).takeUnretainedValue().woken()
            }, Unmanaged.passUnretained(self).toOpaque())  // freed in `deinit`
    }
}
