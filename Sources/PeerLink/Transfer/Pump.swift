internal import PeerModel
internal import PeerProtocol
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
            if let descriptor = state.descriptor { TCPSocket.shutdown(descriptor) }
        }
    }

    /// Runs `body` with the connection's stream, which is closed in the end.
    func run(
        _ origin: DataOrigin, _ body: (inout TLSStream) throws(StreamError) -> Void
    ) throws(StreamError) {
        var stream: TLSStream
        switch origin {
        case .dial(let route): stream = try route.start()
        case .accepted(let box):
            guard let accepted = box.take() else { throw .ended }
            stream = accepted
        }
        // Before anything waits, so that whatever it waits for can be cancelled.
        let raw = stream.socket.descriptor.raw
        let isCancelled = state.withLock { state in
            state.descriptor = raw
            return state.isCancelled
        }
        defer { state.withLock { $0.descriptor = nil } }  // before the socket is closed, so that no other is shut down
        guard !isCancelled else { throw .ended }
        if case .dial(let route) = origin { try route.finish(&stream) }
        stream.socket.mark(.bulk)
        stream.socket.makeBlocking(receiveSeconds: Limits.dataSilence, sendSeconds: Limits.dataSilence)
        try body(&stream)
    }
}

/// Where a data connection comes from: dialled here with a ticket, or accepted and recognised by its ticket.
enum DataOrigin: Sendable {
    case dial(DataRoute)
    case accepted(StreamBox)
}

/// A neighbour's address for data connections, and what to show there.
struct DataRoute: Sendable {
    let address: PeerAddress
    let expected: PeerID
    let open: Open
    let hello: Hello
    let context: TLSContext

    /// Begins to connect.
    fileprivate func start() throws(StreamError) -> TLSStream {
        do throws(SystemError) {
            return TLSStream(
                socket: try TCPSocket.connecting(to: address), tls: TLSEngine(context, side: .dialler(.data)))
        } catch {
            throw .system(error)
        }
    }

    /// Connects, greets and shows the ticket, all in the time that a handshake may take; on a thread that may block.
    fileprivate func finish(_ stream: inout TLSStream) throws(StreamError) {
        do throws(SystemError) { try stream.socket.waitConnected(seconds: Limits.dial) } catch { throw .system(error) }
        stream.socket.makeBlocking(receiveSeconds: Limits.handshake, sendSeconds: Limits.handshake)
        stream.deadline = BootClock.now() + Limits.handshake
        try stream.shakeHands()
        guard stream.tls.peerKey?.peerID == expected else { throw .wrongKey }
        try greet(&stream)
        try stream.write(ControlMessage.open(open).encoded())
        try stream.flushAll()
        stream.deadline = nil
    }

    private func greet(_ stream: inout TLSStream) throws(StreamError) {
        var greeter = HelloMachine(side: .dialler, own: hello)
        while true {
            switch greeter.receive(try stream.readMessage()) {
            case .open(_, _, let answer):
                for message in answer { try stream.write(message.encoded()) }
                return
            case .incompatible(_, _, let refusal):
                for message in refusal { try stream.write(message.encoded()) }
                try stream.flushAll()
                throw .violation("no common version")
            case .violation: throw .violation("no hello")
            case .ignore: continue
            }
        }
    }
}

/// Moves a stream that the event loop gave up to the thread that takes it.
final class StreamBox: Sendable {
    private let stream: Mutex<TLSStream?>
    init(_ stream: consuming TLSStream) { self.stream = Mutex(stream) }
    func take() -> TLSStream? { stream.withLock { $0.take() } }
}
