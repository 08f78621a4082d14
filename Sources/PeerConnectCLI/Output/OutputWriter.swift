internal import Glibc
internal import Synchronization

/// Writes whole lines to a descriptor that it does not own (1 or 2).
///
/// The lock keeps lines of several tasks apart; a reader that is slow holds up the program, one that has gone is told
/// once through `onClosed`, and what is written later is dropped.
final class OutputWriter: Sendable {
    private let descriptor: CInt
    private let onClosed: @Sendable () -> Void
    private let isClosed = Mutex(false)

    /// SIGPIPE must be ignored by the caller.
    init(descriptor: CInt, onClosed: @escaping @Sendable () -> Void = {}) {
        self.descriptor = descriptor
        self.onClosed = onClosed
    }

    func write(_ text: String) {
        let failedNow = isClosed.withLock { isClosed in
            guard !isClosed else { return false }
            isClosed = !writeAll(Array(text.utf8))
            return isClosed
        }
        if failedNow { onClosed() }
    }

    private func writeAll(_ bytes: [UInt8]) -> Bool {
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
                return false
            }
        }
        return true
    }
}
