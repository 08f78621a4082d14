internal import CSystem
internal import Glibc
package import PeerModel

/// One network interface with its addresses.
package struct NetworkInterface: Hashable, Sendable {
    package let name: String
    package var isLoopback: Bool
    package var isPointToPoint: Bool
    /// Whether what goes to a group of hosts can leave by it.
    package var isMulticast: Bool
    /// Whether it has a carrier: not while its cable is out.
    package var isRunning: Bool
    /// With port 0, and how many bits are the network's.
    package var addresses: [Prefix] = []

    package init(
        name: String, isLoopback: Bool, isPointToPoint: Bool, isMulticast: Bool = true, isRunning: Bool,
        addresses: [Prefix] = []
    ) {
        self.name = name
        self.isLoopback = isLoopback
        self.isPointToPoint = isPointToPoint
        self.isMulticast = isMulticast
        self.isRunning = isRunning
        self.addresses = addresses
    }

    package struct Prefix: Hashable, Sendable {
        package let address: PeerAddress
        package let bits: Int

        package init(address: PeerAddress, bits: Int) {
            self.address = address
            self.bits = bits
        }

        /// Whether another address is in the same network.
        package func contains(_ other: PeerAddress) -> Bool {
            switch (address.ip, other.ip) {
            case (.v4(let own), .v4(let theirs)): Self.share(own, theirs, bits)
            case (.v6(let own, _), .v6(let theirs, _)): Self.share(own, theirs, bits)
            default: false
            }
        }

        private static func share(_ left: [UInt8], _ right: [UInt8], _ bits: Int) -> Bool {
            for index in 0..<min(left.count, right.count) {
                let rest = bits - index * 8
                guard rest > 0 else { return true }
                let mask = rest >= 8 ? 0xFF : UInt8(truncatingIfNeeded: 0xFF << (8 - rest))
                if (left[index] ^ right[index]) & mask != 0 { return false }
            }
            return true
        }
    }

    /// The names of all interfaces, also of those that are down (if_nameindex(3)).
    package static func names() -> [String] {
        guard let list = if_nameindex() else { return [] }
        defer { if_freenameindex(list) }
        var names: [String] = []
        var next = list
        while next.pointee.if_index != 0, let name = next.pointee.if_name {
            names.append(String(cString: name))
            next += 1
        }
        return names.sorted()
    }

    /// All interfaces that are up (getifaddrs(3)).
    package static func current() -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var all: [String: NetworkInterface] = [:]
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let name = entry.ifa_name.map({ String(cString: $0) }), entry.ifa_flags & UInt32(IFF_UP) != 0
            else { continue }
            var interface =
                all[name]
                ?? NetworkInterface(
                    name: name, isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0,
                    isPointToPoint: entry.ifa_flags & UInt32(IFF_POINTOPOINT) != 0,
                    isMulticast: entry.ifa_flags & UInt32(IFF_MULTICAST) != 0,
                    isRunning: entry.ifa_flags & UInt32(IFF_RUNNING) != 0)
            if let address = SocketAddress.read(entry.ifa_addr) {
                interface.addresses.append(Prefix(address: address, bits: bits(of: entry.ifa_netmask)))
            }
            all[name] = interface
        }
        return all.values.sorted { $0.name < $1.name }
    }

    private static func bits(of mask: UnsafePointer<sockaddr>?) -> Int {
        switch SocketAddress.read(mask)?.ip {
        case .v4(let bytes), .v6(let bytes, _): bytes.reduce(0) { $0 + $1.nonzeroBitCount }
        case nil: 0
        }
    }
}
