import Glibc
import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct TCPTests {
    private static func receive(_ raw: CInt) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = try buffer.withUnsafeMutableBytes { try TCPSocket.receive(raw, into: $0) }
        return count.map { Array(buffer.prefix($0)) }
    }

    @Test("A connection over loopback carries bytes both ways, and its end is seen", arguments: loopback)
    func bothWays(ip: PeerAddress.IP) throws {
        let listener = try TCPListener(port: 0)
        let there = PeerAddress(ip, port: listener.port)
        let near = try TCPSocket.connected(to: there, seconds: 5)
        // The handshake is over when `connected` returns, so the connection waits already.
        guard let far = try listener.accept() else {
            Issue.record("nothing to accept")
            return
        }
        let ends = (near.remoteAddress, near.localAddress, far.remoteAddress)
        far.makeBlocking(receiveSeconds: 5, sendSeconds: 5)
        near.makeBlocking(receiveSeconds: 5, sendSeconds: 5)
        #expect(ends.0 == there)
        #expect(ends.1 == ends.2)
        let (nearRaw, farRaw) = (near.descriptor.raw, far.descriptor.raw)
        #expect(try ([1, 2, 3] as [UInt8]).withUnsafeBytes { try TCPSocket.send(nearRaw, $0) } == 3)
        #expect(try Self.receive(farRaw) == [1, 2, 3])
        #expect(try ([4] as [UInt8]).withUnsafeBytes { try TCPSocket.send(farRaw, $0) } == 1)
        #expect(try Self.receive(nearRaw) == [4])
        TCPSocket.shutdown(near.descriptor.raw)
        #expect(try Self.receive(farRaw) == [])
    }

    @Test("A sender whose peer has gone gets EPIPE or ECONNRESET, and no signal")
    func gone() throws {
        let ends = try Connection()
        let raw = ends.near.descriptor.raw
        TCPSocket.shutdown(raw)
        let error = #expect(throws: SystemError.self) {
            while true { _ = try ([1] as [UInt8]).withUnsafeBytes { try TCPSocket.send(raw, $0) } }
        }
        #expect(error?.code == EPIPE || error?.code == ECONNRESET)
    }

    @Test("Nothing to read is nil at once, and on a blocking socket when its limit has passed")
    func nothingYet() throws {
        let ends = try Connection()
        let raw = ends.near.descriptor.raw
        #expect(try Self.receive(raw) == nil)
        ends.near.makeBlocking(receiveSeconds: 0.02, sendSeconds: 0.02)
        let begin = BootClock.now()
        #expect(try Self.receive(raw) == nil)
        #expect(BootClock.now() - begin >= 0.01)
    }

    @Test("A port nobody listens on refuses")
    func refused() throws {
        let port = try TCPListener(port: 0).port  // closed again when this line is over
        let error = #expect(throws: SystemError.self) {
            _ = try TCPSocket.connected(to: PeerAddress(.v4([127, 0, 0, 1]), port: port), seconds: 5)
        }
        #expect(error?.code == ECONNREFUSED)
    }

    @Test("A connection that met itself is refused")
    func selfConnected() throws {
        let raw = CInt(try retrying("socket") { Int(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)) })
        let made = TCPSocket(owning: OwnedDescriptor(owning: raw))
        let any = PeerAddress(.v4([127, 0, 0, 1]), port: 0)
        try retrying("bind") { SocketAddress.with(any) { Int(bind(raw, $0, $1)) } }
        let bound = made.localAddress
        let own = try #require(bound)
        try retrying("connect") { SocketAddress.with(own) { Int(connect(raw, $0, $1)) } }
        let error = #expect(throws: SystemError.self) { try made.checkConnected() }
        #expect(error == SystemError(call: "connect", code: ECONNREFUSED))
    }

    private static func option(_ raw: CInt, _ level: CInt, _ name: CInt) -> CInt {
        var value: CInt = -1
        var size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(raw, level, name, &value, &size)
        return value
    }

    @Test(
        "Both classes of traffic carry their own DSCP and local priority",
        arguments: [(TrafficClass.interactive, 18, 6), (.bulk, 8, 2)] as [(TrafficClass, CInt, CInt)])
    func marks(traffic: TrafficClass, dscp: CInt, priority: CInt) throws {
        let ends = try Connection()
        ends.near.mark(traffic)
        let raw = ends.near.descriptor.raw
        #expect(Self.option(raw, CInt(IPPROTO_IP), IP_TOS) >> 2 == dscp)
        #expect(Self.option(raw, SOL_SOCKET, SO_PRIORITY) == priority)
        #expect(Self.option(raw, CInt(IPPROTO_TCP), TCP_NODELAY) == 1)
    }
}

/// A connection over loopback.
private struct Connection: ~Copyable {
    let near: TCPSocket
    let far: TCPSocket

    init() throws {
        let listener = try TCPListener(port: 0)
        let dialled = try TCPSocket.connected(to: PeerAddress(.v4([127, 0, 0, 1]), port: listener.port), seconds: 5)
        guard let accepted = try listener.accept() else { throw SystemError(call: "accept", code: EAGAIN) }
        near = dialled
        far = accepted
    }
}
