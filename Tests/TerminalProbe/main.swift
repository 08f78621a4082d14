// Takes the terminal and ends in the way that its argument says, or tells what the terminal sends.
internal import Glibc
internal import PeerModel
internal import PeerTerminal

struct Failure: Error {}

setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), [rlimit(rlim_cur: 0, rlim_max: 0)])
let mode = CommandLine.arguments.dropFirst().first ?? ""
if mode == "ignoring" { signal(SIGUSR1, SIG_IGN) }
var terminal: RawTerminal? = try RawTerminal()

@MainActor func say(_ text: String) { terminal?.write(Array((text + "\r\n").utf8), rowsBelowCursor: nil) }

/// Tells every event, and obeys single letters: `z` stops the job, `q` ends.
func follow(_ terminal: RawTerminal) throws {
    try terminal.start { event in
        switch event {
        case .bytes(let bytes):
            terminal.write(Array("bytes \(bytes)\r\n".utf8), rowsBelowCursor: nil)
            if bytes == Array("z".utf8) { terminal.suspend() }
            if bytes == Array("q".utf8) {
                terminal.close()
                exit(0)
            }
        case .ended: exit(42)
        default: terminal.write(Array("\(event)\r\n".utf8), rowsBelowCursor: nil)
        }
    }
}

enum Happening: Sendable {
    case event(TerminalEvent)
    case frame
}

var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// A whole prompt: each line is printed as said, `/quit` ends.
@MainActor func converse(_ terminal: RawTerminal) async throws {
    let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
    var console = LiveConsole(size: terminal.size, palette: Palette(.none))
    console.area.status = "the status"
    try terminal.start { sink.yield(.event($0)) }
    sink.yield(.frame)
    for await happening in happenings {
        if case .event(let event) = happening {
            for wish in console.take(event, at: now) {
                switch wish {
                case .line("/quit", _), .endOfInput, .interrupt, .ended:
                    terminal.write(console.leave(), rowsBelowCursor: nil)
                    terminal.close()
                    return
                case .line(let text, _): console.print(text.split(separator: "\n").map { StyledText("said: \($0)") })
                case .suspend:
                    terminal.write(console.leave(), rowsBelowCursor: nil)
                    terminal.suspend()
                }
            }
        }
        switch console.step(at: now) {
        case .nothing: break
        case .write(let bytes, let rows): console.wrote(terminal.write(bytes, rowsBelowCursor: rows))
        case .wait(let time):
            Task {
                try await Task.sleep(for: .seconds(max(0, time - now)))
                sink.yield(.frame)
            }
        }
    }
}

/// So many lines through a whole prompt, and how much memory that took, in kB.
@MainActor func flood(_ terminal: RawTerminal, lines: Int) {
    var console = LiveConsole(size: terminal.size, palette: Palette(.none)), clock = Instant(nanoseconds: 0)
    func draw() {
        clock = clock + 1
        guard case .write(let bytes, let rows) = console.step(at: clock) else { return }
        console.wrote(terminal.write(bytes, rowsBelowCursor: rows))
    }
    func print(_ range: Range<Int>) {
        for line in range {
            console.print([StyledText("ada: \(line)")])
            if line % 500 == 0 { draw() }
        }
        draw()
    }
    print(0..<lines / 10)
    let before = residentKilobytes()
    print(lines / 10..<lines)
    say("grew by \(residentKilobytes() - before).")
}

func residentKilobytes() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss
}

switch mode {
case "flood": if let terminal { flood(terminal, lines: Int(CommandLine.arguments.last ?? "") ?? 0) }
case "console": if let terminal { try await converse(terminal) }
case "wait", "ignoring":
    if let terminal { try follow(terminal) }
    say("ready")
    while true { pause() }
case "return": say("ready")
case "exit":
    say("ready")
    exit(3)
case "drop":
    say("ready")
    terminal = nil
    while true { pause() }
case "throw":
    say("ready")
    throw Failure()
case "trap":
    say("ready")
    fatalError("on purpose")
case "fault":
    say("ready")
    UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
case "overflow":
    say("ready")
    func deeper(_ depth: Int) -> Int { depth == .max ? 0 : deeper(depth + 1) + depth % 7 }
    say("\(deeper(0))")
case "abort":
    say("ready")
    abort()
case "rows":
    terminal?.write(Array("ready\r\none\r\ntwo\r\nthree\u{1B}[2A".utf8), rowsBelowCursor: 2)
    // When this is seen, the rows are known.
    terminal?.write(Array("again".utf8), rowsBelowCursor: 2)
    while true { pause() }
case "restore":
    // As a program does that reads its signals from a descriptor.
    say("ready")
    RawTerminal.restore()
    signal(SIGTERM, SIG_DFL)
    raise(SIGTERM)
default: exit(2)
}
