import Foundation
import Glibc

/// A child process with pipes.
///
/// Not Foundation's: that one learns of a child's end by a socket which the child's own children, daemons here, keep open.
struct Child: Sendable {
    let id: pid_t
    let input: CInt
    let output: CInt
    let errors: CInt

    init(_ arguments: [String], environment more: [String: String]) throws {
        signal(SIGPIPE, SIG_IGN)  // a program that has ended must not end the tests
        let environment = ProcessInfo.processInfo.environment.merging(more) { $1 }
        var ends = [[CInt]](repeating: [0, 0], count: 3)
        for index in ends.indices {
            // Close-on-exec on both ends: the copies made below for the child are without it.
            guard pipe(&ends[index]) == 0 else { throw Lab.Failure(text: "no pipe") }
            for end in ends[index] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, end) in [ends[0][0], ends[1][1], ends[2][1]].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, end, CInt(target))
        }
        // The threads of the shared pool keep most signals from themselves, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t(), none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)))
        var pid: pid_t = 0
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        let code = posix_spawn(&pid, arguments[0], &actions, &attributes, argv, envp)
        for end in [ends[0][0], ends[1][1], ends[2][1]] { close(end) }
        guard code == 0 else { throw Lab.Failure(text: "\(arguments[0]) does not start: \(code)") }
        (id, input, output, errors) = (pid, ends[0][1], ends[1][0], ends[2][0])
    }

    /// Waits for the end and gives the exit code, or 128 + the signal's number.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }

    /// Reads until the other side has closed; for a thread of its own.
    static func read(_ descriptor: CInt, _ took: (Data) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                took(Data(buffer[..<count]))
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        close(descriptor)
    }
}
