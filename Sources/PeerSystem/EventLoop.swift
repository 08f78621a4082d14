internal import CSystem
internal import Glibc
package import PeerModel
internal import Synchronization

/// What a descriptor can do without waiting.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Told without being asked for, together with the others: the next call on the descriptor says how it broke.
    package static let broken = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// One thread that waits for descriptors and times, and runs the actors that name it as their executor.
///
/// Level-triggered: a handler that leaves something unread is called again, so nothing can be lost, and each handler may do a
/// bounded amount of work to be fair to the others. All but `post`, `enqueue` and `stop` belong to the loop's own thread.
package final class EventLoop: SerialExecutor, Sendable {
    private struct Handler: Sendable {
        let descriptor: CInt
        let body: @Sendable (Readiness) -> Void
    }

    private struct Timer: Sendable {
        let at: Instant
        let body: @Sendable () -> Void
    }

    private struct Inbox: ~Copyable {
        var jobs: [UnownedJob] = []
        var bodies: [@Sendable () -> Void] = []
        var isStopped = false
        var thread: pthread_t?
    }

    private struct Own: Sendable {
        var handlers: [UInt64: Handler] = [:]
        var timers: [UInt64: Timer] = [:]
        var next: UInt64 = 1
    }

    private let epoll: OwnedDescriptor
    private let wake: OwnedDescriptor
    private let clock: OwnedDescriptor
    private let inbox = Mutex(Inbox())
    /// Only touched on the loop's thread; the lock is never contended and makes that provable.
    private let own = Mutex(Own())

    private static let wakeToken: UInt64 = 0
    private static let clockToken = UInt64.max

    package init() throws(SystemError) {
        epoll = OwnedDescriptor(owning: CInt(try retrying("epoll_create1") { Int(epoll_create1(CInt(EPOLL_CLOEXEC))) }))
        wake = OwnedDescriptor(
            owning: CInt(try retrying("eventfd") { Int(eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))) }))
        let flags = CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK)
        clock = OwnedDescriptor(
            owning: CInt(try retrying("timerfd_create") { Int(timerfd_create(clockid_t(CLOCK_BOOTTIME), flags)) }))
        try control(EPOLL_CTL_ADD, wake.raw, .readable, token: Self.wakeToken)
        try control(EPOLL_CTL_ADD, clock.raw, .readable, token: Self.clockToken)
        try BlockingThread.spawn("event loop") { self.run() }
    }

    /// Ends the thread once nothing is queued; what comes later is never run.
    package func stop() {
        inbox.withLock { $0.isStopped = true }
        ring()
    }

    // MARK: From any thread

    /// Runs `body` on the loop's thread, soon.
    package func post(_ body: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.bodies.append(body) }
        ring()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        inbox.withLock { $0.jobs.append(job) }
        ring()
    }

    package var isCurrent: Bool {
        inbox.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    package func checkIsolated() { precondition(isCurrent, "not on the event loop's thread") }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private func ring() {
        var one: UInt64 = 1
        _ = Glibc.write(wake.raw, &one, 8)  // fails only when it is already rung
    }

    // MARK: Descriptors

    /// Calls `body` whenever the descriptor is ready, also when it broke: the next call on it says how.
    package func register(
        _ descriptor: borrowing OwnedDescriptor, _ readiness: Readiness, _ body: @escaping @Sendable (Readiness) -> Void
    ) throws(SystemError) -> UInt64 {
        try register(raw: descriptor.raw, readiness, body)
    }

    /// The same for a descriptor whose owner cannot be lent; it must be unregistered before that owner closes it.
    package func register(
        raw: CInt, _ readiness: Readiness, _ body: @escaping @Sendable (Readiness) -> Void
    ) throws(SystemError) -> UInt64 {
        let token = own.withLock { own in
            let token = own.next
            own.next += 1
            own.handlers[token] = Handler(descriptor: raw, body: body)
            return token
        }
        do {
            try control(EPOLL_CTL_ADD, raw, readiness, token: token)
        } catch {
            own.withLock { $0.handlers[token] = nil }
            throw error
        }
        return token
    }

    /// Waits for something else from now on.
    package func update(_ token: UInt64, _ readiness: Readiness) {
        guard let handler = own.withLock({ $0.handlers[token] }) else { return }
        try? control(EPOLL_CTL_MOD, handler.descriptor, readiness, token: token)
    }

    /// Ends the calls; to be done before the descriptor is closed.
    package func unregister(_ token: UInt64) {
        guard let handler = own.withLock({ $0.handlers.removeValue(forKey: token) }) else { return }
        try? control(EPOLL_CTL_DEL, handler.descriptor, [], token: token)
    }

    private func control(
        _ operation: CInt, _ descriptor: CInt, _ readiness: Readiness, token: UInt64
    ) throws(SystemError) {
        try retrying("epoll_ctl") {
            Int(pc_epoll_control(epoll.raw, operation, descriptor, readiness.rawValue, token))
        }
    }

    // MARK: Times

    /// Calls `body` once at that time.
    @discardableResult
    package func schedule(at instant: Instant, _ body: @escaping @Sendable () -> Void) -> UInt64 {
        let token = own.withLock { own in
            let token = own.next
            own.next += 1
            own.timers[token] = Timer(at: instant, body: body)
            return token
        }
        arm()
        return token
    }

    package func cancel(_ timer: UInt64) { own.withLock { _ = $0.timers.removeValue(forKey: timer) } }

    private func arm() {
        // A few timers a connection at most: a scan is cheaper than a heap is long.
        guard let first = own.withLock({ $0.timers.values.map(\.at).min() }) else { return }
        let nanoseconds = max(first.nanoseconds, 1)  // zero would disarm it
        var spec = itimerspec()
        spec.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
        spec.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        timerfd_settime(clock.raw, CInt(TFD_TIMER_ABSTIME), &spec, nil)
    }

    private func fireTimers() {
        var count: UInt64 = 0
        _ = Glibc.read(clock.raw, &count, 8)
        let now = BootClock.now()
        let due = own.withLock { own in
            let due = own.timers.filter { $0.value.at <= now }.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
            return due.map(\.key)
        }
        for token in due {
            // Looked up again: an earlier one may have cancelled it.
            guard let timer = own.withLock({ $0.timers.removeValue(forKey: token) }) else { continue }
            timer.body()
        }
        arm()
    }

    // MARK: The thread

    private func run() {
        inbox.withLock { $0.thread = pthread_self() }
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let count = epoll_wait(epoll.raw, &events, CInt(events.count), -1)
            for index in 0..<max(0, Int(count)) { deliver(events[index]) }
            if runInbox() { break }
        }
        // The number may be another thread's as soon as this one is gone.
        inbox.withLock { $0.thread = nil }
    }

    private func deliver(_ event: epoll_event) {
        switch event.data.u64 {
        case Self.wakeToken:
            var count: UInt64 = 0
            _ = Glibc.read(wake.raw, &count, 8)
        case Self.clockToken: fireTimers()
        case let token:
            // By token, not by descriptor: a closed one's number may belong to another by now.
            guard let handler = own.withLock({ $0.handlers[token] }) else { return }
            var readiness = Readiness(rawValue: event.events).intersection([.readable, .writable])
            if event.events & Readiness.broken.rawValue != 0 { readiness = [.readable, .writable, .broken] }
            handler.body(readiness)
        }
    }

    /// Runs what was queued; true when the loop is to end.
    private func runInbox() -> Bool {
        while true {
            let (jobs, bodies, isStopped) = inbox.withLock { inbox in
                defer {
                    inbox.jobs = []
                    inbox.bodies = []
                }
                return (inbox.jobs, inbox.bodies, inbox.isStopped)
            }
            for body in bodies { body() }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            // Once stopped it is not rung again for sure, so it goes on until nothing is left.
            guard isStopped else { return false }
            if jobs.isEmpty, bodies.isEmpty { return true }
        }
    }
}
