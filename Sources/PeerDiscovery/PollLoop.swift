internal import CAvahi

/// Avahi's event loop for one thread, with timers, and a descriptor that others wake it by.
///
/// Everything here is for that thread alone.
final class PollLoop {
    /// Something that is to happen later.
    final class Timer {
        fileprivate let body: () -> Void
        fileprivate unowned let loop: PollLoop
        fileprivate var timeout: OpaquePointer?

        fileprivate init(_ loop: PollLoop, _ body: @escaping () -> Void) {
            self.loop = loop
            self.body = body
        }

        var isPending: Bool { timeout != nil }

        func cancel() {
            guard let timeout else { return }
            self.timeout = nil
            pc_timeout_free(loop.api, timeout)
            loop.timers[ObjectIdentifier(self)] = nil
        }
    }

    private let poll: OpaquePointer
    let api: UnsafePointer<AvahiPoll>
    /// Kept until they fire: C holds no reference.
    private var timers: [ObjectIdentifier: Timer] = [:]
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
        for timer in timers.values {
            if let timeout = timer.timeout { pc_timeout_free(api, timeout) }
            timer.timeout = nil
        }
        if let watch { pc_watch_free(api, watch) }
        avahi_simple_poll_free(poll)
    }

    /// Runs until `quit`.
    func run() { while turn(milliseconds: -1) {} }

    /// Waits for one round of events, or so long; whether there will be another.
    @discardableResult
    func turn(milliseconds: CInt) -> Bool { avahi_simple_poll_iterate(poll, milliseconds) == 0 }

    func quit() { avahi_simple_poll_quit(poll) }

    /// Does it after so many seconds; never at once, so that nothing happens inside a callback of Avahi's.
    @discardableResult
    func after(_ seconds: Double, _ body: @escaping () -> Void) -> Timer {
        let timer = Timer(self, body)
        timer.timeout = pc_timeout_new(
            api, UInt32(max(0, seconds) * 1000),
            { _, context in
                guard let context else { return }
                let timer = Unmanaged<Timer>.fromOpaque(context).takeUnretainedValue()
                timer.cancel()
                timer.body()
            }, Unmanaged.passUnretained(timer).toOpaque())  // `timers` keeps it as long as the timeout exists
        if timer.timeout != nil { timers[ObjectIdentifier(timer)] = timer }
        return timer
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
