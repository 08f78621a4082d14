internal import CTerminal
internal import Glibc
internal import Synchronization

/// What the terminal sends.
package enum TerminalEvent: Equatable, Sendable {
    case bytes([UInt8])
    /// No byte came for 50 ms after the last one: `KeyDecoder.silence()`.
    case quiet
    /// None for another 5 s: `KeyDecoder.longSilence()`.
    case longQuiet
    case resized(TerminalSize)
    /// The process was stopped and goes on: what stood on the screen is gone, and the size may be another.
    case resumed(TerminalSize)
    /// The terminal has gone; nothing else will come.
    case ended
}

/// Why raw mode cannot be had.
package enum TerminalError: Error, Hashable, Sendable {
    case notATerminal
    /// Another `RawTerminal` has not been closed.
    case inUse
    /// The error number of the system.
    case system(CInt)
}

/// The terminal in raw mode, until `close()`, the last reference, the end of the process, or a signal that ends it.
///
/// Ctrl-C and Ctrl-Z come as bytes; Ctrl-\ still sends SIGQUIT, the way out of a program that hangs. A stop restores
/// the terminal, and being continued in the foreground enters raw mode again. There is one at a time.
///
/// Signals that are blocked and read from a descriptor never reach its handlers: `restore()` before ending for one of
/// those.
package final class RawTerminal: Sendable {
    private let output: CInt
    private let reader: TerminalReader
    private let isClosed = Mutex(false)

    package init(input: CInt = STDIN_FILENO, output: CInt = STDOUT_FILENO) throws(TerminalError) {
        guard isatty(input) == 1, isatty(output) == 1 else { throw .notATerminal }
        let code = Self.turn.withLock { _ in pct_begin(input, output) }
        guard code == 0 else { throw code == EBUSY ? .inUse : .system(code) }
        self.output = output
        reader = TerminalReader(input: input, output: output)
    }

    /// Beginning and ending change the same state of the process.
    private static let turn = Mutex(())

    deinit { close() }

    /// Begins reading, on a thread of its own, which calls `body` with what comes and waits for it; to be called once.
    package func start(_ body: @escaping @Sendable (TerminalEvent) -> Void) throws(TerminalError) {
        try reader.start(body)
    }

    package var size: TerminalSize { TerminalReader.size(of: output) }

    /// False while another program has the terminal, after a stop and `bg`; nothing is written then.
    package var isActive: Bool { pct_is_raw() }

    /// Writes all bytes; false when the terminal is not ours now or has gone.
    ///
    /// It may wait for a terminal that is slow. `rowsBelowCursor` is the screen's after these bytes, for a way out in a
    /// hurry.
    @discardableResult
    package func write(_ bytes: [UInt8], rowsBelowCursor: Int?) -> Bool {
        guard isActive else { return false }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            let code = errno
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if code == EAGAIN {
                // Someone who shares the terminal made it non-blocking.
                var ready = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if code != EINTR {
                return false
            }
        }
        pct_set_rows_below(CInt(rowsBelowCursor ?? -1))
        return true
    }

    /// Stops the whole job, as Ctrl-Z does in other programs; `resumed` comes afterwards.
    ///
    /// The caller takes its live area away before.
    package func suspend() { kill(0, SIGTSTP) }

    /// Restores the terminal and ends the reading; safe to repeat, from any thread.
    package func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        reader.stop()
        Self.turn.withLock { _ in pct_end() }
    }

    /// Restores the terminal if it is in raw mode; for ways out that reach no `close()`, from any thread or handler.
    package static func restore() { pct_restore() }
}
