internal import CSystem
internal import Glibc
internal import PeerModel

/// Another program, run to its end for what it prints.
package enum ChildProcess {
    package struct Output: Equatable, Sendable {
        /// 0 to 255, or 128 and the number of the signal that ended it.
        package let status: Int32
        package let text: [UInt8]
    }

    /// More is cut off; the rules of a large firewall are far below it.
    private static let textAtMost = 8 << 20

    /// Runs a program by its path, with nothing to read, and ends it when it takes longer than `seconds`.
    ///
    /// `nil` when it cannot be started or was ended. For threads that may block.
    package static func run(_ path: String, _ arguments: [String], seconds: Double) -> Output? {
        var ends: [CInt] = [-1, -1]
        guard pc_pipe(&ends) == 0 else { return nil }
        let reader = OwnedDescriptor(owning: ends[0])
        guard let child = start(path, arguments, output: OwnedDescriptor(owning: ends[1])) else { return nil }
        let limit = BootClock.now() + seconds
        let text = read(reader, until: limit.nanoseconds)
        if text == nil { kill(child, SIGKILL) }
        var status: CInt = 0
        // A child that has closed its output and lives on would hold us up; it has until the limit.
        while waitpid(child, &status, WNOHANG) != child {
            guard BootClock.now() < limit else {
                kill(child, SIGKILL)
                waitpid(child, &status, 0)
                return nil
            }
            usleep(2_000)
        }
        guard let text else { return nil }
        // wait(2): the low 7 bits are the signal's number.
        return Output(status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F), text: text)
    }

    private static func start(
        _ path: String, _ arguments: [String], output: consuming OwnedDescriptor
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.raw, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This process blocks signals and ignores SIGPIPE, which a child would inherit.
        var none = sigset_t(), pipe = sigset_t()
        sigemptyset(&none)
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &pipe)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        let envp: [UnsafeMutablePointer<CChar>?] = [strdup("LC_ALL=C"), nil]
        defer { for text in argv + envp { free(text) } }
        var child = pid_t()
        return posix_spawn(&child, path, &actions, &attributes, argv, envp) == 0 ? child : nil
    }

    /// Everything up to the end; `nil` when that does not come in time.
    private static func read(_ reader: borrowing OwnedDescriptor, until limit: Int64) -> [UInt8]? {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let rest = (limit - BootClock.now().nanoseconds) / 1_000_000
            var entry = pollfd(fd: reader.raw, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, CInt(clamping: max(rest, 0)))
            let code = errno
            if ready < 0, code == EINTR { continue }
            guard ready == 1 else { return nil }
            guard let count = try? retrying("read", { Glibc.read(reader.raw, &buffer, buffer.count) }) else {
                return nil
            }
            if count == 0 { return text }
            if text.count < textAtMost { text += buffer[..<count] }
        }
    }
}
