internal import Glibc
internal import PeerSystem
internal import Synchronization

/// The lines of standard input, read on a thread of its own, since reading blocks.
///
/// Nothing is read before a line is asked for: what is typed later may be for someone else, such as a terminal that is
/// taken into raw mode after one question. The thread is never joined: it may wait in read(2) for ever, and ends with
/// the process.
final class StandardInput: LineSource {
    /// `nil` for an end of input behind which more may come.
    private let lines: AsyncStream<InputLine?>
    private let continuation: AsyncStream<InputLine?>.Continuation
    /// How many lines were asked for and not given; below zero when a read gave more.
    private let wanted = Monitor(0)
    private let isStarted = Mutex(false)

    init() { (lines, continuation) = AsyncStream.makeStream(of: InputLine?.self) }

    func next() async -> InputLine? {
        wanted.update { $0 += 1 }
        let isFirst = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        if isFirst { start() }
        var iterator = lines.makeAsyncIterator()
        return await iterator.next() ?? nil
    }

    private func start() {
        do {
            try BlockingThread.spawn("stdin") { [continuation, wanted] in
                Self.read {
                    while wanted.wait(seconds: 3600, until: { $0 > 0 ? true : nil }) == nil {}
                } take: { line in
                    continuation.yield(line)
                    wanted.update { $0 -= 1 }
                }
                continuation.finish()
            }
        } catch {
            continuation.finish()  // no thread can be had: as good as no input
        }
    }

    /// Whether it is a terminal in canonical mode.
    private static var keepsLines: Bool {
        var mode = termios()
        return tcgetattr(STDIN_FILENO, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) != 0
    }

    /// Until the end of input, or an error, which ends it too; `pause` is called before each read.
    ///
    /// At a terminal the end is Ctrl-D, and only told: what is typed then can be read as before.
    private static func read(_ pause: () -> Void, take: (InputLine?) -> Void) {
        let isTerminal = isatty(STDIN_FILENO) == 1
        var splitter = LineSplitter(isFromTerminal: keepsLines)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            pause()
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            let error = errno
            if count > 0 {
                splitter.append(buffer[..<count]).forEach(take)
            } else if count < 0, error == EAGAIN {
                // Someone else made the terminal or pipe non-blocking; leave their flag and wait here.
                var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if count == 0 || error != EINTR {
                if let last = splitter.finish() { take(last) }
                guard count == 0, isTerminal else { return }
                take(nil)
            }
        }
    }
}
