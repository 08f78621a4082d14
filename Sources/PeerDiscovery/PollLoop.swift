internal import CAvahi

/// Avahi's event loop for one thread, with timers, and a descriptor that others wake it by.
///
/// Everything here is for that thread alone.
final class PollLoop {
    /// Something that is to happen later.
    final class Timer {
        fileprivate let timer: TimerQueue.Timer
        private unowned let loop: PollLoop

        fileprivate init(_ timer: TimerQueue.Timer, _ loop: PollLoop) {
            self.timer = timer
            self.loop = loop
        }

        var isPending: Bool { timer.isPending }

        func cancel() { if timer.isPending { loop.timers.cancel(timer) } }
    }

    private let poll: OpaquePointer
    let api: UnsafePointer<AvahiPoll>
    /// Avahi's own are not for thousands, which it walks through before every event, and follow the clock on the wall.
    private var timers = TimerQueue()
    private var watch: OpaquePointer?
    private var descriptor: CInt?
    private var woken: () -> Void = {}
    /// How long making and freeing objects inside Avahi has taken so far; the daemon's answer comes from another process.
    private(set) var timeInCalls = Duration.zero

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
        if let watch { pc_watch_free(api, watch) }
        avahi_simple_poll_free(poll)
    }

    /// Runs until `quit`.
    func run() { while turn(milliseconds: -1) {} }

    /// Waits for one event, or so long, or until a timer is due, and lets one of each happen, so that neither keeps the other
    /// waiting; whether there will be another turn.
    @discardableResult
    func turn(milliseconds: CInt) -> Bool {
        var wait = milliseconds
        if let next = timers.next {
            let left = CInt(min(max(0, ((next - .now) / .milliseconds(1)).rounded(.up)), 1e9))
            wait = wait < 0 ? left : min(wait, left)
        }
        guard avahi_simple_poll_iterate(poll, wait) == 0 else { return false }
        timers.take(at: .now)?.fire()
        lookWhetherWoken()
        return true
    }

    func quit() { avahi_simple_poll_quit(poll) }

    /// Does it after so many seconds; never at once, so that nothing happens inside a callback of Avahi's.
    @discardableResult
    func after(_ seconds: Double, _ body: @escaping () -> Void) -> Timer {
        Timer(timers.add(due: .now + .seconds(max(0, seconds)), body), self)
    }

    /// Makes or frees an object inside Avahi, whose time counts.
    func call<Value>(_ body: () -> Value) -> Value {
        let clock = ContinuousClock(), start = clock.now
        defer { timeInCalls += clock.now - start }
        return body()
    }

    // MARK: Being woken

    /// Calls `body` whenever the descriptor, an eventfd(2) that does not block, was written to.
    func follow(_ descriptor: CInt, _ body: @escaping () -> Void) {
        self.descriptor = descriptor
        woken = body
        // Ends the wait; Avahi would call it after all others that have something to tell, in a flood never.
        watch = pc_watch_new(api, descriptor, { _, _, _, _ in }, nil)
    }

    private func lookWhetherWoken() {
        var count: UInt64 = 0
        if let descriptor, read(descriptor, &count, 8) == 8 { woken() }
    }

    /// Ends what `follow` began, which would keep what its body knows alive.
    func unfollow() {
        if let watch { pc_watch_free(api, watch) }
        (watch, descriptor) = (nil, nil)
        woken = {}
    }
}
