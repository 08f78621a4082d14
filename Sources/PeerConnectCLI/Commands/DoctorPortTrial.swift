internal import PeerConnect
internal import PeerModel
internal import PeerSystem

/// Listens as a chat would, and connects to itself.
enum DoctorPortTrial {
    /// For threads that may block: it takes a second at most.
    static func run(
        _ wanted: NodeSettings.Port, interfaces: [String], running: [UInt16]
    ) -> DoctorFacts.Port {
        var port = DoctorFacts.Port(tried: 0, running: running)
        if case .exactly(let number) = wanted { (port.wanted, port.isAutomatic) = (number, false) }
        let listener: TCPListener
        do throws(SystemError) {
            listener =
                switch wanted {
                case .automatic: try TCPListener.first(of: Limits.ports, interfaces: interfaces)
                case .exactly(let number): try TCPListener(port: number, interfaces: interfaces)
                }
        } catch {
            (port.bound, port.problem) = (nil, error.reason)
            if error.isPortTaken { port.holder = port.wanted.flatMap(holder) ?? "another program" }
            if let first = running.first { connect(to: first, [], &port) }
            return port
        }
        port.bound = listener.port
        if let wanted = port.wanted, wanted != listener.port, wanted != 0 { port.holder = holder(of: wanted) }
        // What runs may have been given other interfaces.
        if let first = running.first {
            connect(to: first, [], &port)
        } else {
            connect(to: listener.port, interfaces, &port)
        }
        return withExtendedLifetime(listener) { port }
    }

    private static func connect(to number: UInt16, _ interfaces: [String], _ port: inout DoctorFacts.Port) {
        let own = NetworkInterface.current().filter { interface in
            !interface.isLoopback && (interfaces.isEmpty || interfaces.contains(interface.name))
        }
        let addresses = own.flatMap(\.addresses).map { $0.address.with(port: number) }.prefix(6)
        port.tried = addresses.count
        for address in addresses {
            do { _ = try TCPSocket.connected(to: address, seconds: 0.15) } catch {
                port.unreachable.append(address.host)
            }
        }
    }

    /// The ports on which a peerconnect listens; those of other users are known to root only.
    static func running() -> [UInt16] {
        let sockets = BoundSocket.listening()
        let holders = BoundSocket.holders(of: Set(sockets.map(\.inode)))
        return Set(sockets.filter { holders[$0.inode] == "peerconnect" }.map(\.port)).sorted()
    }

    private static func holder(of port: UInt16) -> String? {
        let sockets = BoundSocket.listening(port: port)
        guard let first = sockets.first else { return nil }
        let user = BoundSocket.login(of: first.user) ?? "user \(first.user)"
        return BoundSocket.holders(of: [first.inode])[first.inode].map { "\($0) (of \(user))" }
            ?? "a program of \(user)"
    }
}
