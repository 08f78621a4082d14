internal import PeerModel
internal import PeerSystem
package import PeerWire
internal import Synchronization

/// Files and folders of this machine as one stream, as they were when they were looked at.
///
/// A file that is gone or shorter by now reads as zeros, so that the stream keeps its length; `changedEntries` tells.
package final class TransferSource: PieceReading {
    /// Something that is not sent.
    package struct Skipped: Hashable, Sendable {
        /// As in the manifest, from the top-level name on; not checked for display.
        package let path: String
        package let why: String
    }

    /// What was given by the user.
    struct Top: Sendable {
        /// The first component of its entries' paths.
        let name: String
        /// Absolute and without links.
        let path: String
        let isFolder: Bool
    }

    package let manifest: Manifest
    package let manifestBytes: [UInt8]
    package let skipped: [Skipped]
    package let length: UInt64
    private let tops: [Top]
    /// For each entry, which top it belongs to and what it was.
    private let origins: [(top: Int, status: FileStatus)]
    /// The file that was read last: a large one is read piece by piece.
    private let last = Mutex<(entry: Int, file: OpenFile)?>(nil)
    private let broken = Mutex<Set<Int>>([])

    init(
        manifest: Manifest, bytes: [UInt8], tops: [Top], names: [String], origins: [(top: Int, status: FileStatus)],
        skipped: [Skipped]
    ) {
        self.manifest = manifest
        manifestBytes = bytes
        self.tops = tops
        self.names = names
        self.origins = origins
        self.skipped = skipped
        length = UInt64(bytes.count) &+ manifest.totalSize
    }

    /// The top-level names as recipients see them, in the order given; folders end in `/`.
    package let names: [String]
    /// Files in it; folders and links are not counted.
    package var fileCount: Int { manifest.fileCount }
    /// Bytes of all files.
    package var totalSize: UInt64 { manifest.totalSize }

    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        guard offset <= length, UInt64(buffer.count) <= length - offset else {
            throw .unreadable("The files end before what is asked for.")
        }
        var filled = 0
        if offset < UInt64(manifestBytes.count) {
            let part = manifestBytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            filled = part.count
        }
        let start = offset &+ UInt64(filled) &- UInt64(manifestBytes.count)
        for segment in manifest.segments(from: start, count: buffer.count - filled) {
            read(segment, into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + segment.count]))
            filled += segment.count
        }
    }

    private func read(_ segment: Manifest.Segment, into buffer: UnsafeMutableRawBufferPointer) {
        let count = (try? open(segment.entry)?.read(at: segment.offset, into: buffer)) ?? 0
        guard count < buffer.count else { return }
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
        broken.withLock { _ = $0.insert(segment.entry) }
    }

    /// `nil` when another file has taken its place.
    private func open(_ entry: Int) throws(SystemError) -> OpenFile? {
        if let last = last.withLock({ $0 }), last.entry == entry { return last.file }
        let file = try Paths.openFile(path(of: entry))
        let status = try file.status(), before = origins[entry].status
        guard status.device == before.device, status.inode == before.inode else { return nil }
        last.withLock { $0 = (entry, file) }
        return file
    }

    /// Where the entry is on this machine.
    package func path(of entry: Int) -> String {
        let top = tops[origins[entry].top]
        return top.path + String(Substring(manifest.entries[entry].path.utf8.dropFirst(top.name.utf8.count)))
    }

    /// The files that are not what they were (another size, time or inode, or gone), ascending; blocks.
    package func changedEntries() -> [Int] {
        let broken = broken.withLock { $0 }
        return manifest.entries.indices.filter { index in
            guard manifest.entries[index].kind == .file else { return false }
            if broken.contains(index) { return true }
            guard let now = try? Paths.status(path(of: index)) else { return true }
            let before = origins[index].status
            return now.size != before.size || now.modified != before.modified || now.changed != before.changed
                || now.device != before.device || now.inode != before.inode
        }
    }
}
