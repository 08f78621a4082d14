internal import CSystem
internal import Glibc
package import PeerModel

/// Host names to addresses, by the system's resolver (getaddrinfo(3)), which blocks and so has a thread of its own.
package enum Resolver {
    package static func resolve(_ name: String, port: UInt16) async -> [PeerAddress] {
        (try? await BlockingThread.value("resolver") { addresses(name, port) }) ?? []
    }

    private static func addresses(_ name: String, _ port: UInt16) -> [PeerAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [PeerAddress] = []
        var next = list
        while let entry = next {
            if let address = SocketAddress.read(entry.pointee.ai_addr) { found.append(address.with(port: port)) }
            next = entry.pointee.ai_next
        }
        return found
    }
}
