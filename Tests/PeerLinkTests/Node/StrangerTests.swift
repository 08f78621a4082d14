import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("Strangers that hold connections") struct StrangerTests {
    /// Connects as anyone with a key may, sends `first` behind the hello, and gives how many seconds it is let stay.
    private static func stay(at address: PeerAddress, sending first: ControlMessage?) async throws -> Double {
        let key = SigningKey.generate()
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try BlockingThread.spawn("stranger") {
                    continuation.resume(with: Result { try connect(to: address, key: key, sending: first) })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private static func connect(
        to address: PeerAddress, key: SigningKey, sending first: ControlMessage?
    ) throws -> Double {
        let socket = try TCPSocket.connected(to: address, seconds: 5)
        socket.makeBlocking(receiveSeconds: 15, sendSeconds: 5)
        var stream = TLSStream(socket: socket, tls: TLSEngine(TLSContext(key: key), side: .dialler(.control)))
        try stream.shakeHands()
        guard case .hello(let theirs) = try stream.readMessage() else { throw StreamError.violation("no hello") }
        try stream.write(ControlMessage.hello(theirs).encoded())
        if let first { try stream.write(first.encoded()) }
        try stream.flushAll()
        let start = BootClock.now()
        while true {
            do throws(StreamError) { _ = try stream.readAll(1) } catch {
                guard error != .stalled else { throw error }
                return BootClock.now() - start
            }
        }
    }

    @Test("A key alone does not keep a connection: who does not invite is sent away", .timeLimit(.minutes(8)))
    func silence() async throws {
        let node = try TestNode("host")
        let port = try #require(try await node.engine.start())
        let address = PeerAddress(.v4([127, 0, 0, 1]), port: port)
        let seconds = try await Self.stay(at: address, sending: nil)
        #expect(seconds < Limits.handshake + 2)
        await node.engine.stop()
    }

    @Test("A first frame that is no invitation ends the connection at once", .timeLimit(.minutes(8)))
    func noInvitation() async throws {
        let node = try TestNode("host")
        let port = try #require(try await node.engine.start())
        let address = PeerAddress(.v4([127, 0, 0, 1]), port: port)
        let seconds = try await Self.stay(at: address, sending: .seen(n: 1))
        #expect(seconds < Limits.handshake - 1)
        await node.engine.stop()
    }
}
