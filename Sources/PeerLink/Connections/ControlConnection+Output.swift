internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// The sending side of a connection, and its end.
extension ControlConnection {
    /// Queues a frame and sends what can be sent.
    func send(_ message: ControlMessage) -> [Event] { send(frame: message.encoded()) }

    /// The same with a frame that was encoded before, for many.
    func send(frame: [UInt8]) -> [Event] {
        guard stage == .open else { return [] }
        do throws(Ending) {
            try write(frame: frame)
            try flush()
            return []
        } catch {
            return end(error)
        }
    }

    func write(_ message: ControlMessage) throws(Ending) { try write(frame: message.encoded()) }

    private func write(frame: [UInt8]) throws(Ending) {
        // Who does not read is as good as gone, and may not fill the memory.
        guard pendingOutput < Limits.controlBacklog else { throw .silent }
        if pendingOutput == 0 { movedAt = BootClock.now() }
        do throws(StreamError) { try stream?.write(frame) } catch { throw .failed(error) }
    }

    func flush() throws(Ending) {
        guard stream != nil, stage != .connecting else { return }
        let before = pendingOutput
        do throws(StreamError) {
            let isEmpty = try stream?.flush() ?? true
            if isEmpty, stage == .closing { stream?.socket.endSending() }
        } catch {
            throw stage == .closing ? goodbye : .failed(error)
        }
        let now = BootClock.now()
        if pendingOutput < before { movedAt = now }
        crowd.note(waiting: pendingOutput, sent: max(0, before - pendingOutput), at: now)
    }

    // MARK: What waits

    /// Bytes that wait for the socket.
    var pendingOutput: Int { stream?.tls.pendingOutput ?? 0 }

    /// Whether so much waits that nothing should be added; it stays so until most of it has gone out.
    var isCrowded: Bool { stage == .open && crowd.isCrowded }

    /// When one that others wait for has taken nothing, or not enough, for too long.
    var stuckDeadline: Instant? {
        guard isWaitedFor, isCrowded || isPaused, pendingOutput > 0 else { return nil }
        let still = movedAt + Limits.deadAfter
        return crowd.deadline.map { min(still, $0) } ?? still
    }

    // MARK: The end

    /// A goodbye takes as long as something of it moves.
    var closingDeadline: Instant {
        min(movedAt + Limits.closing, (closingSince ?? started) + Limits.crowded)
    }

    /// Closes once everything queued has gone out.
    func closeAfterSending() -> [Event] {
        guard stage == .open || stage == .greeting else { return end(goodbye) }
        stage = .closing
        let now = BootClock.now()
        (closingSince, movedAt) = (now, now)
        stream?.tls.close()
        do throws(Ending) {
            try flush()
            return []
        } catch {
            return end(error)
        }
    }

    /// Closes now.
    func end(_ ending: Ending) -> [Event] {
        guard stage != .closed else { return [] }
        stage = .closed
        return [.closed(ending)]
    }

    /// Gives up the socket; the engine has unregistered it before.
    func release() { stream = nil }

    /// Hands the stream to a data thread, with what was read ahead.
    func takeStream() -> TLSStream? {
        stage = .closed
        var taken = stream.take()
        taken?.early = decoder.takeRest()
        return taken
    }
}
