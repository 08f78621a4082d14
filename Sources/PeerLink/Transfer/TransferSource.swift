internal import PeerModel
internal import PeerSystem
internal import PeerTLS
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
    /// Files that were seen not to be what they were.
    private let suspects = Mutex<Set<Int>>([])

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
        let file = try? open(segment.entry)
        let count = (try? file?.read(at: segment.offset, into: buffer)) ?? 0
        // Nobody comes back to a file that was read to its end.
        if let file, segment.offset + UInt64(segment.count) == manifest.entries[segment.entry].size {
            note(segment.entry, try? file.status())
        }
        guard count < buffer.count else { return }
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
        note(segment.entry, nil)
    }

    /// `nil` when another file has taken its place.
    private func open(_ entry: Int) throws(SystemError) -> OpenFile? {
        if let last = last.withLock({ $0 }), last.entry == entry { return last.file }
        let file = try Paths.openFile(path(of: entry))
        let status = try file.status(), before = origins[entry].status
        note(entry, status)
        guard status.device == before.device, status.inode == before.inode else { return nil }
        last.withLock { $0 = (entry, file) }
        return file
    }

    /// A hash over where the files are and what their file system knows of them: another one as soon as one changes.
    ///
    /// Without the device, whose number may be another one after each mount.
    func fingerprint() -> Digest {
        var hash = SHA256()
        for top in tops { hash.update(Array(top.path.utf8) + [0]) }
        for (_, status) in origins {
            let numbers = [
                status.inode, status.size, UInt64(bitPattern: status.modified.seconds),
                UInt64(status.modified.nanoseconds), UInt64(bitPattern: status.changed.seconds),
                UInt64(status.changed.nanoseconds),
            ]
            numbers.withUnsafeBytes { hash.update($0) }
        }
        return hash.finish()
    }

    /// Where the entry is on this machine.
    package func path(of entry: Int) -> String {
        let top = tops[origins[entry].top]
        return top.path + String(Substring(manifest.entries[entry].path.utf8.dropFirst(top.name.utf8.count)))
    }

    /// The files that are not what they were (another size, time or inode, or gone), ascending; blocks.
    package func changedEntries() -> [Int] {
        let suspects = suspects.withLock { $0 }
        return manifest.entries.indices.filter { index in
            guard manifest.entries[index].kind == .file else { return false }
            return suspects.contains(index) || isOther(index, try? Paths.status(path(of: index)))
        }
    }

    /// Whether a file of this part of the stream, which has just been read, is not what it was; costs one look.
    func hasChanged(in range: Range<UInt64>) -> Bool {
        let files = files(in: range)
        guard let last = files.last else { return false }
        // Those before it were looked at when they had been read to their ends.
        note(last, status(of: last))
        return isSuspected(files)
    }

    /// Whether one of these was ever seen not to be what it was.
    func isSuspected(_ files: [Int]) -> Bool { suspects.withLock { !$0.isEmpty && !$0.isDisjoint(with: files) } }

    /// The files with bytes in this part of the stream.
    func files(in range: Range<UInt64>) -> [Int] {
        manifest.files(in: range, behind: UInt64(manifestBytes.count))
    }

    /// Of the file that was read, even if its name is another's by now.
    private func status(of entry: Int) -> FileStatus? {
        if let last = last.withLock({ $0 }), last.entry == entry { return try? last.file.status() }
        return try? Paths.status(path(of: entry))
    }

    private func note(_ entry: Int, _ status: FileStatus?) {
        if isOther(entry, status) { suspects.withLock { _ = $0.insert(entry) } }
    }

    private func isOther(_ entry: Int, _ now: FileStatus?) -> Bool {
        guard let now else { return true }
        let before = origins[entry].status
        return now.size != before.size || now.modified != before.modified || now.changed != before.changed
            || now.device != before.device || now.inode != before.inode
    }
}

extension Manifest {
    /// The files with bytes in a part of the stream, which begins with `start` bytes of manifest.
    func files(in range: Range<UInt64>, behind start: UInt64) -> [Int] {
        guard range.upperBound > start else { return [] }
        let first = max(range.lowerBound, start)
        return segments(from: first - start, count: Int(clamping: range.upperBound - first)).map(\.entry)
    }
}
