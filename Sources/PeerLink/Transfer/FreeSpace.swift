internal import PeerModel
internal import PeerSystem

/// Whether there is room for what is offered.
package enum FreeSpace {
    /// Whether `size` bytes fit at `path` so that the reserve stays free, besides what was promised to others.
    ///
    /// A folder that does not exist yet is judged by the one it will be made in. False when that cannot be found out.
    package static func isEnough(for size: UInt64, at path: String, promised: UInt64 = 0) -> Bool {
        guard let free = free(at: path) else { return false }
        var needed = Limits.reservedSpace
        for more in [size, promised] {
            let (sum, overflows) = needed.addingReportingOverflow(more)
            if overflows { return false }
            needed = sum
        }
        return needed <= free
    }

    /// Bytes that may be written at `path`; `nil` when that cannot be found out.
    package static func free(at path: String) -> UInt64? {
        guard var path = try? Paths.absolute(path) else { return nil }
        while true {
            do { return try Folder.open(path.isEmpty ? "/" : path).freeSpace() } catch {
                guard error.isMissing, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
                path = String(path[..<slash])
            }
        }
    }
}
