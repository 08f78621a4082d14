import Foundation
import Glibc
import Synchronization
import Testing

/// A pseudo-terminal with a program in it.
final class Pty: Sendable {
    let master: CInt
    let pid: pid_t
    /// The modes before the program began.
    let before: String
    private let slave: CInt
    private let isOpen = Mutex(true)

    /// `controls`: it is the controlling terminal of the program, as in a real session; else its modes outlive the
    /// program.
    init(_ arguments: [String], controls: Bool = false, environment: [String: String] = [:]) throws {
        var near: CInt = -1, far: CInt = -1
        var name = [CChar](repeating: 0, count: 128)
        try #require(openpty(&near, &far, &name, nil, nil) == 0)
        let ends = [near, far]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(ends[0], UInt(TIOCSWINSZ), &size)
        // Modes that nobody has by default, so that a reset to defaults would show.
        var modes = termios()
        tcgetattr(ends[1], &modes)
        modes.c_iflag |= tcflag_t(IXANY)
        modes.c_lflag &= ~tcflag_t(ECHOCTL)
        tcsetattr(ends[1], TCSANOW, &modes)
        let before = Self.modes(of: ends[0])

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if controls {
            posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)  // the leader's first terminal controls it
        } else {
            posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        }
        for target in 1...2 { posix_spawn_file_actions_adddup2(&actions, 0, CInt(target)) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t(), none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        let setSession: Int32 = 0x80  // POSIX_SPAWN_SETSID of spawn.h, for which Swift does not ask
        let flags = setSession | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let inherited = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let envp = inherited.merging(environment) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
        let argv = arguments.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, arguments[0], &actions, &attributes, argv, envp) == 0)
        (master, slave, self.pid, self.before) = (ends[0], ends[1], pid, before)
    }

    deinit {
        kill(pid, SIGKILL)
        var status: CInt = 0
        waitpid(pid, &status, 0)
        hangUp()
    }

    /// Closes both ends, so that the program's own one is dead.
    func hangUp() {
        guard isOpen.withLock({ (isOpen: inout Bool) in exchange(&isOpen, with: false) }) else { return }
        close(master)
        close(slave)
    }

    /// The built program for these tests.
    static var probe: String {
        get throws {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/exe", &buffer, buffer.count)
            try #require(count > 0)
            let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/TerminalProbe"
        }
    }

    /// The terminal's modes as one text that can be compared.
    var modes: String { Self.modes(of: master) }

    private static func modes(of descriptor: CInt) -> String {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return "none" }
        let characters = withUnsafeBytes(of: modes.c_cc) { Array($0) }
        return "\(modes.c_iflag) \(modes.c_oflag) \(modes.c_cflag) \(modes.c_lflag) \(characters)"
    }

    var isRaw: Bool {
        var modes = termios()
        return tcgetattr(master, &modes) == 0 && modes.c_lflag & tcflag_t(ICANON | ECHO) == 0
    }

    func send(_ text: String) { _ = write(master, text, text.utf8.count) }

    /// Reads until all of these have come, in any order, and gives all that came; `nil` after ten seconds without.
    func output(until wanted: String...) async -> String? {
        await onThread { [master] in
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let text = String(decoding: bytes, as: UTF8.self)
                if wanted.allSatisfy({ text.contains($0) }) { return text }
                var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
                guard poll(&ready, 1, 10_000) == 1 else { return nil }
                let count = read(master, &buffer, buffer.count)
                guard count > 0 else { return nil }
                bytes += buffer[..<count]
            }
        }
    }

    /// Reads on, however much that is, and gives the rest of it from this text on; `nil` after ten seconds without.
    func end(from wanted: String, to last: Character) async -> String? {
        await onThread { [master] in
            var tail = "", buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
                guard poll(&ready, 1, 10_000) == 1 else { return nil }
                let count = read(master, &buffer, buffer.count)
                guard count > 0 else { return nil }
                tail = String(tail.suffix(100)) + String(decoding: buffer[..<count].suffix(1000), as: UTF8.self)
                guard let start = tail.ranges(of: wanted).last?.upperBound else { continue }
                if tail[start...].contains(last) { return String(tail[start...]) }
            }
        }
    }

    /// How the program ended: its code, or minus the signal's number; its output is read meanwhile.
    func end() async -> CInt {
        await onThread { [pid] in
            var status: CInt = 0
            while waitid(P_PID, id_t(pid), nil, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            waitpid(pid, &status, 0)
            return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        }
    }
}

/// What `body` gives on a thread of its own, since it blocks.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}
