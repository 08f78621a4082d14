import PeerModel
import Synchronization
import Testing

@testable import PeerSystem

@Suite struct EventLoopTests {
    @Test("Timers fire in the order of their times, whatever order they were set in", .timeLimit(.minutes(1)))
    func timers() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let (stream, sink) = AsyncStream.makeStream(of: Int.self)
        loop.post {
            let now = BootClock.now()
            for step in [3, 1, 2] {
                loop.schedule(at: now + Double(step) / 100) {
                    sink.yield(step)
                    if step == 3 { sink.finish() }
                }
            }
        }
        var fired: [Int] = []
        for await step in stream { fired.append(step) }
        #expect(fired == [1, 2, 3])
    }

    private actor Counter {
        private let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var count = 0
        init(_ loop: EventLoop) { self.loop = loop }
        func add() -> (count: Int, isOnLoop: Bool) {
            count += 1
            return (count, loop.isCurrent)
        }
    }

    @Test("An actor may run on the loop, and the loop's callbacks are inside it", .timeLimit(.minutes(1)))
    func executor() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let counter = Counter(loop)
        #expect(await counter.add() == (1, true))
        let count = await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: counter.assumeIsolated { $0.add().count }) }
        }
        #expect(count == 2)
        #expect(!loop.isCurrent)
    }

    @Test("A connection over loopback carries bytes both ways, and its end is seen", .timeLimit(.minutes(1)))
    func sockets() throws {
        let listener = try TCPListener(port: 0)
        let there = PeerAddress(.v4([127, 0, 0, 1]), port: listener.port)
        let near = try TCPSocket.connected(to: there, seconds: 5)
        // The handshake is over when `connected` returns, so the connection waits already.
        guard let far = try listener.accept() else {
            Issue.record("nothing to accept")
            return
        }
        let ends = (near.remoteAddress, near.localAddress, far.remoteAddress)
        far.makeBlocking(receiveSeconds: 5, sendSeconds: 5)
        #expect(ends.0 == there)
        #expect(ends.1 == ends.2)
        let (nearRaw, farRaw) = (near.descriptor.raw, far.descriptor.raw)
        let sent = try [1, 2, 3].withUnsafeBytes { try TCPSocket.send(nearRaw, $0) }
        #expect(sent == 24)
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(try buffer.withUnsafeMutableBytes { try TCPSocket.receive(farRaw, into: $0) } == 24)
        near.shutdown()
        #expect(try buffer.withUnsafeMutableBytes { try TCPSocket.receive(farRaw, into: $0) } == 0)
    }

    @Test("A port that is taken is an error that says so")
    func takenPort() throws {
        let first = try TCPListener(port: 0)
        #expect(throws: SystemError(call: "bind", code: 98)) { try TCPListener(port: first.port) }  // EADDRINUSE
    }

    @Test("A monitor wakes whoever waits for its change", .timeLimit(.minutes(1)))
    func monitor() throws {
        let monitor = Monitor(0)
        try BlockingThread.spawn("changer") { for _ in 0..<5 { monitor.update { $0 += 1 } } }
        #expect(monitor.wait(seconds: 10) { $0 == 5 ? $0 : nil } == 5)
        #expect(monitor.wait(seconds: 0.01) { $0 == 6 ? $0 : nil } == nil)
    }
}
