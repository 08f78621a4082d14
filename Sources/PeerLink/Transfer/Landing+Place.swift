internal import Glibc
internal import PeerModel
internal import PeerSystem

/// Where partial files lie, and for how long.
extension Landing {
    struct Place {
        let partials: Folder
        let name: String
        /// Locked for this landing.
        let partial: Folder
        /// Whether an earlier attempt has left something in it.
        var isOld = false
    }

    static func recordName(_ name: String) -> String { name + ".pieces" }

    /// A transfer that ends removes the folder of all partial ones when nothing is in it: then it is made again.
    static func makePlace(in into: Folder, _ path: String, _ transfer: TransferID) throws -> Place {
        var attempts = 10
        while true {
            do {
                let partials = try openPartials(in: into, path)
                let place = try makePartial(in: partials, name(of: transfer))
                removeForgotten(in: partials, but: place.name)
                return place
            } catch let error as SystemError where error.isMissing && attempts > 0 {
                attempts -= 1
            }
        }
    }

    private static func name(of transfer: TransferID) -> String { String(transfer.description.prefix(16)) }

    private static func openPartials(in into: Folder, _ path: String) throws -> Folder {
        do { return try into.makeFolder(partialFolder) } catch {
            guard error.isTaken else { throw error }
        }
        let refused = TransferFailure.unwritable(
            "\(SafeText.line(path))/\(partialFolder) is not this user's own, closed folder; it is not used.")
        let folder: Folder
        do { folder = try into.folder(partialFolder) } catch {
            // Missing where a folder is, or nothing: it was removed just now, and perhaps made again.
            let kind = (try? into.status(of: partialFolder))?.kind
            throw error.isMissing && (kind == nil || kind == .folder) ? error : refused
        }
        let status = try folder.status()
        guard status.owner == Paths.user, status.mode & 0o077 == 0 else { throw refused }
        return folder
    }

    private static func makePartial(in partials: Folder, _ name: String) throws -> Place {
        for number in 0..<1000 {
            let name = number == 0 ? name : "\(name)-\(number)"
            // Who lists or removes transfers has each for a moment.
            var attempts = number == 0 ? 20 : 1
            while attempts > 0 {
                attempts -= 1
                if let place = try take(name, in: partials) { return place }
                if attempts > 0 { usleep(2_000) }
            }
        }
        throw TransferFailure.unwritable("The same files are being received here too often at once.")
    }

    /// Makes or finds a partial folder and locks it; `nil` when another has it.
    private static func take(_ name: String, in partials: Folder) throws -> Place? {
        var isOld = false
        do throws(SystemError) { _ = try partials.makeFolder(name) } catch {
            guard error.isTaken else { throw error }
            isOld = true
        }
        guard let folder = try lock(name, in: partials) else { return nil }
        // A record without its folder tells of nothing.
        if !isOld { try? partials.removeTree(recordName(name)) }
        return Place(partials: partials, name: name, partial: folder, isOld: isOld)
    }

    /// Locks a partial folder; `nil` when another has it, or has removed it meanwhile.
    static func lock(_ name: String, in partials: Folder) throws(SystemError) -> Folder? {
        let folder = try partials.folder(name)
        return try folder.lock() && isStill(folder, name, in: partials) ? folder : nil
    }

    /// Whether the name still leads to this folder.
    static func isStill(_ folder: Folder, _ name: String, in partials: Folder) -> Bool {
        guard let there = try? partials.status(of: name), let own = try? folder.status() else { return false }
        return there.inode == own.inode && there.device == own.device
    }

    /// Removes what nobody has come back for, and where too much is left that of which least is here.
    private static func removeForgotten(in partials: Folder, but own: String) {
        let limit = WallClock.milliseconds() / 1000 - Limits.partialsKept
        let suffix = recordName("")
        var left: [(name: String, size: UInt64)] = []
        for name in (try? partials.names().names) ?? [] where name != own && name != recordName(own) {
            guard let status = try? partials.status(of: name) else { continue }
            let record = try? partials.status(of: recordName(name))
            // The folder's own time does not tell of what is written to files in it.
            let isForgotten = max(status.modified.seconds, record?.modified.seconds ?? 0) < limit
            switch (status.kind, isForgotten) {
            case (.folder, true): removeUnused(name, in: partials)
            case (.folder, false): left.append((name, record?.size ?? 0))
            case (_, true):
                let isOwned =
                    name.hasSuffix(suffix) && (try? partials.status(of: String(name.dropLast(suffix.count)))) != nil
                if !isOwned { try? partials.removeTree(name) }
            case (_, false): break
            }
        }
        // Small ones cost nobody much: neither who made many of them, nor who has to send one again.
        let surplus = max(0, left.count + 1 - Limits.partials)
        for (name, _) in left.sorted(by: { $0.size < $1.size }).prefix(surplus) { removeUnused(name, in: partials) }
    }

    private static func removeUnused(_ name: String, in partials: Folder) {
        guard let folder = try? lock(name, in: partials) else { return }
        try? partials.removeTree(recordName(name))
        try? partials.removeTree(name)
        folder.unlock()
    }

    // MARK: What is here

    /// Bytes that need no room any more when this transfer is accepted, as far as can be told at a glance.
    ///
    /// Without the transfer's ID, as for an invitation: of any that has so many bytes.
    static func bytesHere(of transfer: TransferID?, size: UInt64, in path: String) -> UInt64 {
        guard let partials = try? Folder.open(path).folder(partialFolder) else { return 0 }
        let own = transfer.map { recordName(name(of: $0)) }
        let names = own.map { [$0] } ?? (try? partials.names().names.filter { $0.hasSuffix(recordName("")) }) ?? []
        return names.compactMap { ResumeRecord.bytesHere(size: size, $0, in: partials) }.max() ?? 0
    }
}
