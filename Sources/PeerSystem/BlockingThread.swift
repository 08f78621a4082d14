internal import CSystem
internal import Glibc
internal import Synchronization

/// A plain thread for calls that block: the shared pool has one thread a core and must never wait.
package enum BlockingThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void
        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a detached thread that ends with `body`; signals go to other threads.
    package static func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 512 << 10)
        defer { pthread_attr_destroy(&attributes) }
        var all = sigset_t(), before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)  // inherited by the new thread
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let context = Unmanaged.passRetained(Body(name, body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { raw in
                guard let raw else { return nil }
                let body = Unmanaged<Body>.fromOpaque(raw).takeRetainedValue()
                pc_name_thread(body.name)  // the kernel keeps 15 bytes of it
                body.run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw SystemError(call: "pthread_create", code: code)
        }
    }
}

/// State shared between threads that wait for each other: a mutex with a condition (pthread_cond_wait(3)).
package final class Monitor<State: Sendable>: @unchecked Sendable {  // every access to `state` holds `mutex`
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Changes the state and wakes everyone who waits.
    @discardableResult
    package func update<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Looks at the state.
    package func read<Result>(_ body: (State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(state)
    }

    /// Waits until `body` gives a value, or so many seconds; `nil` then.
    package func wait<Result>(seconds: Double, until body: (inout State) -> Result?) -> Result? {
        var limit = timespec()
        clock_gettime(CLOCK_MONOTONIC, &limit)
        let nanoseconds = Int64(limit.tv_nsec) + Int64(seconds * 1e9)
        limit.tv_sec += Int(nanoseconds / 1_000_000_000)
        limit.tv_nsec = Int(nanoseconds % 1_000_000_000)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) {
                pthread_cond_broadcast(condition)
                return result
            }
            if pthread_cond_timedwait(condition, mutex, &limit) == ETIMEDOUT { return body(&state) }
        }
    }
}
