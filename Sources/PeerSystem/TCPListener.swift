internal import CSystem
internal import Glibc
internal import PeerModel

/// The listening sockets of one port: one for IPv4 and one for IPv6, as far as the machine has them.
package final class TCPListener: Sendable {
    package let port: UInt16
    private let sockets: [SharedDescriptor]

    /// Listens on exactly this port, or with 0 on any; on this interface only, if one is given.
    package init(port: UInt16, interface: String? = nil) throws(SystemError) {
        var bound = port
        var sockets: [SharedDescriptor] = []
        for family in [AF_INET6, AF_INET] {
            switch Self.listen(family, bound, interface) {
            case .success(let raw):
                bound = SocketAddress.ask { getsockname(raw, $0, $1) }?.port ?? bound
                sockets.append(SharedDescriptor(OwnedDescriptor(owning: raw)))
            case .failure(let error):
                // A machine may have only one of the families.
                guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
            }
        }
        guard !sockets.isEmpty else { throw SystemError(call: "socket", code: EAFNOSUPPORT) }
        self.port = bound
        self.sockets = sockets
    }

    /// The first free port of these, else any.
    package static func first(of ports: ClosedRange<UInt16>, interface: String? = nil) throws(SystemError)
        -> TCPListener
    {
        for port in ports {
            do { return try TCPListener(port: port, interface: interface) } catch {
                guard error.code == EADDRINUSE || error.code == EACCES else { throw error }
            }
        }
        return try TCPListener(port: 0, interface: interface)
    }

    private static func listen(_ family: CInt, _ port: UInt16, _ interface: String?) -> Result<CInt, SystemError> {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let raw = socket(family, kind, 0)
        guard raw >= 0 else { return .failure(SystemError(call: "socket", code: errno)) }
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if family == AF_INET6 { setsockopt(raw, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &one, size) }
        if let interface {
            setsockopt(raw, SOL_SOCKET, SO_BINDTODEVICE, interface, socklen_t(interface.utf8.count))
        }
        let any: PeerAddress.IP =
            family == AF_INET ? .v4([0, 0, 0, 0]) : .v6([UInt8](repeating: 0, count: 16), scope: nil)
        let address = PeerAddress(any, port: port)
        var code: CInt = 0
        if SocketAddress.with(address, { bind(raw, $0, $1) }) != 0 || Glibc.listen(raw, 128) != 0 { code = errno }
        guard code == 0 else {
            Glibc.close(raw)
            return .failure(SystemError(call: "bind", code: code))
        }
        return .success(raw)
    }

    /// Registers both sockets: `body` is called when there may be connections to accept.
    package func register(
        on loop: EventLoop, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> [UInt64] {
        var tokens: [UInt64] = []
        for socket in sockets { tokens.append(try loop.register(socket.descriptor, .readable) { _ in body() }) }
        return tokens
    }

    /// The next connection that waits, or `nil`; errors of the connection itself are skipped.
    package func accept() throws(SystemError) -> TCPSocket? {
        for socket in sockets {
            if let accepted = try Self.accept(socket.descriptor.raw) { return accepted }
        }
        return nil
    }

    private static func accept(_ raw: CInt) throws(SystemError) -> TCPSocket? {
        for _ in 0..<64 {
            do {
                guard let accepted = try unlessBlocked("accept", { Int(pc_accept(raw, nil, nil)) }) else { return nil }
                return TCPSocket(owning: OwnedDescriptor(owning: CInt(accepted)))
            } catch {
                // accept(2): network errors of the new connection are to be treated like EAGAIN.
                guard [ECONNABORTED, ENETDOWN, EPROTO, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH].contains(error.code)
                else { throw error }
            }
        }
        return nil
    }
}
