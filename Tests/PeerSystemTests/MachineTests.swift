import PeerSystem
import Testing

/// What is found out about the machine without changing it.
@Suite(.timeLimit(.minutes(8)))
struct MachineTests {
    @Test("A child's output and status come back, and one that does not end is ended")
    func children() {
        let output = ChildProcess.run("/bin/sh", ["-c", "echo out; echo err >&2; exit 3"], seconds: 20)
        #expect(output?.status == 3 && output?.text == Array("out\n".utf8))
        #expect(ChildProcess.run("/bin/sh", ["-c", "kill -9 $$"], seconds: 20)?.status == 137)
        #expect(ChildProcess.run("/nowhere/program", [], seconds: 1) == nil)
        #expect(ChildProcess.run("/bin/sleep", ["1000"], seconds: 0.1) == nil)
        #expect(ChildProcess.run("/bin/sh", ["-c", "exec >&-; sleep 1000"], seconds: 0.1) == nil)
    }

    @Test("More output than a pipe holds comes whole")
    func large() {
        let output = ChildProcess.run("/bin/sh", ["-c", "head -c 300000 /dev/zero"], seconds: 20)
        #expect(output?.text.count == 300_000)
    }

    @Test("A call that hangs is not waited for")
    func limit() async {
        #expect(await BlockingThread.value("quick", within: 30) { 7 } == 7)
        let gate = Monitor(false)
        let late = await BlockingThread.value("slow", within: 0.05) {
            gate.wait(seconds: 60) { isOpen in isOpen ? 1 : nil }
        }
        #expect(late == nil)
        gate.update { $0 = true }
    }

    @Test("The kernel's list of sockets is read, and what is not one is passed over")
    func sockets() {
        let text = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer
             78: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   102        0 507626 2 0 0
             79: 0100007F:6A2E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 9 1 0
            garbage
             80: 00000000000000000000000000000000:14E9 0:0 07 0:0 00:0 0 4294967295 0 11 2 0 0
            """
        #expect(
            BoundSocket.list(text) == [
                BoundSocket(port: 5353, user: 102, inode: 507_626), BoundSocket(port: 27182, user: 1000, inode: 9),
                BoundSocket(port: 5353, user: .max, inode: 11),
            ])
        #expect(BoundSocket.list(text, state: "0A").map(\.port) == [27182])
    }

    @Test("An own listening port is listed under this user, and its process is found")
    func holder() throws {
        let listener = try TCPListener(port: 0)
        let sockets = BoundSocket.listening(port: listener.port)
        #expect(!sockets.isEmpty && sockets.allSatisfy { $0.user == Paths.user })
        let holders = BoundSocket.holders(of: Set(sockets.map(\.inode)))
        #expect(Set(holders.keys) == Set(sockets.map(\.inode)))
        withExtendedLifetime(listener) {}
    }

    @Test("A path lies on the mount nearest above it, the last of several in one place")
    func mounts() {
        let text = """
            1 0 0:1 / / rw - overlay overlay rw
            2 1 0:2 / /data rw,relatime shared:1 - ext4 /dev/sda1 rw
            3 1 0:3 / /with\\040blank rw - tmpfs tmpfs rw
            4 1 0:4 / /data rw - xfs /dev/sdb1 rw
            broken line
            """
        #expect(Mount.holding("/data/x", in: text) == Mount(place: "/data", type: "xfs"))
        #expect(Mount.holding("/database", in: text) == Mount(place: "/", type: "overlay"))
        #expect(Mount.holding("/with blank/x", in: text) == Mount(place: "/with blank", type: "tmpfs"))
        #expect(Mount.holding("/x", in: "") == nil)
    }

    @Test("The nearest folder that is there is found, up to the root")
    func nearest() {
        #expect(Paths.nearestExisting("/proc/self/nothing/below") == "/proc/self")
        #expect(Paths.nearestExisting("/nothing-of-that-name/x") == "/")
        #expect((try? TextFile.read("/proc/self/comm")) != nil)
        #expect((try? TextFile.read("/proc/self/nothing")) == nil)
    }

    @Test("A socket that nobody listens on is told from one that is not there")
    func localSockets() {
        #expect(throws: SystemError(call: "connect", code: 2)) { try LocalSocket.probe("/nothing/of/that/name") }
        #expect(throws: SystemError.self) { try LocalSocket.probe(String(repeating: "x", count: 200)) }
    }
}
