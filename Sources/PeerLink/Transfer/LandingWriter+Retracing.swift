internal import PeerModel
internal import PeerSystem
internal import PeerWire

/// Finding an earlier attempt's files again.
extension LandingWriter {
    /// Something in the partial folder is not as it was left, or cannot be told to be.
    enum Odd: Error {
        case entry
        case trouble(SystemError)

        /// What is there under a name, `nil` when nothing of that kind is.
        static func look<Found>(_ body: () throws(SystemError) -> Found) throws(Odd) -> Found? {
            do throws(SystemError) { return try body() } catch {
                guard error.isMissing || error.isLink || error.isBadName else { throw .trouble(error) }
                return nil
            }
        }
    }

    /// What of the earlier attempt has been recognised.
    struct Trace {
        /// The inodes of what belongs to an entry: a name that leads to one of them is not free for another.
        var claimed: Set<UInt64> = []
    }

    /// Puts the writer where it was when it had taken so many bytes, from the names, kinds and sizes in the partial folder alone.
    ///
    /// Nothing is changed there yet. For a writer that has the manifest.
    mutating func retrace(to position: UInt64) throws(Odd) -> Trace {
        guard let manifest, position >= offer.manifestLength else { throw .entry }
        places = LandingPlaces(into: places.into, partial: places.partial)
        (open, file, next) = ([], nil, 0)
        self.position = position
        var trace = Trace(), left = position - offer.manifestLength
        while next < manifest.entries.count {
            let entry = manifest.entries[next]
            if entry.kind == .file, entry.size > 0, left == 0 { break }
            let written = min(left, entry.size)
            if entry.kind != .link {
                guard let (parent, name, status) = try find(entry, &trace) else { throw .entry }
                try recognise(entry, in: parent, name, status, written: written)
            }
            left -= written
            next += 1
            if written < entry.size { break }
        }
        guard left == 0 else { throw .entry }
        return trace
    }

    private mutating func recognise(
        _ entry: ManifestEntry, in parent: Folder, _ name: String, _ status: FileStatus, written: UInt64
    ) throws(Odd) {
        guard status.kind == (entry.kind == .folder ? .folder : .file) else { throw .entry }
        if entry.kind == .folder {
            guard let folder = try Odd.look({ () throws(SystemError) in try parent.folder(name) }) else { throw .entry }
            open.append(folder)
        } else if written == entry.size {
            guard status.size == entry.size else { throw .entry }
        } else {
            // What came behind the last piece that was written down is cut off later.
            guard status.size >= written, status.size <= entry.size,
                let part = try Odd.look({ () throws(SystemError) in try parent.openFileToWrite(name) }),
                (try? part.status())?.inode == status.inode
            else { throw .entry }
            file = (part, entry, written)
        }
        if name != entry.name { places.mend(entry.path, name) }
    }

    /// Finds an entry under the names that `place` tries, in the same order: others have been given away before.
    ///
    /// The folders above it are the first of those open, as when it was made.
    private mutating func find(
        _ entry: ManifestEntry, _ trace: inout Trace
    ) throws(Odd) -> (Folder, String, FileStatus)? {
        let depth = entry.path.utf8.count { $0 == UInt8(ascii: "/") }
        open.removeLast(max(0, open.count - depth))
        let parent = open.last ?? places.partial
        for name in [firstName(entry.name), MendedName.short(entry.name)] {
            for number in 0..<1000 {
                let tried = NumberedName.name(name, number, isFolder: entry.kind == .folder)
                guard let status = try Odd.look({ () throws(SystemError) in try parent.status(of: tried) }) else {
                    break
                }
                if trace.claimed.insert(status.inode).inserted { return (parent, tried, status) }
            }
        }
        return nil
    }

    /// Removes what lies behind the place the writer is at: it comes again.
    mutating func cutOff(_ trace: Trace) throws(Odd) {
        do throws(SystemError) { try cut(trace) } catch { throw .trouble(error) }
    }

    private mutating func cut(_ trace: Trace) throws(SystemError) {
        guard let manifest else { return }
        if let (file, _, written) = file { try file.setSize(written) }
        var trace = trace, gone: [UInt8]?
        let folders = open
        // By the manifest's order they lie in folders that are open, or in such as are removed with them.
        for entry in manifest.entries[next...] {
            let path = Array(entry.path.utf8)
            if let gone, path.starts(with: gone) { continue }
            if let (folder, name, _) = try? find(entry, &trace) { try folder.removeTree(name) }
            if entry.kind == .folder { gone = path + [UInt8(ascii: "/")] }
        }
        open = folders
        guard next == manifest.entries.count else { return }
        // All was here, and the end had begun.
        for entry in manifest.entries where entry.kind == .link {
            guard let (folder, name) = try? places.parent(of: entry.path),
                (try? folder.status(of: name))?.kind == .link
            else { continue }
            try folder.remove(name)
        }
    }
}
