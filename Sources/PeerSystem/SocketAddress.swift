internal import CSystem
internal import Glibc
internal import PeerModel

/// `PeerAddress` in the kernel's form and back; a scope is a name here and an index there.
enum SocketAddress {
    static func with<Result>(
        _ address: PeerAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        switch address.ip {
        case .v4(let bytes):
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = address.port.bigEndian
            withUnsafeMutableBytes(of: &raw.sin_addr) { $0.copyBytes(from: bytes.prefix(4)) }
            return withRaw(&raw, body)
        case .v6(let bytes, let scope):
            var raw = sockaddr_in6()
            raw.sin6_family = sa_family_t(AF_INET6)
            raw.sin6_port = address.port.bigEndian
            withUnsafeMutableBytes(of: &raw.sin6_addr) { $0.copyBytes(from: bytes.prefix(16)) }
            raw.sin6_scope_id = scope.map { UInt32($0) ?? if_nametoindex($0) } ?? 0
            return withRaw(&raw, body)
        }
    }

    private static func withRaw<Raw, Result>(
        _ raw: inout Raw, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Raw>.size)) }
        }
    }

    /// The address, or `nil` for families other than IP.
    ///
    /// An IPv4 address inside IPv6 is given as the IPv4 one it is.
    static func read(_ pointer: UnsafePointer<sockaddr>?) -> PeerAddress? {
        guard let pointer else { return nil }
        let raw = UnsafeRawPointer(pointer)
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            let bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
            return PeerAddress(.v4(bytes), port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            let port = UInt16(bigEndian: address.sin6_port)
            let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
            if bytes.starts(with: mapped) { return PeerAddress(.v4(Array(bytes.suffix(4))), port: port) }
            return PeerAddress(.v6(bytes, scope: interfaceName(address.sin6_scope_id)), port: port)
        default: return nil
        }
    }

    static func interfaceName(_ index: UInt32) -> String? {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard index != 0, if_indextoname(index, &name) != nil else { return nil }
        return String(cArray: name)
    }

    /// Asks the kernel for an address of a socket, `getsockname` or `getpeername`.
    static func ask(_ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt) -> PeerAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) == 0 ? read($0) : nil }
        }
    }
}
