internal import PeerDiscovery
internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS

/// Reaching peers: the race over their addresses.
extension NodeEngine {
    func dial(_ id: DialID, _ target: DialTarget) {
        switch target {
        case .peer(let peer, let addresses):
            // Hidden peers too: they may answer by now.
            let seen = nearby[peer]?.places ?? []
            let others = addresses.filter { address in !seen.contains { $0.contains(address) } }
            let places = others.isEmpty ? seen : seen + [others]
            let label = nearby[peer]?.name ?? peer.short
            var dial = Dial(id, expected: peer, label: label, places: places, now: BootClock.now())
            dial.isRefreshing = refresh(id, peer)
            begin(dial)
        case .address(let typed, let expected):
            let port = typed.port ?? Limits.defaultPort
            switch typed.host {
            case .ip(let ip):
                let address = PeerAddress(ip, port: port)
                begin(
                    Dial(
                        id, expected: expected, label: address.description, places: [[address]], isTyped: true,
                        now: BootClock.now()))
            case .name(let name):
                // It begins with the look-up, which so has a part of the same time and can be given up.
                begin(
                    Dial(
                        id, expected: expected, label: "\(name):\(port)", places: [], isResolving: true, isTyped: true,
                        now: BootClock.now()))
                Task { await lookUp(id, name, port) }
            }
        }
    }

    /// Asks the network where the peer is now, while what is known is tried; false when there is nobody to ask.
    private func refresh(_ id: DialID, _ peer: PeerID) -> Bool {
        guard let discovery, nearby[peer] != nil else { return false }
        discovery.refresh(peer) { [weak self] places in
            self?.loop.post { self?.assumeIsolated { $0.refreshed(id, places) } }
        }
        return true
    }

    private func refreshed(_ id: DialID, _ places: [[PeerAddress]]) {
        guard dials[id] != nil else { return }
        dials[id]?.isRefreshing = false
        dials[id]?.add(places)
        advance(id)
        carryOutEffects()
    }

    private func lookUp(_ id: DialID, _ name: String, _ port: UInt16) async {
        let addresses = await Resolver.resolve(name, port: port)
        guard dials[id] != nil else { return }
        dials[id]?.resolved(addresses, now: BootClock.now())
        advance(id)
        carryOutEffects()
    }

    func begin(_ dial: Dial) {
        dials[dial.id] = dial
        advance(dial.id)
        rearm()
    }

    /// Tries the next address when it is time, and ends a dial that cannot succeed.
    func advance(_ id: DialID) {
        let now = BootClock.now()
        while var dial = dials[id], now < dial.deadline, let address = dial.next(now: now) {
            do throws(SystemError) {
                let socket = try TCPSocket.connecting(to: address)
                let connection = add(socket, address: address, dialling: .control, expected: dial.expected)
                dial.inFlight[connection] = address
                dialOf[connection] = id
            } catch {
                dial.failed(at: address, error.reason)
            }
            dials[id] = dial
        }
        if let dial = dials[id], dial.isHopeless || now >= dial.deadline { give(up: dial) }
    }

    private func give(up dial: Dial) {
        let failure = dial.failure
        abandon(dial.id)
        if let expected = dial.expected, !dial.isTyped, !dial.isProved { didNotAnswer(expected) }
        guard !dial.isCheck else { return }
        machine.dialFailed(dial.id, failure, at: moment)
    }

    /// Ends a dial without an answer.
    func abandon(_ id: DialID) {
        guard let dial = dials.removeValue(forKey: id) else { return }
        for connection in dial.inFlight.keys {
            dialOf[connection] = nil
            if let connection = connections[connection] { handle(connection.end(.closedHere), of: connection) }
        }
    }

    /// The first connection that is open wins; the others are closed.
    func won(_ id: DialID, by connection: ControlConnection, _ remote: RemotePeer) {
        guard var dial = dials[id] else {
            return handle(connection.closeAfterSending(), of: connection)
        }
        dial.inFlight[connection.id] = nil
        dials[id] = dial
        abandon(id)
        guard !dial.isCheck else { return handle(connection.closeAfterSending(), of: connection) }
        machine.opened(connection.id, remote, by: id, at: moment)
    }

    func lost(_ id: DialID, _ connection: ControlConnection, _ ending: ControlConnection.Ending) {
        guard var dial = dials[id] else { return }
        dial.inFlight[connection.id] = nil
        var failure = ending.asFailure
        if case .wrongKey(identity.id) = ending {
            // Networks of containers have the same addresses on every machine: there this program answers itself.
            failure = (.unreachable, "that is an address of this machine too")
        }
        dial.failed(at: connection.address, failure.reason, as: failure.answer)
        dials[id] = dial
        if failure.answer == .wrongKey, !dial.isCheck, let expected = dial.expected {
            let text = "\(connection.address) says it is \(dial.label) and is not: \(failure.reason)"
            emit(.warning(code: .otherKey, peer: Peer(id: expected, name: dial.label), message: text))
        }
        advance(id)
    }
}
