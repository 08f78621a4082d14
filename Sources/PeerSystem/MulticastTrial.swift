internal import CSystem
internal import Glibc
internal import PeerModel

/// Sends one multicast DNS packet on an interface and listens for it there.
///
/// The kernel hands a copy of what leaves by an interface to this machine's own listeners, as if it had come in there
/// (IP_MULTICAST_LOOP, ip(7)), so the firewall's rules for both directions apply to it.
package enum MulticastTrial {
    package enum Outcome: Hashable, Sendable {
        case heard
        /// It was sent, and did not come.
        case silent
        case failed(SystemError)
    }

    private static let port: UInt16 = 5353
    private static let attempts = 3

    /// For threads that may block: it waits for so long at most.
    package static func run(on interface: String, isIPv6: Bool, seconds: Double) -> Outcome {
        do {
            let socket = try open(interface, isIPv6: isIPv6)
            let packet = query(token: randomBytes(8))
            for _ in 0..<attempts {
                try send(packet, from: socket, interface, isIPv6: isIPv6)
                if listen(for: packet, on: socket, seconds: seconds / Double(attempts)) { return .heard }
            }
            return .silent
        } catch {
            return .failed(error)
        }
    }

    private static func open(_ interface: String, isIPv6: Bool) throws(SystemError) -> OwnedDescriptor {
        let family = isIPv6 ? AF_INET6 : AF_INET
        let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let socket = OwnedDescriptor(owning: CInt(try retrying("socket") { Int(Glibc.socket(family, kind, 0)) }))
        let raw = socket.raw
        // The port is shared with every other responder of this machine (RFC 6762, section 15.1).
        set(raw, SOL_SOCKET, SO_REUSEADDR, CInt(1))
        set(raw, SOL_SOCKET, SO_REUSEPORT, CInt(1))
        let index = CInt(if_nametoindex(interface))
        guard index > 0 else { throw SystemError(call: "if_nametoindex", code: ENODEV) }
        let any: PeerAddress.IP =
            isIPv6 ? .v6([UInt8](repeating: 0, count: 16), scope: nil) : .v4([0, 0, 0, 0])
        if isIPv6 { set(raw, CInt(IPPROTO_IPV6), IPV6_V6ONLY, CInt(1)) }
        try retrying("bind") { SocketAddress.with(PeerAddress(any, port: port)) { Int(bind(raw, $0, $1)) } }
        if isIPv6 {
            var group = ipv6_mreq()
            withUnsafeMutableBytes(of: &group.ipv6mr_multiaddr) { $0.copyBytes(from: groupIPv6) }
            group.ipv6mr_interface = UInt32(index)
            try retrying("setsockopt") { Int(set(raw, CInt(IPPROTO_IPV6), IPV6_JOIN_GROUP, group)) }
            try retrying("setsockopt") { Int(set(raw, CInt(IPPROTO_IPV6), IPV6_MULTICAST_IF, index)) }
            set(raw, CInt(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, CInt(255))
        } else {
            var group = ip_mreqn()
            withUnsafeMutableBytes(of: &group.imr_multiaddr) { $0.copyBytes(from: groupIPv4) }
            group.imr_ifindex = index
            try retrying("setsockopt") { Int(set(raw, CInt(IPPROTO_IP), IP_ADD_MEMBERSHIP, group)) }
            try retrying("setsockopt") { Int(set(raw, CInt(IPPROTO_IP), IP_MULTICAST_IF, group)) }
            set(raw, CInt(IPPROTO_IP), IP_MULTICAST_TTL, CInt(255))
        }
        return socket
    }

    /// 224.0.0.251 and ff02::fb (RFC 6762, section 3).
    private static let groupIPv4: [UInt8] = [224, 0, 0, 251]
    private static let groupIPv6: [UInt8] = [0xFF, 2] + [UInt8](repeating: 0, count: 13) + [0xFB]

    private static func send(
        _ packet: [UInt8], from socket: borrowing OwnedDescriptor, _ interface: String, isIPv6: Bool
    ) throws(SystemError) {
        let group: PeerAddress.IP = isIPv6 ? .v6(groupIPv6, scope: interface) : .v4(groupIPv4)
        let raw = socket.raw
        try retrying("sendto") {
            SocketAddress.with(PeerAddress(group, port: port)) {
                sendto(raw, packet, packet.count, CInt(MSG_NOSIGNAL), $0, $1)
            }
        }
    }

    /// Other packets of the network are passed over.
    private static func listen(for packet: [UInt8], on socket: borrowing OwnedDescriptor, seconds: Double) -> Bool {
        let limit = BootClock.now() + seconds
        var buffer = [UInt8](repeating: 0, count: 9000)
        while true {
            let rest = (limit.nanoseconds - BootClock.now().nanoseconds) / 1_000_000
            var entry = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            guard rest > 0, poll(&entry, 1, CInt(clamping: rest)) == 1 else { return false }
            let count = recv(socket.raw, &buffer, buffer.count, 0)
            if count == packet.count, buffer.prefix(packet.count).elementsEqual(packet) { return true }
        }
    }

    /// A question for a name that nobody has: `_TOKEN._udp.local`, type PTR, class IN (RFC 1035, section 4.1).
    private static func query(token: [UInt8]) -> [UInt8] {
        let label = "_" + token.map { String($0, radix: 16) }.joined()
        var packet: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for part in [label, "_udp", "local"] { packet += [UInt8(part.utf8.count)] + part.utf8 }
        return packet + [0, 0, 12, 0, 1]
    }

    @discardableResult
    private static func set<Value>(_ raw: CInt, _ level: CInt, _ option: CInt, _ value: Value) -> CInt {
        withUnsafeBytes(of: value) { setsockopt(raw, level, option, $0.baseAddress, socklen_t($0.count)) }
    }
}
