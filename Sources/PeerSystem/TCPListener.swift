internal import CSystem
internal import Glibc
internal import PeerModel
internal import Synchronization

/// The listening sockets of one port: one for IPv4 and one for IPv6, as far as the machine has them.
package final class TCPListener: Sendable {
    package let port: UInt16
    private let sockets: [SharedDescriptor]
    /// Given up for a moment when no other descriptor is left, see `turnAway`.
    private let spare: Mutex<SharedDescriptor?>

    /// Listens on exactly this port, or with 0 on any; on these interfaces only, if there are any.
    package init(port: UInt16, interfaces: [String] = []) throws(SystemError) {
        // Any port that one socket got may be taken for the next: then another one is tried.
        var attempts = port == 0 ? 16 : 1
        while true {
            do throws(SystemError) {
                (self.port, sockets) = try Self.open(port, interfaces)
                break
            } catch {
                attempts -= 1
                guard error.code == EADDRINUSE, attempts > 0 else { throw error }
            }
        }
        spare = Mutex(Self.spareDescriptor())
    }

    /// The first free port of these, else any.
    package static func first(
        of ports: ClosedRange<UInt16>, interfaces: [String] = []
    ) throws(SystemError) -> TCPListener {
        for port in ports {
            do { return try TCPListener(port: port, interfaces: interfaces) } catch {
                guard error.code == EADDRINUSE || error.code == EACCES else { throw error }
            }
        }
        return try TCPListener(port: 0, interfaces: interfaces)
    }

    private static func open(
        _ port: UInt16, _ interfaces: [String]
    ) throws(SystemError) -> (UInt16, [SharedDescriptor]) {
        var bound = port
        var sockets: [SharedDescriptor] = []
        // Sockets of different interfaces may share a port (SO_BINDTODEVICE, socket(7)).
        for interface in interfaces.isEmpty ? [nil] : Set(interfaces).map(Optional.some) {
            for family in [AF_INET6, AF_INET] {
                do throws(SystemError) {
                    let socket = SharedDescriptor(try listen(family, bound, interface))
                    let raw = socket.descriptor.raw
                    bound = SocketAddress.ask { getsockname(raw, $0, $1) }?.port ?? bound
                    sockets.append(socket)
                } catch {
                    // A machine may have only one of the families.
                    guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
                }
            }
        }
        guard !sockets.isEmpty else { throw SystemError(call: "socket", code: EAFNOSUPPORT) }
        return (bound, sockets)
    }

    private static func listen(
        _ family: CInt, _ port: UInt16, _ interface: String?
    ) throws(SystemError) -> OwnedDescriptor {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let raw = CInt(try retrying("socket") { Int(socket(family, kind, 0)) })
        let made = OwnedDescriptor(owning: raw)
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if family == AF_INET6 { setsockopt(raw, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &one, size) }
        if let interface {
            // Not best effort: who names interfaces does not want to be reached on the others.
            try retrying("setsockopt") {
                Int(setsockopt(raw, SOL_SOCKET, SO_BINDTODEVICE, interface, socklen_t(interface.utf8.count)))
            }
        }
        let any: PeerAddress.IP =
            family == AF_INET ? .v4([0, 0, 0, 0]) : .v6([UInt8](repeating: 0, count: 16), scope: nil)
        try retrying("bind") { SocketAddress.with(PeerAddress(any, port: port)) { Int(bind(raw, $0, $1)) } }
        try retrying("listen") { Int(Glibc.listen(raw, 128)) }
        return made
    }

    /// Registers all sockets: `body` is called when there may be connections to accept.
    package func register(
        on loop: EventLoop, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> [UInt64] {
        var tokens: [UInt64] = []
        do throws(SystemError) {
            for socket in sockets { tokens.append(try loop.register(socket.descriptor, .readable) { _ in body() }) }
        } catch {
            for token in tokens { loop.unregister(token) }
            throw error
        }
        return tokens
    }

    /// The next connection that waits, or `nil`; errors of the connection itself are skipped.
    ///
    /// When the process has no descriptor left the connection is closed and EMFILE thrown.
    package func accept() throws(SystemError) -> TCPSocket? {
        for socket in sockets {
            if let accepted = try accept(socket.descriptor.raw) { return accepted }
        }
        return nil
    }

    private func accept(_ raw: CInt) throws(SystemError) -> TCPSocket? {
        for _ in 0..<64 {
            do {
                guard let accepted = try unlessBlocked("accept", { Int(pc_accept(raw, nil, nil)) }) else { return nil }
                return TCPSocket(owning: OwnedDescriptor(owning: CInt(accepted)))
            } catch {
                if Self.errorsOfConnections.contains(error.code) { continue }
                // The kernel looks for a free number first, and only then whether a connection waits.
                if error.code == EMFILE || error.code == ENFILE, !turnAway(raw) { return nil }
                throw error
            }
        }
        return nil
    }

    /// accept(2): errors of the new connection, and of a firewall's rules about it, are to be treated like EAGAIN.
    private static let errorsOfConnections: Set<CInt> = [
        ECONNABORTED, ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH,
        ETIMEDOUT, EPERM,
    ]

    /// Closes a connection that cannot be accepted, since it would keep the event loop busy for ever; false when none waits.
    private func turnAway(_ listener: CInt) -> Bool {
        spare.withLock { spare in
            spare = nil
            let accepted = pc_accept(listener, nil, nil)
            if accepted >= 0 { Glibc.close(accepted) }
            spare = Self.spareDescriptor()
            return accepted >= 0
        }
    }

    private static func spareDescriptor() -> SharedDescriptor? {
        let raw = pc_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0)
        return raw >= 0 ? SharedDescriptor(OwnedDescriptor(owning: raw)) : nil
    }
}
