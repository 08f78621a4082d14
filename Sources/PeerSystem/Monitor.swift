internal import CSystem
internal import Glibc

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

    /// Waits until `body` gives a value, which may change the state for others who wait, or so many seconds; `nil` then.
    package func wait<Result>(seconds: Double, until body: (inout State) -> Result?) -> Result? {
        var limit = Self.time(after: seconds)
        var isLate = false
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) {
                pthread_cond_broadcast(condition)
                return result
            }
            if isLate { return nil }
            isLate = pthread_cond_timedwait(condition, mutex, &limit) != 0
        }
    }

    /// A century at most: more does not fit into every clock.
    private static func time(after seconds: Double) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = Int64(time.tv_nsec) + Int64(min(max(seconds, 0), 3e9) * 1e9)
        time.tv_sec += Int(nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(nanoseconds % 1_000_000_000)
        return time
    }
}
