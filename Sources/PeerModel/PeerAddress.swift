/// An IP address with its port, and for a link-local IPv6 one the interface it is valid on.
public struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address in network byte order.
    public enum IP: Hashable, Sendable {
        /// 4 bytes.
        case v4([UInt8])
        /// 16 bytes; the scope is an interface name and only used for `fe80::/10`.
        case v6([UInt8], scope: String?)
    }

    /// The address without its port.
    public let ip: IP
    /// The TCP port.
    public let port: UInt16

    /// Joins an address and a port.
    public init(_ ip: IP, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// The same address with another port.
    package func with(port: UInt16) -> PeerAddress { PeerAddress(ip, port: port) }

    /// `10.0.0.7:27182` or `[fe80::1%eth0]:27182`, IPv6 in the form of RFC 5952.
    public var description: String {
        switch ip {
        case .v4: "\(host):\(port)"
        case .v6: "[\(host)]:\(port)"
        }
    }

    /// The address alone: `10.0.0.7` or `fe80::1%eth0`.
    public var host: String {
        switch ip {
        case .v4(let bytes): bytes.map(String.init).joined(separator: ".")
        case .v6(let bytes, let scope): Self.text(ofIPv6: bytes) + (scope.map { "%" + $0 } ?? "")
        }
    }

    /// Whether the address is only valid on one link and needs its scope.
    package var isLinkLocal: Bool {
        guard case .v6(let bytes, _) = ip, bytes.count == 16 else { return false }
        return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// RFC 5952: lower case, no leading zeros, `::` for the first longest run of two zero groups or more.
    private static func text(ofIPv6 bytes: [UInt8]) -> String {
        let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        var best = 0..<0, start = 0
        while start < groups.count {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start + 1)
        }
        let parts = groups.map { String($0, radix: 16) }
        if best.isEmpty { return parts.joined(separator: ":") }
        let head = parts[..<best.lowerBound], tail = parts[best.upperBound...]
        return head.joined(separator: ":") + "::" + tail.joined(separator: ":")
    }
}
