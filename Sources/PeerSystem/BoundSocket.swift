internal import CSystem
internal import Glibc

/// A socket of this machine's network that has a port, as the kernel lists it (proc_net_udp(5)).
package struct BoundSocket: Hashable, Sendable {
    package let port: UInt16
    /// The number of the user it belongs to.
    package let user: UInt32
    package let inode: UInt64

    package init(port: UInt16, user: UInt32, inode: UInt64) {
        self.port = port
        self.user = user
        self.inode = inode
    }

    /// The sockets in the text of `/proc/net/udp`, `tcp`, or their kin for IPv6; `state` is a number as it is there.
    package static func list(_ text: String, state: String? = nil) -> [BoundSocket] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let cells = line.split(separator: " ")
            guard cells.count > 9, let colon = cells[1].lastIndex(of: ":"),
                let port = UInt16(cells[1][cells[1].index(after: colon)...], radix: 16),
                let user = UInt32(cells[7]), let inode = UInt64(cells[9]), state.map({ cells[3] == $0 }) ?? true
            else { return nil }
            return BoundSocket(port: port, user: user, inode: inode)
        }
    }

    /// Those that have this UDP port now.
    package static func udp(port: UInt16) -> [BoundSocket] { current(["udp", "udp6"], port, state: nil) }

    /// Those that listen on this TCP port now (state 0A is TCP_LISTEN).
    package static func listening(port: UInt16) -> [BoundSocket] { current(["tcp", "tcp6"], port, state: "0A") }

    /// All that listen on a TCP port now.
    package static func listening() -> [BoundSocket] { current(["tcp", "tcp6"], nil, state: "0A") }

    private static func current(_ files: [String], _ port: UInt16?, state: String?) -> [BoundSocket] {
        files.flatMap { list((try? TextFile.read("/proc/self/net/\($0)", atMost: 16 << 20)) ?? "", state: state) }
            .filter { port == nil || $0.port == port }
    }

    /// The names of the processes that hold these, by inode; only root sees those of other users.
    ///
    /// Looks at every process of the machine, so it is for threads that may block.
    package static func holders(of inodes: Set<UInt64>) -> [UInt64: String] {
        var found: [UInt64: String] = [:]
        guard !inodes.isEmpty else { return found }
        for process in entries("/proc") where process.utf8.allSatisfy({ 48...57 ~= $0 }) {
            let folder = "/proc/\(process)/fd"
            for descriptor in entries(folder) {
                guard let inode = socket(at: "\(folder)/\(descriptor)"), inodes.contains(inode), found[inode] == nil,
                    let name = try? TextFile.read("/proc/\(process)/comm", atMost: 64)
                else { continue }
                found[inode] = String(name.prefix { $0 != "\n" })
            }
            if found.count == inodes.count { break }
        }
        return found
    }

    /// The login of a user's number; `nil` when the system knows none.
    package static func login(of user: UInt32) -> String? {
        var entry = passwd()
        var known: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &known) == 0,
                known != nil
            else { return nil }
            return entry.pw_name.map { String(cString: $0) }
        }
    }

    private static func socket(at path: String) -> UInt64? {
        var target = [CChar](repeating: 0, count: 64)
        guard readlink(path, &target, target.count - 1) > 0 else { return nil }
        let text = String(cArray: target)
        guard text.hasPrefix("socket:["), text.hasSuffix("]") else { return nil }
        return UInt64(text.dropFirst("socket:[".count).dropLast())
    }

    private static func entries(_ path: String) -> [String] {
        let names = try? Folder.open(path).names().names
        return (names ?? []).filter { !$0.hasPrefix(".") }
    }
}
