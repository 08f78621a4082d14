internal import Glibc
internal import PeerSystem
internal import Synchronization

/// The lines of standard input, read on a thread of its own, since reading blocks.
///
/// Nothing is read before the first line is asked for: a command that wants no input leaves it to others. The thread is
/// never joined: it may wait in read(2) for ever, and ends with the process.
final class StandardInput: LineSource {
    /// Lines read ahead, so that a large input does not end up in memory.
    private static let ahead = 64

    private let lines: AsyncStream<InputLine>
    private let continuation: AsyncStream<InputLine>.Continuation
    private let unread = Monitor(0)
    private let isStarted = Mutex(false)

    init() { (lines, continuation) = AsyncStream.makeStream(of: InputLine.self) }

    func next() async -> InputLine? {
        let isFirst = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        if isFirst { start() }
        var iterator = lines.makeAsyncIterator()
        let line = await iterator.next()
        if line != nil { unread.update { $0 -= 1 } }
        return line
    }

    private func start() {
        do {
            try BlockingThread.spawn("stdin") { [continuation, unread] in
                Self.read { line in
                    continuation.yield(line)
                    unread.update { $0 += 1 }
                    while unread.wait(seconds: 3600, until: { $0 < Self.ahead ? true : nil }) == nil {}
                }
                continuation.finish()
            }
        } catch {
            continuation.finish()  // no thread can be had: as good as no input
        }
    }

    /// Until the end of input, or an error, which ends it too.
    private static func read(_ take: (InputLine) -> Void) {
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
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
                return
            }
        }
    }
}
