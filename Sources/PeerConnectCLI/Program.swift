internal import Glibc
internal import PeerModel
internal import PeerSystem
internal import PeerTerminal

/// The command on the real system: its streams, its signals, its way out.
final class Program: Sendable {
    /// How long members may be told before the program goes anyway.
    private static let goodbye: UInt32 = 2  // seconds

    private let openNode: StoredHome.OpenNode
    private let wayOut: WayOut
    private let interrupts: Interrupts

    init(openNode: @escaping StoredHome.OpenNode) {
        self.openNode = openNode
        let wayOut = WayOut(later: Self.later, leave: Self.leave)
        self.wayOut = wayOut
        interrupts = Interrupts { wayOut.note(.signal(SIGINT)) }
    }

    /// On a thread of its own: that all others are taken must not keep the program.
    private static func later(_ body: @escaping @Sendable () -> Void) {
        do {
            try BlockingThread.spawn("goodbye") {
                var left = goodbye
                while left > 0 { left = sleep(left) }
                body()
            }
        } catch {
            Task {
                try? await Task.sleep(for: .seconds(goodbye))
                body()
            }
        }
    }

    private func note(signal number: CInt) {
        if number == SIGINT, interrupts.note(at: BootClock.now()) { return }
        wayOut.note(.signal(number))
    }

    /// What was written does not arrive; where the reader has left (`| head`), that is its wish and no news.
    private func note(closedOutput error: SystemError, _ err: OutputWriter) {
        if error.code != EPIPE { err.write("Standard output cannot be written: \(error.reason).\n") }
        wayOut.note(.outputClosed)
    }

    /// Runs the command line (without the program's name) and leaves with its code.
    ///
    /// To be called on the main thread, which waits here: an asynchronous `main` would hand it to Dispatch, where it
    /// unblocks every signal and so takes their default action before we hear of them.
    func run(_ arguments: [String?]) -> Never {
        do {
            StandardStreams.fill()
            try Signals().deliver { self.note(signal: $0) }
        } catch {
            OutputWriter(descriptor: STDERR_FILENO).write("peerconnect: cannot start (\(error))\n")
            _exit(ExitStatus.failed.rawValue)
        }
        let world = world()
        wayOut.follow { [wayOut] in await execute(arguments, in: world) { wayOut.code } }
        while true { pause() }  // whatever ends the program does not come back
    }

    private static func leave(_ interruption: WayOut.Interruption?, _ code: Int32) {
        RawTerminal.restore()  // the chat does it before, unless it was too slow
        if case .signal(let number) = interruption { Signals.die(of: number) }
        // Not exit(3): threads are still at work, and its handlers would take OpenSSL's memory from under them
        // (OPENSSL_init_crypto(3)). Nothing is left to be written.
        _exit(code)
    }

    private func world() -> World {
        let err = OutputWriter(descriptor: STDERR_FILENO)
        let out = OutputWriter(descriptor: STDOUT_FILENO) { self.note(closedOutput: $0, err) }
        let environment = Self.environment()
        return World(
            environment: environment,
            console: Console(
                writeOut: out.write, writeErr: err.write, now: WallClock.milliseconds,
                outIsTerminal: isatty(STDOUT_FILENO) == 1),
            input: StandardInput(),
            inputIsTerminal: isatty(STDIN_FILENO) == 1,
            paths: .real(home: environment["HOME"]),
            workingDirectory: Self.workingDirectory(),
            readProblem: { access($0, R_OK) == 0 ? nil : SystemError(call: "access", code: errno).reason },
            text: { (path) throws(TextFile.Failure) in try TextFile.read(path, waits: true) },
            sleep: { try await Task.sleep(for: $0, clock: .continuous) },
            clock: BootClock.now,
            localOffset: WallClock.offset,
            interrupts: interrupts,
            leaving: { [wayOut] in wayOut.hurry() },
            openTerminal: { try? RawTerminal() },
            openHome: { [openNode] (home) throws(PeerConnectError) in
                try StoredHome(below: home, environment: environment, openNode: openNode)
            },
            outColumns: { TerminalSize(of: STDOUT_FILENO)?.columns },
            errorColumns: { TerminalSize(of: STDERR_FILENO)?.columns })
    }

    private static func environment() -> [String: String] {
        var found: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let end = text.firstIndex(of: "=") {
                found[String(text[..<end])] = String(text[text.index(after: end)...])
            }
            next += 1
        }
        return found
    }

    private static func workingDirectory() -> String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}
