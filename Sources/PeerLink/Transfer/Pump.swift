internal import Glibc
internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire
internal import Synchronization

/// A data thread from outside: it can be stopped, and only its own thread closes its socket.
final class Pump: Sendable {
    private struct State {
        var isCancelled = false
        var descriptor: CInt?
    }

    private let state = Mutex(State())

    /// Makes every call of the thread on its socket return; the thread then ends.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let descriptor = state.descriptor { shutdown(descriptor, CInt(SHUT_RDWR)) }
        }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Runs `body` with the stream, which is closed in the end.
    func run(
        _ stream: consuming TLSStream, _ body: (inout TLSStream) throws(StreamError) -> Void
    ) throws(StreamError) {
        var stream = stream
        let raw = stream.socket.descriptor.raw
        let isCancelled = state.withLock { state in
            state.descriptor = raw
            return state.isCancelled
        }
        defer { state.withLock { $0.descriptor = nil } }  // before the socket is closed, so that no other is shut down
        guard !isCancelled else { throw .ended }
        stream.socket.mark(.bulk)
        stream.socket.makeBlocking(receiveSeconds: Limits.dataSilence, sendSeconds: Limits.dataSilence)
        try body(&stream)
    }
}

/// How a data connection comes about: dialled here with a ticket, or accepted and recognised by its ticket.
struct DataRoute: Sendable {
    let address: PeerAddress
    let expected: PeerID
    let open: Open
    let hello: Hello
    let context: TLSContext

    /// Dials, greets and shows the ticket; on a thread that may block.
    func connect() throws(StreamError) -> TLSStream {
        let socket: TCPSocket
        do throws(SystemError) {
            socket = try TCPSocket.connected(to: address, seconds: Limits.dial)
        } catch {
            throw .system(error)
        }
        socket.makeBlocking(receiveSeconds: Limits.handshake, sendSeconds: Limits.handshake)
        var stream = TLSStream(socket: socket, tls: TLSEngine(context, side: .dialler(.data)))
        try stream.shakeHands()
        guard stream.tls.peerKey?.peerID == expected else { throw .wrongKey }
        guard case .hello = try stream.readMessage() else { throw .violation("no hello") }
        try stream.write(ControlMessage.hello(hello).encoded())
        try stream.write(ControlMessage.open(open).encoded())
        try stream.flushAll()
        return stream
    }
}

/// Moves a stream that the event loop gave up to the thread that takes it.
final class StreamBox: Sendable {
    private let stream: Mutex<TLSStream?>
    init(_ stream: consuming TLSStream) { self.stream = Mutex(stream) }
    func take() -> TLSStream? { stream.withLock { $0.take() } }
}
