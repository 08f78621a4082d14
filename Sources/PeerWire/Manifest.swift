internal import PeerModel

/// One file, folder or link of a transfer.
package struct ManifestEntry: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        case file = 1, folder, link
    }

    package let kind: Kind
    /// Permission bits, 0 to 0o777: setuid, setgid and sticky are never carried.
    package let mode: UInt16
    /// Time of the last change of its content, since 1970.
    package let seconds: Int64
    /// 0 to 999,999,999.
    package let nanoseconds: UInt32
    /// Bytes of a file; 0 for others.
    package let size: UInt64
    /// Valid by `SafePath`; its first component is the top-level name.
    package let path: String
    /// Where a link points to; empty for others.
    package let target: String

    /// An entry of an own manifest; the path has been checked.
    package init(
        kind: Kind, mode: UInt16, seconds: Int64, nanoseconds: UInt32, size: UInt64, path: String, target: String = ""
    ) {
        self.kind = kind
        self.mode = mode & 0o777
        self.seconds = seconds
        self.nanoseconds = min(nanoseconds, 999_999_999)
        self.size = kind == .file ? size : 0
        self.path = path
        self.target = kind == .link ? target : ""
    }

    /// Equal bytes: names that only look equal are different files.
    package static func == (left: ManifestEntry, right: ManifestEntry) -> Bool {
        left.kind == right.kind && left.mode == right.mode && left.seconds == right.seconds
            && left.nanoseconds == right.nanoseconds && left.size == right.size
            && left.path.utf8.elementsEqual(right.path.utf8) && left.target.utf8.elementsEqual(right.target.utf8)
    }
}

/// What a transfer holds, in the order in which the files' bytes follow each other in its stream.
package struct Manifest: Sendable {
    /// A part of one file.
    package struct Segment: Hashable, Sendable {
        /// The index in `entries`.
        package let entry: Int
        /// The first byte in that file.
        package let offset: UInt64
        package let count: Int
    }

    package let entries: [ManifestEntry]
    /// Bytes of all files.
    package let totalSize: UInt64
    /// Files among the entries.
    package let fileCount: Int
    /// The files that have bytes, ascending, and where each starts behind the manifest.
    private let filled: [Int]
    private let starts: [UInt64]

    /// `nil` when the sizes add up to more than a stream can hold.
    package init?(_ entries: [ManifestEntry]) {
        var total: UInt64 = 0, files = 0
        var filled: [Int] = [], starts: [UInt64] = []
        for (index, entry) in entries.enumerated() where entry.kind == .file {
            files += 1
            guard entry.size > 0 else { continue }
            filled.append(index)
            starts.append(total)
            let (sum, overflows) = total.addingReportingOverflow(entry.size)
            guard !overflows, sum <= TransferLayout.maximumStream else { return nil }
            total = sum
        }
        self.entries = entries
        self.filled = filled
        self.starts = starts
        totalSize = total
        fileCount = files
    }

    /// The top-level names, in order.
    package var names: [String] {
        entries.filter { !$0.path.utf8.contains(UInt8(ascii: "/")) }.map(\.path)
    }

    /// The parts of files that make up `count` bytes from `offset` on, counted from the first byte behind the manifest; cut
    /// at the end of the stream.
    package func segments(from offset: UInt64, count: Int) -> [Segment] {
        guard offset < totalSize, count > 0 else { return [] }
        let end = offset + min(UInt64(count), totalSize - offset)
        var low = 0, high = starts.count  // the last file that starts at `offset` or before lies in low..<high
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        var result: [Segment] = [], position = offset
        while position < end {
            let within = position - starts[low]
            let part = min(entries[filled[low]].size - within, end - position)
            result.append(Segment(entry: filled[low], offset: within, count: Int(part)))
            position += part
            low += 1
        }
        return result
    }
}
