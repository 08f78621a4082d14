internal import PeerModel
internal import PeerSystem

/// Being reached: the listening sockets, and how many connections strangers may hold.
extension NodeEngine {
    func listen() throws(PeerConnectError) {
        let interfaces = settings.interfaces
        do throws(SystemError) {
            let listener =
                switch settings.port {
                case .automatic: try TCPListener.first(of: Limits.ports, interfaces: interfaces)
                case .exactly(let port): try TCPListener(port: port, interfaces: interfaces)
                }
            listenerTokens = try listener.register(on: loop) { [weak self] in
                self?.assumeIsolated { $0.acceptAll() }
            }
            self.listener = listener
        } catch {
            let port = if case .exactly(let port) = settings.port { "port \(port)" } else { "a port" }
            throw PeerConnectError(
                .cannotStart, "It cannot listen on \(port): \(error.reason).", hint: "Choose another with --port N.",
                cause: error)
        }
    }

    /// Where others may reach this node: without link-local ones, whose scope means nothing elsewhere.
    var ownAddresses: [String] {
        guard let listener else { return [] }
        let usable = ownInterfaces.filter {
            !$0.isLoopback && (settings.interfaces.isEmpty || settings.interfaces.contains($0.name))
        }
        return usable.flatMap(\.addresses).map(\.address).filter { !$0.isLinkLocal }
            .map { $0.with(port: listener.port).description }
    }

    private func acceptAll() {
        for _ in 0..<16 {
            guard let listener else { return }
            let accepted: TCPSocket?
            do { accepted = try listener.accept() } catch { return emit(.failure(Self.cannotAccept(error))) }
            guard let socket = accepted else { return }
            guard let address = socket.remoteAddress, mayAccept(address) else { continue }
            socket.mark(.interactive)
            add(socket, address: address, dialling: nil, expected: nil)
        }
    }

    private static func cannotAccept(_ error: SystemError) -> PeerConnectError {
        PeerConnectError(
            .internal, "A connection could not be accepted: \(error.reason).",
            hint: "If that goes on, check the limit of open files (ulimit -n).", cause: error)
    }

    /// Strangers hold few connections: in all, and from one address (IPv4) or one network (IPv6, /64).
    private func mayAccept(_ address: PeerAddress) -> Bool {
        let unproved = connections.values.filter { !$0.hasSpoken }
        guard unproved.count < Limits.unprovedConnections else { return false }
        let source = source(of: address)
        return unproved.count { self.source(of: $0.address) == source } < Limits.unprovedPerSource
    }

    /// An IPv6 network is one source, but not the own one: there the neighbours share it.
    func source(of address: PeerAddress) -> [UInt8] {
        let ownNetworks = ownInterfaces.lazy.flatMap(\.addresses)
        switch address.ip {
        case .v4(let bytes): return bytes
        case .v6(let bytes, _):
            let isNear = address.isLinkLocal || ownNetworks.contains { $0.contains(address) }
            return isNear ? bytes : Array(bytes.prefix(8))
        }
    }
}
