internal import CAvahi
internal import Glibc
internal import Synchronization

/// Whether there is an avahi-daemon, asked once and apart from everything that uses it.
package enum AvahiDaemon {
    package enum Answer: Hashable, Sendable {
        case running(version: String)
        /// D-Bus answers, the daemon does not run.
        case absent
        /// D-Bus does not answer, or does not let us ask.
        case unreachable(reason: String)
        /// Nothing came in time.
        case silent
    }

    /// Whether the embedded back end can be used instead.
    package static var hasSubstitute: Bool { AvahiCore.functions != nil }

    /// Whether it runs though Avahi's library says that it does not, which it does as well when D-Bus refuses to ask it.
    static var isRefused: Bool {
        guard let file = fopen("/run/avahi-daemon/pid", "re") else { return false }
        defer { fclose(file) }
        var digits = [CChar](repeating: 0, count: 16)
        guard fgets(&digits, CInt(digits.count), file) != nil else { return false }
        // What a killed one has left may be the number of any other program by now.
        guard let name = fopen("/proc/\(atoi(digits))/comm", "re") else { return false }
        defer { fclose(name) }
        var text = [CChar](repeating: 0, count: 16)
        return fgets(&text, CInt(text.count), name) != nil && strncmp(text, "avahi-daemon", 12) == 0
    }

    /// Asks, and waits for so many seconds at most.
    ///
    /// A call to a stuck daemon blocks for 25 s: its thread ends by itself then.
    package static func ask(within seconds: Double) async -> Answer {
        let waiting = Waiting()
        return await withCheckedContinuation { continuation in
            waiting.wait(continuation)
            guard DiscoveryThread.start({ waiting.settle(answer()) }) else { return waiting.settle(.silent) }
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                waiting.settle(.silent)
            }
        }
    }

    private final class Waiting: Sendable {
        private let continuation = Mutex<CheckedContinuation<Answer, Never>?>(nil)

        func wait(_ continuation: CheckedContinuation<Answer, Never>) {
            self.continuation.withLock { $0 = continuation }
        }

        func settle(_ answer: Answer) {
            let continuation = continuation.withLock { $0.take() }
            continuation?.resume(returning: answer)
        }
    }

    private static func answer() -> Answer {
        guard let loop = PollLoop() else { return .silent }
        return withExtendedLifetime(loop) {
            var code: CInt = 0
            guard let client = avahi_client_new(loop.api, AvahiClientFlags(0), { _, _, _ in }, nil, &code) else {
                let error = AvahiError(code: code)
                guard error.isMissing else { return .unreachable(reason: error.reason) }
                return isRefused ? .unreachable(reason: "D-Bus refuses") : .absent
            }
            defer { avahi_client_free(client) }
            guard let version = avahi_client_get_version_string(client) else {
                return .unreachable(reason: AvahiError(code: avahi_client_errno(client)).reason)
            }
            return .running(version: String(cString: version))
        }
    }
}
