import Glibc
import Testing

@testable import PeerTerminal

@Suite(.timeLimit(.minutes(8))) struct RawTerminalTests {
    private static let restored = "\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[0m"

    private static func start(_ mode: String, _ environment: [String: String] = [:]) throws -> Pty {
        try Pty([Pty.probe, mode], environment: environment)
    }

    @Test(
        "Every signal that ends the program leaves the terminal as it was",
        arguments: [
            SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,
            SIGALRM, SIGTERM,
            SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSYS,
        ])
    func signals(number: CInt) async throws {
        let pty = try Self.start("wait")
        #expect(await pty.output(until: "\u{1B}[?2004h", "ready") != nil)
        #expect(pty.isRaw && pty.modes != pty.before)
        kill(pty.pid, number)
        #expect(await pty.output(until: Self.restored) != nil)
        #expect(await pty.end() == -number)
        #expect(pty.modes == pty.before)
    }

    @Test(
        "Every other way out does too",
        arguments: [
            ("return", 0), ("exit", 3), ("throw", -SIGTRAP), ("trap", -SIGTRAP), ("fault", -SIGSEGV),
            ("overflow", -SIGSEGV), ("abort", -SIGABRT), ("restore", -SIGTERM),
        ] as [(String, CInt)])
    func waysOut(mode: String, status: CInt) async throws {
        let pty = try Self.start(mode)
        #expect(await pty.output(until: "ready", Self.restored) != nil)
        let end = await pty.end()
        // A Swift trap is SIGILL or SIGTRAP, by machine.
        #expect(end == status || status == -SIGTRAP && end == -SIGILL)
        #expect(pty.modes == pty.before)
    }

    @Test("A crash is still reported by the handler that was there before", arguments: ["trap", "fault"])
    func backtrace(mode: String) async throws {
        let pty = try Self.start(mode, ["SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no,timeout=20s"])
        #expect(await pty.output(until: Self.restored, mode == "trap" ? "on purpose" : "Bad pointer") != nil)
        #expect(pty.modes == pty.before)
    }

    @Test("The last reference that goes restores the terminal while the program goes on")
    func drop() async throws {
        let pty = try Self.start("drop")
        #expect(await pty.output(until: "ready", Self.restored) != nil)
        #expect(pty.modes == pty.before)
    }

    @Test("A program that is killed in the middle of its live area leaves the cursor below it")
    func belowTheRows() async throws {
        let pty = try Self.start("rows")
        #expect(await pty.output(until: "three\u{1B}[2A", "again") != nil)
        kill(pty.pid, SIGTERM)
        #expect(await pty.output(until: "\u{1B}[2B\r\r\n" + Self.restored) != nil)  // the terminal adds a return
    }

    @Test("Signals that were ignored stay ignored")
    func ignored() async throws {
        let pty = try Self.start("ignoring")
        #expect(await pty.output(until: "ready") != nil)
        kill(pty.pid, SIGUSR1)
        pty.send("x")
        #expect(await pty.output(until: "bytes [120]") != nil)
    }

    @Test("Bytes come as they are typed, then the silence; Ctrl-C and Ctrl-Z among them")
    func bytes() async throws {
        let pty = try Self.start("wait")
        #expect(await pty.output(until: "ready") != nil)
        pty.send("\u{3}\u{1A}\r\u{1B}")
        #expect(await pty.output(until: "bytes [3, 26, 13, 27]", "quiet") != nil)
        pty.send("q")
        #expect(await pty.output(until: Self.restored) != nil)
        #expect(await pty.end() == 0)
    }

    @Test("Another window size is told")
    func resize() async throws {
        let pty = try Self.start("wait")
        #expect(await pty.output(until: "ready") != nil)
        var size = winsize(ws_row: 9, ws_col: 33, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(pty.master, UInt(TIOCSWINSZ), &size)
        kill(pty.pid, SIGWINCH)
        let text = await pty.output(until: "resized(", "columns: 33, rows: 9")
        #expect(text != nil)
    }

    @Test("Stopped by SIGSTOP and continued, the terminal is raw again and the program is told")
    func hardStop() async throws {
        let pty = try Self.start("wait")
        #expect(await pty.output(until: "ready") != nil)
        kill(pty.pid, SIGSTOP)
        kill(pty.pid, SIGCONT)
        #expect(await pty.output(until: "\u{1B}[?2004h", "resumed(") != nil)
        #expect(pty.isRaw)
    }

    @Test(
        "Ctrl-Z gives the shell its terminal back, `bg` leaves it there, `fg` takes it, and the end gives it back"
    )
    func jobControl() async throws {
        let script =
            "m() { echo =$(stty -g)=; }; m; $PROBE wait; m; bg; m; fg; m; echo over; read"
        let pty = try Pty(
            ["/bin/bash", "--norc", "--noprofile", "-m", "-c", script], controls: true,
            environment: ["PROBE": Pty.probe])
        var texts = [try #require(await pty.output(until: "ready"))]
        #expect(pty.isRaw)
        pty.send("z")
        texts.append(try #require(await pty.output(until: "resumed(")))
        #expect(pty.isRaw)
        pty.send("q")
        texts.append(try #require(await pty.output(until: "over")))
        let modes = texts.joined().split(separator: "=").filter { $0.contains(":") && !$0.contains(" ") }
        #expect(modes.count == 4 && Set(modes).count == 1, "\(texts)")
    }

    @Test("Each continuation is told once")
    func continuations() async throws {
        let script = "$PROBE wait; fg; fg; fg; fg; fg; fg; fg; fg; echo over; read"
        let pty = try Pty(
            ["/bin/bash", "--norc", "--noprofile", "-m", "-c", script], controls: true,
            environment: ["PROBE": Pty.probe])
        var text = try #require(await pty.output(until: "ready"))
        for _ in 0..<8 {
            pty.send("z")
            text += try #require(await pty.output(until: "resumed("))
        }
        pty.send("q")
        text += try #require(await pty.output(until: "over"))
        #expect(text.split(separator: "resumed(").count == 9)
    }

    @Test("Modes that the shell changes meanwhile are the ones that it gets back")
    func otherModes() async throws {
        // Unlike bash, dash leaves the modes after a job as the job leaves them.
        let script = "m() { echo =$(stty -g)=; }; m; $PROBE wait; stty -ixany; m; fg; m; echo over; read"
        let pty = try Pty(
            ["/bin/dash", "-m", "-c", script], controls: true,
            environment: ["PROBE": Pty.probe])
        var texts = [try #require(await pty.output(until: "ready"))]
        pty.send("z")
        texts.append(try #require(await pty.output(until: "resumed(")))
        pty.send("q")
        texts.append(try #require(await pty.output(until: "over")))
        let modes = texts.joined().split(separator: "=").filter { $0.contains(":") && !$0.contains(" ") }
        #expect(modes.count == 3 && modes.first != modes.last && modes.dropFirst().first == modes.last, "\(texts)")
    }

    @Test("Stopped from outside in a shell, the terminal is the shell's, and raw again afterwards")
    func stoppedFromOutside() async throws {
        let script = "$PROBE wait; stty -a; echo stopped; fg; stty -a; echo over; read"
        let pty = try Pty(
            ["/bin/bash", "--norc", "--noprofile", "-m", "-c", script], controls: true,
            environment: ["PROBE": Pty.probe])
        #expect(await pty.output(until: "ready") != nil)
        kill(-tcgetpgrp(pty.master), SIGTSTP)
        let text = try #require(await pty.output(until: "resumed("))
        #expect(text.contains(Self.restored) && text.contains(" icanon"))
        #expect(pty.isRaw)
        pty.send("q")
        #expect(await pty.output(until: "over")?.contains(" icanon") ?? false)
    }

    @Test("A console in a terminal shows what its model shows, also at another width and around a stop in a shell")
    func console() async throws {
        let script = "$PROBE console; echo back; fg; echo over; read"
        let pty = try Pty(
            ["/bin/bash", "--norc", "--noprofile", "-m", "-c", script], controls: true,
            environment: ["PROBE": Pty.probe])
        var model = ScreenModel(size: TerminalSize(columns: 80, rows: 24))
        func take(_ text: String) {
            let modes = ["\u{1B}[?2004h", "\u{1B}[?2004l", "\u{1B}[?25h"]
            model.take(Array(modes.reduce(text) { $0.replacing($1, with: "") }.utf8))
        }
        take(try #require(await pty.output(until: "> ")))
        pty.send("one\rhalf a line that wraps at another width")
        take(try #require(await pty.output(until: "another width", "\u{1B}[?2026l")))
        #expect(model.texts == ["said: one", "the status", "> half a line that wraps at another width"])

        model.resize(to: TerminalSize(columns: 20, rows: 10))
        var window = winsize(ws_row: 10, ws_col: 20, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(pty.master, UInt(TIOCSWINSZ), &window)  // tells the foreground, as a window does
        take(try #require(await pty.output(until: "another widt", "\u{1B}[?2026l")))
        #expect(model.texts == ["said: one", "the status", "> half a line that w", "raps at another widt", "h"])
        #expect(model.faults.isEmpty, "\(model.faults)")

        pty.send("\u{1A}")
        let stopped = try #require(await pty.output(until: "the status"))
        #expect(stopped.contains("Stopped") && stopped.contains("$PROBE console\r\n"))
        pty.send("\u{15}/quit\r")
        #expect(await pty.output(until: "over")?.contains(Self.restored) ?? false)
    }

    @Test("Lines that were printed are not kept: memory does not grow with them")
    func flatMemory() async throws {
        let pty = try Pty([Pty.probe, "flood", "1000000"])
        let text = try #require(await pty.end(from: "grew by ", to: "."))
        // 900,000 lines of 11 bytes are 10 MB, and much more as an array.
        let kilobytes = try #require(Int(text.prefix { $0.isNumber }))
        #expect(kilobytes < 1500)
    }

    @Test("When the terminal goes, the program is told")
    func hangUp() async throws {
        let pty = try Self.start("wait")
        #expect(await pty.output(until: "ready") != nil)
        pty.hangUp()
        #expect(await pty.end() == 42)
    }

    @Test("What is no terminal is refused")
    func noTerminal() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(throws: TerminalError.notATerminal) { try RawTerminal(input: ends[0], output: ends[1]) }
    }
}
