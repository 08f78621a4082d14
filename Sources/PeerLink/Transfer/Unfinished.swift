package import PeerModel
internal import PeerSystem
internal import PeerWire

/// What is unfinished in a folder for received files.
package enum Unfinished {
    /// All in this folder, the newest first; blocks.
    package static func list(in path: String) -> [UnfinishedTransfer] { all(in: path).map(\.found).sorted(by: isNewer) }

    /// Removes those that are not going on, and gives them; blocks.
    package static func clean(_ path: String) -> [UnfinishedTransfer] {
        guard let into = try? Folder.open(path), let partials = try? into.folder(Landing.partialFolder) else {
            return []
        }
        var removed: [UnfinishedTransfer] = []
        for (name, found) in all(in: path) where !found.isGoingOn {
            guard let folder = try? Landing.lock(name, in: partials) else { continue }
            try? partials.removeTree(Landing.recordName(name))
            if (try? partials.removeTree(name)) != nil { removed.append(found) }
            folder.unlock()
        }
        try? into.removeFolder(Landing.partialFolder)
        return removed.sorted(by: isNewer)
    }

    private static func isNewer(_ left: UnfinishedTransfer, _ right: UnfinishedTransfer) -> Bool {
        left.changed > right.changed
    }

    private static func all(in path: String) -> [(name: String, found: UnfinishedTransfer)] {
        guard let partials = try? Folder.open(path).folder(Landing.partialFolder),
            let names = try? partials.names().names
        else { return [] }
        return names.compactMap { name in
            guard let folder = try? partials.folder(name), let own = try? folder.status() else { return nil }
            let isLocked = (try? folder.lock()) == false
            if !isLocked { folder.unlock() }
            let record = Landing.recordName(name)
            let changed = (try? partials.status(of: record))?.modified ?? own.modified
            let told = ResumeRecord.summary(record, in: partials)
            return (
                name,
                UnfinishedTransfer(
                    transfer: told?.transfer, names: told?.names ?? [], size: told?.size ?? 0, here: told?.here ?? 0,
                    changed: changed.seconds &* 1000, isGoingOn: isLocked)
            )
        }
    }
}

extension ResumeRecord {
    /// What a record tells to people; nothing of it is believed further.
    fileprivate static func summary(
        _ name: String, in folder: Folder
    ) -> (transfer: TransferID, names: [String], size: UInt64, here: UInt64)? {
        guard let file = try? folder.openFile(name), let status = try? file.status(), status.kind == .file,
            let header = try? file.read(atMost: Int(headerSize)), let numbers = Numbers(header),
            numbers.manifestLength <= UInt64(Limits.manifest), numbers.manifestLength <= numbers.length,
            let digest = Digest(Array(header[8..<40]))
        else { return nil }
        let size = numbers.length - numbers.manifestLength
        let here = bytesHere(size: size, name, in: folder) ?? 0
        let start = try? file.read(atMost: Int(headerSize + numbers.manifestLength))
        var decoder = ManifestDecoder()
        // It may have become shorter since.
        guard let list = start?.dropFirst(Int(headerSize)),
            (try? list.withUnsafeBytes({ try decoder.append($0) })) != nil,
            let manifest = try? decoder.finish()
        else { return nil }
        let names = manifest.entries.filter { !$0.path.utf8.contains(UInt8(ascii: "/")) }.map {
            $0.kind == .folder ? $0.path + "/" : $0.path
        }
        return (TransferID(digest), names, size, here)
    }
}
