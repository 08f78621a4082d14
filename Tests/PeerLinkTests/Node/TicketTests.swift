import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("Data connections that are handed on") struct TicketTests {
    private enum Step: Int { case start, greeted, sent }

    /// More than one read of the socket takes, so that some of it is still there when the ticket is recognised.
    private static let following = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private static func hello(_ name: String) throws -> Hello {
        let run = try #require(RunID("abcdefgh"))
        return Hello(run: run, name: try DisplayName(name), port: 0, addresses: [])
    }

    @Test("Nothing that follows the ticket is lost, however much has come already", .timeLimit(.minutes(8)))
    func nothingIsLost() throws {
        let listener = try TCPListener(port: 0)
        let address = PeerAddress(.v4([127, 0, 0, 1]), port: listener.port)
        let open = Open(transfer: TransferID(SHA256.hash([1])), ticket: [UInt8](repeating: 7, count: 16))
        let step = Monitor(Step.start), hello = try Self.hello("dialler")
        try BlockingThread.spawn("dialler") {
            _ = try? Self.dial(address, hello, open, step)
        }
        var accepted: ControlConnection?
        while accepted == nil {
            guard let socket = try listener.accept() else { continue }
            accepted = ControlConnection(
                ConnectionID(1), socket: socket, address: address, dialling: nil, expected: nil,
                context: TLSContext(key: .generate()), hello: try Self.hello("listener"), now: BootClock.now())
        }
        let connection = try #require(accepted)
        while step.read({ $0 == .start }) {
            #expect(connection.ready([.readable, .writable], now: BootClock.now()).isEmpty)
        }
        // Everything is in the socket before the loop looks again.
        #expect(step.wait(seconds: 20) { $0 == .sent ? true : nil } == true)
        let events = connection.ready([.readable], now: BootClock.now())
        #expect(events.count == 1)
        guard case .ticket(open)? = events.first else {
            Issue.record("no ticket")
            return
        }
        guard var stream = connection.takeStream() else {
            Issue.record("no stream")
            return
        }
        stream.socket.makeBlocking(receiveSeconds: 10, sendSeconds: 10)
        let rest = try stream.readAll(Self.following.count)
        #expect(rest == Self.following)
    }

    private static func dial(
        _ address: PeerAddress, _ hello: Hello, _ open: Open, _ step: Monitor<Step>
    ) throws {
        let socket = try TCPSocket.connected(to: address, seconds: 5)
        socket.makeBlocking(receiveSeconds: 20, sendSeconds: 20)
        var stream = TLSStream(socket: socket, tls: TLSEngine(TLSContext(key: .generate()), side: .dialler(.data)))
        try stream.shakeHands()
        _ = try stream.readMessage()
        step.update { $0 = .greeted }
        try stream.write(ControlMessage.hello(hello).encoded())
        try stream.write(ControlMessage.open(open).encoded())
        try stream.write(following)
        try stream.flushAll()
        step.update { $0 = .sent }
        _ = try? stream.readAll(1)  // until the other side has closed
    }
}
