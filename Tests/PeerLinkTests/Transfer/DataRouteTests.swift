import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("Dialling a data connection", .timeLimit(.minutes(8))) struct DataRouteTests {
    /// What the listener sends in its first frames.
    enum Greeting: String, CaseIterable, Sendable {
        case hello, unknownFirst, refusal, otherVersions
    }

    private static let open = Open(transfer: TransferID(SHA256.hash([1])), ticket: [UInt8](repeating: 7, count: 16))

    private static func hello(min: Int = 1, max: Int = 1) throws -> Hello {
        Hello(
            min: min, max: max, run: try #require(RunID("abcdefgh")), name: try DisplayName("x"), port: 0,
            addresses: [])
    }

    /// Answers one connection and gives the frames it was sent.
    private static func answer(_ listener: TCPListener, _ key: SigningKey, _ greeting: Greeting) throws
        -> [ControlMessage]
    {
        var accepted: TLSStream?
        while accepted == nil {
            guard let socket = try listener.accept() else { continue }
            socket.makeBlocking(receiveSeconds: 5, sendSeconds: 5)
            accepted = TLSStream(socket: socket, tls: TLSEngine(TLSContext(key: key), side: .listener))
        }
        guard var stream = accepted.take() else { return [] }
        try stream.shakeHands()
        switch greeting {
        case .hello: try stream.write(ControlMessage.hello(hello()).encoded())
        case .unknownFirst:
            try stream.write(encodeFrame(kind: 200, payload: [1, 2, 3]))
            try stream.write(ControlMessage.hello(hello()).encoded())
        case .refusal: try stream.write(ControlMessage.refuse(min: 8, max: 9).encoded())
        case .otherVersions: try stream.write(ControlMessage.hello(hello(min: 8, max: 9)).encoded())
        }
        try stream.flushAll()
        var messages: [ControlMessage] = []
        while messages.count < 2, let message = try? stream.readMessage() { messages.append(message) }
        return messages
    }

    @Test("Unknown frames before the hello are skipped, and other versions are refused", arguments: Greeting.allCases)
    func greets(_ greeting: Greeting) async throws {
        let listener = try TCPListener(port: 0), key = SigningKey.generate(), own = try Self.hello()
        let heard = Monitor<[ControlMessage]?>(nil), error = Monitor<StreamError??>(nil)
        try BlockingThread.spawn("listener") {
            let messages = (try? Self.answer(listener, key, greeting)) ?? []
            heard.update { $0 = messages }
        }
        let route = DataRoute(
            address: PeerAddress(.v4([127, 0, 0, 1]), port: listener.port), expected: key.publicKey.peerID,
            open: Self.open, hello: own, context: TLSContext(key: .generate()))
        try BlockingThread.spawn("dialler") {
            var thrown: StreamError?
            do throws(StreamError) {
                try Pump().run(.dial(route)) { (_) throws(StreamError) in }
            } catch {
                thrown = error
            }
            error.update { $0 = .some(thrown) }
        }
        while heard.read({ $0 == nil }) || error.read({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
        let messages = heard.read { $0 ?? [] }, thrown = error.read { $0 ?? nil }
        switch greeting {
        case .hello, .unknownFirst:
            #expect(thrown == nil)
            #expect(messages == [.hello(own), .open(Self.open)])
        case .refusal:
            #expect(thrown == .violation("no common version"))
            #expect(messages.isEmpty)
        case .otherVersions:
            #expect(thrown == .violation("no common version"))
            #expect(messages == [.refuse(min: ProtocolVersion.lowest, max: ProtocolVersion.highest)])
        }
    }
}
