import Glibc
import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

/// A peer whose side of the protocol a test writes out, on a blocking thread of its own.
struct ScriptedPeer: Sendable {
    let key: SigningKey
    let name: String
    private let listener: TCPListener

    init(_ name: String, key: SigningKey = .generate()) throws {
        self.key = key
        self.name = name
        listener = try TCPListener(port: 0)
    }

    /// Where it can be invited.
    var address: PeerReference { PeerReference("127.0.0.1:\(listener.port)") }

    /// Waits for one connection and plays its part on it.
    func listen<Value: Sendable>(
        _ script: @escaping @Sendable (inout TLSStream) throws -> Value
    ) async throws -> Value {
        try await onThread {
            while true {
                if let socket = try listener.accept() {
                    // So that little fits on the way, and what is not read shows at the other side.
                    var size: CInt = 64 << 10
                    setsockopt(
                        socket.descriptor.raw, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
                    return try play(socket, .listener, script)
                }
                usleep(1000)
            }
        }
    }

    /// Connects and plays its part.
    func dial<Value: Sendable>(
        port: UInt16, _ script: @escaping @Sendable (inout TLSStream) throws -> Value
    ) async throws -> Value {
        try await onThread {
            let address = PeerAddress(.v4([127, 0, 0, 1]), port: port)
            return try play(try TCPSocket.connected(to: address, seconds: 5), .dialler(.control), script)
        }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try BlockingThread.spawn("scripted") { continuation.resume(with: Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private func play<Value>(
        _ socket: consuming TCPSocket, _ side: TLSEngine.Side, _ script: (inout TLSStream) throws -> Value
    ) throws -> Value {
        socket.makeBlocking(receiveSeconds: 20, sendSeconds: 20)
        var stream = TLSStream(socket: socket, tls: TLSEngine(TLSContext(key: key), side: side))
        try stream.shakeHands()
        return try script(&stream)
    }

    // MARK: Parts of scripts

    func hello(port: UInt16 = 1, versions: ClosedRange<Int> = 1...1) throws -> Hello {
        Hello(
            min: versions.lowerBound, max: versions.upperBound, run: try #require(RunID("abcd2345")),
            name: try DisplayName(name), port: port, addresses: [])
    }

    /// As the one who was dialled: accepts the invitation, and is in the chat.
    func join(_ stream: inout TLSStream) throws {
        try stream.tell(.hello(try hello()))
        guard case .hello = try stream.hear(), case .invite(let invite) = try stream.hear() else {
            throw StreamError.violation("no invitation")
        }
        let host = try #require(stream.tls.peerKey?.peerID)
        let join = Join(
            chat: invite.chat, host: host, nonce: invite.nonce,
            memberNonce: [UInt8](repeating: 2, count: Join.nonceSize), key: key.publicKey.spki,
            name: try DisplayName(name))
        let signed = SignedBytes(bytes: join.bytes(), signature: key.sign(join.bytes()))
        try stream.tell(.answer(InviteAnswer(chat: invite.chat, accepting: signed)))
        while true {
            if case .welcome = try stream.hear() { return }
        }
    }
}

extension TLSStream {
    mutating func tell(_ message: ControlMessage) throws {
        try write(message.encoded())
        try flushAll()
    }

    /// The next frame of any size; pings are answered.
    mutating func hear() throws -> ControlMessage {
        while true {
            let header = try FrameHeader(parsing: try readAll(FrameHeader.size))
            let message = try ControlMessage(RawFrame(kind: header.kind, payload: try readAll(header.length)))
            guard message == .ping else { return message }
            try tell(.pong)
        }
    }

    /// How it ends, when nothing more comes before that.
    mutating func ending() -> StreamError? {
        do throws(StreamError) { _ = try readAll(1) } catch { return error }
        return nil
    }

    /// Reads the chat until so many lines have come; gives how many had when it ended.
    mutating func hearLines(_ count: Int) throws -> Int {
        var lines = 0
        while lines < count {
            switch try hear() {
            case .event(let n, let bytes):
                if case .said = try ChatEvent(parsing: bytes).body { lines += 1 }
                try tell(.seen(n: n))
            case .end: return lines
            default: break
            }
        }
        return lines
    }
}
