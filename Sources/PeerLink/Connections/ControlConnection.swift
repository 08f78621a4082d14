internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// One connection on the event loop, from its first byte to its end: handshake, hello, then frames.
///
/// Owned by the engine and only touched on its loop. What it finds it returns; the engine decides.
final class ControlConnection {
    enum Stage {
        case connecting, handshaking, greeting, open, closing, closed
    }

    let id: ConnectionID
    let isDialled: Bool
    let address: PeerAddress
    private(set) var remote: RemotePeer?
    private(set) var hello: Hello?
    private let expected: PeerID?
    var stage: Stage
    var stream: TLSStream?
    var decoder = FrameDecoder()
    private var greeter: HelloMachine
    private var liveness: Liveness
    let started: Instant
    /// Whether the other side has sent what it came for; until then it is a stranger, whatever its key.
    private(set) var hasSpoken: Bool
    private let traffic = TrafficClass.interactive

    // What waits to be sent.
    /// When some of it went out, or the first of it came.
    var movedAt: Instant
    /// Whether it has been too much, and for how long, see `isCrowded`.
    var crowd: Crowd
    /// Whether others wait for this one to read, so that it may not take for ever.
    var isWaitedFor = false
    var closingSince: Instant?
    /// What the end of a goodbye is.
    var goodbye = Ending.closedHere

    /// Whether nothing is read for now, because what would come could not be passed on.
    private(set) var isPaused = false

    /// A connection that was accepted, or one that is being dialled; `expected` is whose key must be there.
    init(
        _ id: ConnectionID, socket: consuming TCPSocket, address: PeerAddress, dialling: Plane?, expected: PeerID?,
        context: TLSContext, hello: Hello, now: Instant
    ) {
        self.id = id
        self.address = address
        self.expected = expected
        isDialled = dialling != nil
        hasSpoken = dialling != nil
        stage = isDialled ? .connecting : .handshaking
        crowd = Crowd(at: now)
        greeter = HelloMachine(side: isDialled ? .dialler : .listener, own: hello)
        let tls = TLSEngine(context, side: dialling.map { .dialler($0) } ?? .listener)
        stream = TLSStream(socket: socket, tls: tls)
        liveness = Liveness(now: now)
        (started, movedAt) = (now, now)
    }

    /// The socket, for the event loop; `nil` once it was released or handed on.
    var descriptor: CInt? { stream?.socket.descriptor.raw }

    /// When `timerFired` has something to do next.
    var deadline: Instant? {
        switch stage {
        case .open where hasSpoken: min(liveness.deadline, stuckDeadline ?? liveness.deadline)
        case .closing: closingDeadline
        case .closed: nil
        default: started + Limits.handshake
        }
    }

    func timerFired(now: Instant) -> [Event] {
        switch stage {
        case .closed: return []
        case .open where hasSpoken:
            if let stuckDeadline, now >= stuckDeadline { return end(.silent) }
            switch liveness.timerFired(now: now) {
            case .ping?: return send(.ping)
            // Whatever waits to be sent shows as well that this side is alive.
            case .pong?: return pendingOutput == 0 ? send(.pong) : []
            case .dead?: return end(.silent)
            case nil: return []
            }
        case .closing: return now >= closingDeadline ? end(goodbye) : []
        default: return now >= started + Limits.handshake ? end(.timedOut) : []
        }
    }

    // MARK: Input

    /// What the loop should wait for.
    var interest: Readiness {
        if stage == .connecting { return .writable }
        var interest: Readiness = isReading ? .readable : []
        if pendingOutput > 0 { interest.insert(.writable) }
        return interest
    }

    private var isReading: Bool { !isPaused || stage != .open }

    /// Stops or goes on reading; meanwhile its silence means nothing, and the other side is told that this one is there.
    func setPaused(_ isPaused: Bool, now: Instant) {
        guard self.isPaused != isPaused else { return }
        self.isPaused = isPaused
        if isPaused { liveness.pause(now: now) } else { liveness.resume(now: now) }
    }

    func ready(_ readiness: Readiness, now: Instant) -> [Event] {
        var events: [Event] = []
        do throws(Ending) {
            if stage == .connecting {
                guard readiness.contains(.writable) else { return [] }
                try connected()
            }
            // One that broke is looked at: what it has sent before may be its goodbye.
            if readiness.contains(.readable), isReading || readiness.contains(.broken) {
                try receive(&events, now: now)
            }
            try flush()
        } catch {
            events += end(error)
        }
        return events
    }

    private func connected() throws(Ending) {
        do throws(SystemError) { try stream?.socket.checkConnected() } catch { throw .failed(.system(error)) }
        stage = .handshaking
        stream?.socket.mark(traffic)
        try shakeHands()
    }

    /// Reads a bounded amount, so that one busy connection does not keep the others waiting.
    private func receive(_ events: inout [Event], now: Instant) throws(Ending) {
        for _ in 0..<8 {
            let received: TLSStream.Received?
            do throws(StreamError) { received = try stream?.receive() } catch {
                throw stage == .closing ? goodbye : .failed(error)
            }
            guard received == .some else {
                if received == .ended { throw stage == .closing ? goodbye : .failed(.ended) }
                return
            }
            if stage == .closing {
                try discard()
                continue
            }
            liveness.received(now: now)
            if stage == .handshaking { try shakeHands() }
            if stage == .greeting || stage == .open { try read(&events) }
            if stage == .closing { try discard() }
            // What follows a ticket is for the thread that gets the stream: not one byte more is taken here.
            if case .ticket? = events.last { return }
            guard stream != nil else { return }
        }
    }

    /// What still comes is read and dropped: a socket closed with unread bytes resets the connection, and that would destroy
    /// the goodbye on its way (RFC 2525, section 2.17).
    private func discard() throws(Ending) {
        try withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 16) { buffer throws(Ending) in
            do throws(StreamError) {
                while let count = try stream?.read(into: buffer), count > 0 {}
            } catch {
                throw goodbye
            }
        }
    }

    private func shakeHands() throws(Ending) {
        do throws(TLSError) {
            guard try stream?.tls.handshake() == true else { return }
        } catch {
            throw .failed(.tls(error))
        }
        guard let key = stream?.tls.peerKey else { throw .failed(.tls(.unusable)) }
        let peer = key.peerID
        if let expected, peer != expected { throw .wrongKey(peer) }
        remote = RemotePeer(peer: Peer(id: peer, name: ""), key: key.spki)
        stage = .greeting
        for message in greeter.greeting { try write(message) }
    }

    private func read(_ events: inout [Event]) throws(Ending) {
        let size = 32 << 10
        try withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer throws(Ending) in
            while true {
                let count: Int?
                do throws(StreamError) { count = try stream?.read(into: buffer) } catch { throw .failed(error) }
                guard let count else { return }
                guard count > 0 else { throw .failed(.ended) }
                decoder.append(Array(buffer[..<count]))
                while let message = try nextMessage() {
                    try take(message, &events)
                    guard stage == .open || stage == .greeting else { return }
                    // The frames behind a ticket are for the thread that gets the stream.
                    if case .ticket? = events.last { return }
                }
            }
        }
    }

    private func nextMessage() throws(Ending) -> ControlMessage? {
        do throws(WireError) {
            guard let frame = try decoder.next() else { return nil }
            return try ControlMessage(frame)
        } catch {
            throw .failed(.wire(error))
        }
    }

    private var isData: Bool { stream?.tls.plane == .data }

    private func take(_ message: ControlMessage, _ events: inout [Event]) throws(Ending) {
        if stage == .greeting { return try greet(message, &events) }
        if isData {
            guard case .open(let open) = message else { throw .failed(.violation("no ticket")) }
            hasSpoken = true
            events.append(.ticket(open))
            return
        }
        if hasSpoken { decoder.maximumPayload = Limits.controlPayload }
        switch message {
        case .ping:
            guard liveness.ping(now: BootClock.now()) else { throw .failed(.violation("pings without end")) }
            // Whatever waits to be sent shows as well that this side is alive.
            if pendingOutput == 0 { try write(.pong) }
        case .pong, .unknown: break
        case .hello, .open: throw .failed(.violation("a second hello"))
        case .refuse(let min, let max): throw .incompatible(min: min, max: max)
        default:
            // Who dials comes to invite; nothing else may hold a connection.
            if !hasSpoken {
                guard case .invite = message else { throw .failed(.violation("no invitation")) }
                hasSpoken = true
                decoder.maximumPayload = Limits.controlPayload
            }
            events.append(.message(message))
        }
    }

    private func greet(_ message: ControlMessage, _ events: inout [Event]) throws(Ending) {
        switch greeter.receive(message) {
        case .open(let hello, _, let send):
            for message in send { try write(message) }
            guard let proved = remote else { return }
            let named = RemotePeer(peer: Peer(id: proved.peer.id, name: hello.name.description), key: proved.key)
            remote = named
            self.hello = hello
            stage = .open
            if isDialled { decoder.maximumPayload = Limits.controlPayload }
            if !isData { events.append(.opened(named, hello)) }
        case .incompatible(let min, let max, let send):
            guard !send.isEmpty else { throw .incompatible(min: min, max: max) }
            for message in send { try write(message) }
            goodbye = .incompatible(min: min, max: max)
            events += closeAfterSending()
        case .violation: throw .failed(.violation("no hello"))
        case .ignore: break
        }
    }
}
