internal import Glibc
internal import PeerSystem
internal import Synchronization

/// Writes whole lines to a descriptor that it does not own (1 or 2).
///
/// The lock keeps lines of several tasks apart; a reader that is slow holds up the program, one that has gone is told
/// once through `onClosed`, with the reason, and what is written later is dropped.
final class OutputWriter: Sendable {
    private let descriptor: CInt
    private let onClosed: @Sendable (SystemError) -> Void
    private let isClosed = Mutex(false)

    /// SIGPIPE must be ignored by the caller.
    init(descriptor: CInt, onClosed: @escaping @Sendable (SystemError) -> Void = { _ in }) {
        self.descriptor = descriptor
        self.onClosed = onClosed
    }

    func write(_ text: String) {
        let problem = isClosed.withLock { isClosed -> SystemError? in
            guard !isClosed, let code = writeAll(Array(text.utf8)) else { return nil }
            isClosed = true
            return SystemError(call: "write", code: code)
        }
        if let problem { onClosed(problem) }
    }

    /// The error number that ended it.
    private func writeAll(_ bytes: [UInt8]) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let error = errno
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if error == EAGAIN {
                // Someone else made the terminal or pipe non-blocking; leave their flag and wait here.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if error != EINTR {
                return error
            }
        }
        return nil
    }
}
