import Glibc
import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct ProcessTests {
    @Test("A process dies of the signal it is told to die of, also if it is blocked and ignored")
    func dies() async {
        await #expect(processExitsWith: .signal(SIGTERM)) { Signals.die(of: SIGTERM) }
        await #expect(processExitsWith: .signal(SIGHUP)) {
            signal(SIGHUP, SIG_IGN)
            var set = sigset_t()
            sigfillset(&set)
            pthread_sigmask(SIG_BLOCK, &set, nil)
            Signals.die(of: SIGHUP)
        }
    }

    @Test("A user whom the system does not list has the login of the environment")
    func login() async {
        await #expect(processExitsWith: .exitCode(77)) {
            setenv("LOGNAME", "", 1)
            setenv("USER", "ada", 1)
            guard getuid() == 0 else { exit(77) }
            guard ThisProcess.login != "ada", setuid(3_999_999) == 0 else { exit(1) }
            exit(ThisProcess.login == "ada" ? 77 : 2)
        }
    }

    @Test("Random bytes are as many as asked for, and never the same", arguments: [0, 1, 32, 100_000])
    func random(count: Int) {
        let bytes = randomBytes(count)
        #expect(bytes.count == count)
        #expect(count < 32 || bytes != randomBytes(count))
        #expect(count < 32 || bytes.suffix(16) != [UInt8](repeating: 0, count: 16)[...])
    }

    @Test("The reason of an error is in words")
    func reason() {
        #expect(SystemError(call: "open", code: ENOENT).reason == "no such file or directory")
        #expect(SystemError(call: "open", code: 99_999).reason == "unknown error 99999")
    }

    @Test("Numeric names and the machine's own resolve without a network")
    func resolver() async {
        #expect(await Resolver.resolve("127.0.0.1", port: 7) == [PeerAddress(.v4([127, 0, 0, 1]), port: 7)])
        let own = await Resolver.resolve("localhost", port: 7)
        #expect(!own.isEmpty && own.allSatisfy { loopback.contains($0.ip) && $0.port == 7 })
    }
}
