internal import PeerModel
internal import PeerSystem
internal import PeerWire
internal import Synchronization

extension Landing {
    /// Gives everything its final name, once all bytes are here.
    ///
    /// - Parameter changed: Numbers of entries whose bytes are not what they should be; they are left out.
    /// - Returns: What there is now, and what is not; `nil` when the files are only kept for others.
    /// - Throws: `corrupt` before all bytes are here; after any other error some entries may have landed.
    package func finish(dropping changed: [UInt32]) throws(TransferFailure) -> Landed? {
        try writer.withLock { (writer) throws(TransferFailure) -> Landed? in
            guard writer.isComplete, writer.position == length, let manifest = writer.manifest else {
                throw .corrupt("The files are not complete.")
            }
            var skipped: [String] = []
            let dropped = drop(changed, manifest, &writer.places, &skipped)
            for entry in manifest.entries where entry.kind == .link { makeLink(entry, &writer, &skipped) }
            for entry in manifest.entries.reversed() where entry.kind == .folder {
                guard let (parent, name) = try? writer.places.parent(of: entry.path) else { continue }
                try? parent.folder(name).setModified(
                    FileStatus.Time(seconds: entry.seconds, nanoseconds: entry.nanoseconds))
            }
            try sync()
            // That takes as long as the disk does: what was given up meanwhile, and told to have failed, must not land.
            guard try mayLand() else { return nil }
            let tops = manifest.entries.indices.filter { index in
                !manifest.entries[index].path.utf8.contains(UInt8(ascii: "/")) && !dropped.contains(index)
            }
            var paths: [String] = []
            for index in tops { paths.append(try land(manifest.entries[index], &writer.places)) }
            removePartial()
            stage.update { $0 = .removed }
            return Landed(paths: paths, mended: mended(manifest, writer.places), skipped: skipped)
        }
    }

    private func sync() throws(TransferFailure) {
        do { try syncing(into) } catch { throw TransferFailure(writing: path, error) }
    }

    private func drop(
        _ changed: [UInt32], _ manifest: Manifest, _ places: inout LandingPlaces, _ skipped: inout [String]
    ) -> Set<Int> {
        var dropped: Set<Int> = []
        for index in changed.map({ Int($0) }) where index < manifest.entries.count {
            let entry = manifest.entries[index]
            guard entry.kind == .file, dropped.insert(index).inserted else { continue }
            skipped.append("\(entry.path): it, or a file sent with it, changed while it was sent")
            guard let (parent, name) = try? places.parent(of: entry.path) else { continue }
            // Others may still be owed its bytes, which their checks count on.
            if places.dropped.count < LandingPlaces.held { places.dropped[index] = try? parent.openFile(name) }
            try? parent.remove(name)
        }
        let places = places
        shared.withLock { $0.places = places }
        return dropped
    }

    private func makeLink(_ entry: ManifestEntry, _ writer: inout LandingWriter, _ skipped: inout [String]) {
        do throws(SystemError) {
            let (parent, _) = try writer.places.parent(of: entry.path)
            try writer.place(entry) { name throws(SystemError) in try parent.makeLink(name, to: entry.target) }
        } catch {
            skipped.append("\(entry.path): it is a link, and cannot be made here: \(error.reason)")
        }
    }

    /// Renames one top-level entry to the first free name and gives its path.
    private func land(_ entry: ManifestEntry, _ places: inout LandingPlaces) throws(TransferFailure) -> String {
        let name = places.components(entry.path)[0]
        let held = hold(entry, name, places)
        for number in 0..<100_000 {
            let tried = NumberedName.name(name, number, isFolder: entry.kind == .folder)
            do {
                try places.partial.renameNew(name, to: into, as: tried)
            } catch {
                if error.isTaken { continue }
                throw TransferFailure(writing: path + "/" + tried, error)
            }
            let top = held ?? .named(tried)
            places.landed[Array(entry.path.utf8)] = top
            shared.withLock { $0.places.landed[Array(entry.path.utf8)] = top }
            return path + "/" + tried
        }
        throw .unwritable("\(SafeText.line(path)) has too many files of the same name.")
    }

    /// Held open, an entry can be read on even when the user moves it away.
    private func hold(_ entry: ManifestEntry, _ name: String, _ places: LandingPlaces) -> LandingPlaces.Top? {
        guard places.landed.count < LandingPlaces.held else { return nil }
        switch entry.kind {
        case .file: return (try? places.partial.openFile(name)).map { .file($0) }
        case .folder: return (try? places.partial.folder(name)).map { .folder($0) }
        case .link: return nil
        }
    }

    private func mended(_ manifest: Manifest, _ places: LandingPlaces) -> [String] {
        guard !places.mended.isEmpty else { return [] }
        return manifest.entries.compactMap { entry in
            places.mended[Array(entry.path.utf8)].map { "\(entry.path) → \($0)" }
        }
    }
}
