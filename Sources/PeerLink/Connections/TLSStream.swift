internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// Why a connection cannot go on.
enum StreamError: Error, Equatable, Sendable {
    case system(SystemError)
    case tls(TLSError)
    case wire(WireError)
    /// The other side ended the stream.
    case ended
    /// Nothing moved for as long as it may.
    case stalled
    /// Another key than the one expected.
    case wrongKey
    /// What came is not what this point of the protocol allows.
    case violation(String)
}

/// A socket and the TLS on it: for the event loop while the socket does not block, for one thread once it does.
struct TLSStream: ~Copyable, Sendable {
    enum Received: Equatable {
        case some, blocked, ended
    }

    let socket: TCPSocket
    var tls: TLSEngine
    /// When a blocking stream gives up, however little comes at a time.
    var deadline: Instant?
    /// Decrypted bytes that were read before the stream was handed on; they come first.
    var early: [UInt8] = []

    init(socket: consuming TCPSocket, tls: consuming TLSEngine) {
        self.socket = socket
        self.tls = tls
    }

    /// Takes what the socket has, once.
    mutating func receive() throws(StreamError) -> Received {
        let raw = socket.descriptor.raw
        var result = Received.blocked
        do throws(SystemError) {
            try tls.fill { (buffer) throws(SystemError) -> Int in
                switch try TCPSocket.receive(raw, into: buffer) {
                case nil: return 0
                case 0?:
                    result = .ended
                    return 0
                case let count?:
                    result = .some
                    return count
                }
            }
        } catch {
            throw .system(error)
        }
        return result
    }

    /// Sends what the socket takes; true when nothing is left.
    mutating func flush() throws(StreamError) -> Bool {
        let raw = socket.descriptor.raw
        var isBlocked = false
        while tls.pendingOutput > 0, !isBlocked {
            do throws(SystemError) {
                try tls.drain { (bytes) throws(SystemError) -> Int in
                    let count = try TCPSocket.send(raw, bytes)
                    isBlocked = count == nil
                    return count ?? 0
                }
            } catch {
                throw .system(error)
            }
        }
        return !isBlocked
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? {
        do throws(TLSError) { return try tls.read(into: buffer) } catch { throw .tls(error) }
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(StreamError) {
        do throws(TLSError) { try tls.write(bytes) } catch { throw .tls(error) }
    }

    mutating func updateKey() throws(StreamError) {
        do throws(TLSError) { try tls.updateKey() } catch { throw .tls(error) }
    }

    mutating func write(_ bytes: [UInt8]) throws(StreamError) {
        let result: Result<Void, StreamError> = bytes.withUnsafeBytes { buffer in
            do throws(StreamError) { return .success(try write(buffer)) } catch { return .failure(error) }
        }
        try result.get()
    }
}

extension TLSStream {
    // MARK: On a blocking socket

    /// Fills the buffer; a socket's time limit that passes is `stalled`.
    mutating func readAll(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) {
        var filled = min(early.count, buffer.count)
        if filled > 0 {
            buffer.copyBytes(from: early[..<filled])
            early.removeFirst(filled)
        }
        while filled < buffer.count {
            switch try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])) {
            case 0?: throw .ended
            case let count?: filled += count
            case nil: try wait()
            }
        }
    }

    /// Waits until more has come.
    private mutating func wait() throws(StreamError) {
        if let deadline, BootClock.now() >= deadline { throw .stalled }
        switch try receive() {
        case .some: return
        case .ended: throw .ended
        case .blocked: throw .stalled
        }
    }

    mutating func readAll(_ count: Int) throws(StreamError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result: Result<Void, StreamError> = bytes.withUnsafeMutableBytes { buffer in
            do throws(StreamError) { return .success(try readAll(into: buffer)) } catch { return .failure(error) }
        }
        try result.get()
        return bytes
    }

    /// Sends everything that was written.
    mutating func flushAll() throws(StreamError) {
        guard try flush() else { throw .stalled }
    }

    /// One control frame, for the first frames of a data connection.
    mutating func readMessage() throws(StreamError) -> ControlMessage {
        let head = try readAll(FrameHeader.size)
        guard let header = try? FrameHeader(parsing: head), header.length <= Limits.firstPayload else {
            throw .violation("a first frame that is too large")
        }
        let payload = try readAll(header.length)
        guard let message = try? ControlMessage(RawFrame(kind: header.kind, payload: payload)) else {
            throw .violation("a first frame that cannot be read")
        }
        return message
    }

    /// Completes the handshake as the one who dials.
    mutating func shakeHands() throws(StreamError) {
        while try !goOn() {
            try flushAll()
            try wait()
        }
        try flushAll()
    }

    private mutating func goOn() throws(StreamError) -> Bool {
        do throws(TLSError) { return try tls.handshake() } catch { throw .tls(error) }
    }
}
