internal import CTerminal
internal import Glibc
internal import Synchronization

/// The thread that waits for the terminal.
final class TerminalReader: Sendable {
    /// As xterm and tmux wait for what follows an ESC over a network.
    private static let quiet: CInt = 50
    private static let longQuiet: CInt = 5_000

    private static let background: CInt = 250

    private let input: CInt
    private let output: CInt
    private let isStopped = Mutex(false)

    init(input: CInt, output: CInt) {
        self.input = input
        self.output = output
    }

    static func size(of descriptor: CInt) -> TerminalSize {
        TerminalSize(of: descriptor) ?? TerminalSize(columns: 0, rows: 0)
    }

    func stop() {
        isStopped.withLock { $0 = true }
        pct_wake()
    }

    /// What the thread runs.
    private final class Work: Sendable {
        let reader: TerminalReader
        let body: @Sendable (TerminalEvent) -> Void
        init(_ reader: TerminalReader, _ body: @escaping @Sendable (TerminalEvent) -> Void) {
            self.reader = reader
            self.body = body
        }
    }

    func start(_ body: @escaping @Sendable (TerminalEvent) -> Void) throws(TerminalError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        // Signals go to other threads.
        var all = sigset_t(), before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = Unmanaged.passRetained(Work(self, body))  // the thread's reference, given back at its end
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { raw in
                guard let raw else { return nil }
                let work = Unmanaged<Work>.fromOpaque(raw).takeRetainedValue()
                work.reader.run(work.body)
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw .system(code)
        }
    }

    private func run(_ body: (TerminalEvent) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var timeout: CInt = -1
        while true {
            // In the background a read would take what is typed for others. Nothing tells that this has ended.
            let wantsInput = pct_is_foreground()
            if wantsInput { pct_return() }
            var ready = [
                pollfd(fd: pct_wake_descriptor(), events: Int16(POLLIN), revents: 0),
                pollfd(fd: wantsInput ? input : -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&ready, 2, wantsInput ? timeout : Self.background)
            if isStopped.withLock({ $0 }) { return }
            if count == 0 {
                guard timeout >= 0, wantsInput else { continue }
                body(timeout == Self.quiet ? .quiet : .longQuiet)
                timeout = timeout == Self.quiet ? Self.longQuiet : -1
                continue
            }
            if ready[0].revents != 0 { tellNews(body) }
            guard ready[1].revents != 0, pct_is_foreground() else { continue }
            let size = read(input, &buffer, buffer.count)
            let code = errno
            if isStopped.withLock({ $0 }) { return }
            if size > 0 {
                body(.bytes(Array(buffer[..<size])))
                timeout = Self.quiet
            } else if size == 0 || code != EINTR && code != EAGAIN {
                if size < 0, code == EIO, !pct_is_foreground() { continue }
                return body(.ended)
            }
        }
    }

    private func tellNews(_ body: (TerminalEvent) -> Void) {
        let news = Int32(bitPattern: pct_take_news())
        if news & Int32(PCT_CONTINUED) != 0, pct_is_raw() {
            body(.resumed(Self.size(of: output)))
        } else if news & Int32(PCT_RESIZED) != 0 {
            body(.resized(Self.size(of: output)))
        }
    }
}
