import Glibc
import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct InterfaceTests {
    @Test("The loopback interface is listed with its address and its network")
    func current() throws {
        let interface = try #require(NetworkInterface.current().first { $0.isLoopback })
        let own = try #require(interface.addresses.first { $0.address.ip == .v4([127, 0, 0, 1]) })
        #expect(own.bits == 8)
        #expect(interface.isRunning && !interface.isPointToPoint)
    }

    @Test(
        "An address is in a network when the network's bits agree",
        arguments: [
            ("10.1.2.3", 24, "10.1.2.200", true), ("10.1.2.3", 24, "10.1.3.3", false),
            ("10.1.2.3", 23, "10.1.3.3", true), ("10.1.2.3", 32, "10.1.2.3", true), ("10.1.2.3", 32, "10.1.2.2", false),
            ("10.1.2.3", 0, "192.0.2.1", true), ("fd00::1", 64, "fd00::ffff", true),
            ("fd00::1", 64, "fd00:0:0:1::1", false), ("fd00::1", 0, "10.1.2.3", false),
        ])
    func contains(own: String, bits: Int, other: String, isInside: Bool) throws {
        let prefix = NetworkInterface.Prefix(address: try address(own), bits: bits)
        #expect(prefix.contains(try address(other)) == isInside)
    }

    private func address(_ text: String) throws -> PeerAddress {
        guard case .ip(let ip)? = TypedAddress(text)?.host else { throw SystemError(call: text, code: EINVAL) }
        return PeerAddress(ip, port: 0)
    }

    @Test("Interfaces that come and go are told of once each, until cancelled", .enabled(if: Namespace.isPossible))
    func monitor() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        // Only the loop's own thread goes there, and the namespace ends with it.
        #expect(try await on(loop) { Namespace.enter() })
        let (changes, sink) = AsyncStream.makeStream(of: [NetworkInterface].self)
        let monitor = try await on(loop) { try InterfaceMonitor(on: loop) { sink.yield($0) } }
        var next = changes.makeAsyncIterator()
        try await on(loop) { try Namespace.setLoopback(up: true) }
        let found = try #require(await next.next())
        #expect(found.map { $0.isLoopback } == [true])
        #expect(found.flatMap(\.addresses).contains { $0.address.ip == .v4([127, 0, 0, 1]) })
        try await on(loop) { try Namespace.setLoopback(up: false) }
        #expect(await next.next() == [])
        try await on(loop) {
            try Namespace.setLoopback(up: true)
            monitor.cancel()
            loop.schedule(at: BootClock.now() + 0.4) { sink.finish() }  // twice as long as it waits for more
        }
        #expect(await next.next() == nil)
    }
}

/// A network namespace with nothing but a loopback interface that is down (network_namespaces(7)).
private enum Namespace {
    private static let newNetwork: CInt = 0x4000_0000  // CLONE_NEWNET, linux/sched.h

    static func enter() -> Bool {
        // Looked up, because Swift's Glibc module leaves sched.h out.
        guard let symbol = dlsym(nil, "unshare") else { return false }
        return unsafeBitCast(symbol, to: (@convention(c) (CInt) -> CInt).self)(newNetwork) == 0
    }

    static let isPossible: Bool = {
        let possible = Monitor<Bool?>(nil)
        do {
            try BlockingThread.spawn("probe") { possible.update { $0 = enter() } }
        } catch { return false }
        return possible.wait(seconds: 10) { $0 } ?? false
    }()

    /// SIOCSIFFLAGS (netdevice(7)): the name in 16 bytes, then the flags.
    static func setLoopback(up: Bool) throws {
        let raw = CInt(try retrying("socket") { Int(socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)) })
        let made = OwnedDescriptor(owning: raw)
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<2, with: Array("lo".utf8))
        request[16] = up ? 1 : 0
        try retrying("ioctl") { Int(ioctl(made.raw, UInt(SIOCSIFFLAGS), &request)) }
    }
}
