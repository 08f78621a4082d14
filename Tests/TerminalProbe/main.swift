// Takes the terminal and ends in the way that its argument says, or tells what the terminal sends.
internal import Glibc
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

switch mode {
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
