internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// Connections, from their sockets to what the machine hears of them.
extension NodeEngine {
    @discardableResult
    func add(
        _ socket: consuming TCPSocket, address: PeerAddress, dialling: Plane?, expected: PeerID?
    ) -> ConnectionID {
        lastConnection += 1
        let id = ConnectionID(lastConnection)
        let connection = ControlConnection(
            id, socket: socket, address: address, dialling: dialling, expected: expected, context: context,
            hello: hello, now: BootClock.now())
        connections[id] = connection
        guard let raw = connection.descriptor else { return id }
        tokens[id] = try? loop.register(raw: raw, connection.interest) { [weak self] readiness in
            self?.assumeIsolated { $0.ready(id, readiness) }
        }
        if tokens[id] == nil { handle(connection.end(.closedHere), of: connection) }
        rearm()
        return id
    }

    private func ready(_ id: ConnectionID, _ readiness: Readiness) {
        guard let connection = connections[id] else { return }
        handle(connection.ready(readiness, now: BootClock.now()), of: connection)
        carryOutEffects()
    }

    func handle(_ found: [ControlConnection.Event], of connection: ControlConnection) {
        for event in found {
            switch event {
            case .opened(let remote, let hello): opened(connection, remote, hello)
            case .message(let message): machine.receive(message, on: connection.id, at: moment)
            case .ticket(let open): redeem(open, from: connection)
            case .closed(let ending): closed(connection, ending)
            }
        }
        if let token = tokens[connection.id] { loop.update(token, connection.interest) }
        flow.note(connection)
    }

    private func opened(_ connection: ControlConnection, _ remote: RemotePeer, _ hello: Hello) {
        // Who does not listen is a command of the same user, which runs beside this one under the same key.
        if remote.peer.id == identity.id, hello.run != run, hello.port != 0, listener != nil {
            let text = "Another program on this network uses your own identity; give one of them another: id new NAME."
            emit(.warning(code: .sameID, peer: remote.peer, message: text))
        }
        answered(remote.peer.id)
        guard let dial = dialOf.removeValue(forKey: connection.id) else {
            // Nobody talks with themselves: it has said that it is there, and that was all.
            guard remote.peer.id != identity.id else {
                return handle(connection.closeAfterSending(), of: connection)
            }
            var remote = remote
            remote.source = source(of: connection.address)
            return machine.opened(connection.id, remote)
        }
        won(dial, by: connection, remote)
    }

    /// For a dial of the engine's own, which the machine does not hear of; it counts its own ones from the other end.
    func nextCheck() -> DialID {
        lastCheck -= 1
        return DialID(lastCheck)
    }

    private func closed(_ connection: ControlConnection, _ ending: ControlConnection.Ending) {
        unregister(connection.id)
        connection.release()
        connections[connection.id] = nil
        if let dial = dialOf.removeValue(forKey: connection.id) {
            lost(dial, connection, ending)
        } else {
            if ending != .closedHere, let id = connection.remote?.peer.id, machine.hasUse(for: connection.id) {
                broke(id)
            }
            machine.closed(connection.id, isSilent: ending == .silent, at: moment)
        }
    }

    func unregister(_ id: ConnectionID) {
        if let token = tokens.removeValue(forKey: id) { loop.unregister(token) }
    }
}
