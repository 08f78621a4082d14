internal import Synchronization

extension BlockingThread {
    /// What `body` gives on a thread of its own; throws only when there is none to be had.
    package static func value<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Value
    ) async throws(SystemError) -> Value {
        let result: Result<Value, SystemError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                try spawn(name) { continuation.resume(returning: .success(body())) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// What `body` gives on a thread of its own; `nil` when that takes longer, and the thread is left alone.
    ///
    /// For calls that may hang and cannot be interrupted: a network file system, a daemon that does not answer.
    package static func value<Value: Sendable>(
        _ name: String, within seconds: Double, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        let once = Once<Value>()
        return await withCheckedContinuation { continuation in
            once.wait(continuation)
            do {
                try spawn(name) { once.settle(body()) }
            } catch {
                return once.settle(nil)
            }
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                once.settle(nil)
            }
        }
    }

    /// One who waits, for the first of two answers.
    private final class Once<Value: Sendable>: Sendable {
        private let waiting = Mutex<CheckedContinuation<Value?, Never>?>(nil)

        func wait(_ continuation: CheckedContinuation<Value?, Never>) { waiting.withLock { $0 = continuation } }

        func settle(_ value: Value?) {
            let continuation = waiting.withLock { $0.take() }
            continuation?.resume(returning: value)
        }
    }
}
