internal import CSystem
internal import Glibc

/// Unix domain sockets, by their path.
package enum LocalSocket {
    /// Whether somebody listens there: connects and closes at once; throws what keeps it from that.
    package static func probe(_ path: String) throws(SystemError) {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let made = OwnedDescriptor(owning: CInt(try retrying("socket") { Int(socket(AF_UNIX, kind, 0)) }))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
            guard bytes.count < field.count else { return false }
            field.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw SystemError(call: "connect", code: ENAMETOOLONG) }
        let raw = made.raw
        try retrying("connect") {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Int(connect(raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size)))
                }
            }
        }
    }
}
