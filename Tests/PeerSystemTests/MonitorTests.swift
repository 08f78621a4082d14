import Glibc
import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct MonitorTests {
    @Test("A monitor wakes whoever waits for its change")
    func wakes() throws {
        let monitor = Monitor(0)
        try BlockingThread.spawn("changer") { for _ in 0..<5 { monitor.update { $0 += 1 } } }
        #expect(monitor.wait(seconds: 30) { $0 == 5 ? $0 : nil } == 5)
    }

    @Test("What one waiter changes wakes another")
    func handsOver() throws {
        let monitor = Monitor("start")
        try BlockingThread.spawn("middle") {
            _ = monitor.wait(seconds: 30) { state -> Void? in
                guard state == "go" else { return nil }
                state = "done"
                return ()
            }
        }
        monitor.update { $0 = "go" }
        #expect(monitor.wait(seconds: 30) { $0 == "done" ? true : nil } == true)
    }

    @Test("A wait without success ends after its limit, whatever number that is", arguments: [-1, 0, 0.02])
    func limits(seconds: Double) {
        let begin = BootClock.now()
        #expect(Monitor(0).wait(seconds: seconds) { $0 == 1 ? $0 : nil } == nil)
        #expect(BootClock.now() - begin >= seconds)
    }

    @Test("A limit beyond all clocks is one that never comes")
    func forever() throws {
        let monitor = Monitor(false)
        try BlockingThread.spawn("changer") { monitor.update { $0 = true } }
        #expect(monitor.wait(seconds: .infinity) { $0 ? $0 : nil } == true)
    }

    @Test("Signals never interrupt a blocking thread")
    func signals() async throws {
        let blocked: [Bool]? = try await first { sink in
            try BlockingThread.spawn("masked") {
                var mask = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &mask)
                sink.yield([SIGINT, SIGTERM, SIGHUP, SIGWINCH].map { sigismember(&mask, $0) == 1 })
            }
        }
        #expect(blocked == [true, true, true, true])
    }
}
