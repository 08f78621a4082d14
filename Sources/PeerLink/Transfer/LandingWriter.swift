internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// Takes the stream in order: reads the manifest, then makes the folders and files and fills them.
///
/// A call that failed because the disk is full can be repeated: `position` says how much of it was taken.
struct LandingWriter: ~Copyable, Sendable {
    let offer: OfferBody
    private var decoder: ManifestDecoder? = ManifestDecoder()
    private(set) var manifestBytes: [UInt8] = []
    var manifest: Manifest?
    /// Bytes of the stream that were taken.
    var position: UInt64 = 0
    var places: LandingPlaces

    /// Names are mended before they are tried.
    let hasWindowsNames: Bool
    /// The next entry to make; links are made at the end.
    var next = 0
    /// The file that is filled, and how many of its bytes are there.
    var file: (OpenFile, entry: ManifestEntry, written: UInt64)?
    /// The folders that the next entry lies in, from the top.
    var open: [Folder] = []
    /// Whether an entry was made, or a file closed, that may not be on the disk yet.
    private var needsWholeSync = true

    init(_ offer: OfferBody, _ places: LandingPlaces) {
        self.offer = offer
        self.places = places
        hasWindowsNames = places.into.hasWindowsNames
    }

    /// Whether all entries but links are there and filled.
    var isComplete: Bool { file == nil && manifest.map { next == $0.entries.count } ?? false }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(TransferFailure) {
        var rest = bytes
        if manifest == nil {
            let count = Int(min(UInt64(rest.count), offer.manifestLength - position))
            try appendManifest(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        guard let manifest else { return }
        try advance(manifest)
        while !rest.isEmpty {
            guard let (open, entry, written) = file else { throw .corrupt("More bytes came than were offered.") }
            let count = Int(min(UInt64(rest.count), entry.size - written))
            do { try open.write(UnsafeRawBufferPointer(rebasing: rest[..<count]), at: written) } catch {
                throw TransferFailure(writing: entry.path, error)
            }
            position += UInt64(count)
            file?.written = written + UInt64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            try advance(manifest)
        }
    }

    /// Brings what was written to the disk.
    ///
    /// New names need more than their file's content, and many small files are faster together. The kernel tells of bytes
    /// that could not be written only once, so the transfer must not go on after that.
    mutating func sync(_ syncing: Landing.Syncing) throws(SystemError) {
        if needsWholeSync { try syncing(places.into) } else { try file?.0.sync() }
        needsWholeSync = false
    }

    // MARK: The manifest

    mutating func appendManifest(_ bytes: UnsafeRawBufferPointer) throws(TransferFailure) {
        do {
            try decoder?.append(bytes)
            manifestBytes.append(contentsOf: bytes)
            position += UInt64(bytes.count)
            guard position == offer.manifestLength, let decoder = decoder.take() else { return }
            let manifest = try decoder.finish()
            guard SHA256.hash(manifestBytes) == offer.manifestHash, manifest.entries.count == Int(offer.entries),
                manifest.fileCount == Int(offer.files), manifest.totalSize == offer.size
            else { throw ManifestError.badLayout }
            self.manifest = manifest
        } catch {
            throw .corrupt("The list of files is not the one that was offered, or not a valid one (\(error)).")
        }
        guard let manifest, isNamed(manifest) else {
            throw .misleading("The files have other names than the offer shows.")
        }
    }

    /// Whether the top-level entries have the names that this peer was shown, or are more than are shown.
    private func isNamed(_ manifest: Manifest) -> Bool {
        let shown = Set(offer.names.map { Array($0.utf8) })
        var missing = shown, count = 0
        for entry in manifest.entries where !entry.path.utf8.contains(UInt8(ascii: "/")) {
            missing.remove(Array(OfferBody.shownName(entry.path, isFolder: entry.kind == .folder).utf8))
            count += 1
        }
        return missing.isEmpty && shown.count == offer.names.count && shown.count == min(count, Limits.topNames)
    }

    // MARK: Entries

    /// Closes the file that is full and makes the entries up to the next file that needs bytes.
    private mutating func advance(_ manifest: Manifest) throws(TransferFailure) {
        if let (open, entry, written) = file {
            guard written == entry.size else { return }
            finish(open, entry)
            file = nil
            needsWholeSync = true
        }
        while next < manifest.entries.count {
            let entry = manifest.entries[next]
            try make(entry)
            next += 1
            if file != nil { return }
        }
        open = []
    }

    private mutating func make(_ entry: ManifestEntry) throws(TransferFailure) {
        guard entry.kind != .link else { return }
        needsWholeSync = true
        let components = entry.path.utf8.split(separator: UInt8(ascii: "/"))
        // The manifest's order puts each entry behind its folder, so the folders above it are the first of those open.
        open.removeLast(max(0, open.count - (components.count - 1)))
        let parent = open.last ?? places.partial
        do {
            if entry.kind == .folder {
                let mode = entry.mode | 0o700  // or nothing could be put into it
                open.append(try place(entry) { name throws(SystemError) in try parent.makeFolder(name, mode: mode) })
            } else {
                // Never more open than it was; the umask closes it further.
                let mode = entry.mode | 0o600
                let made = try place(entry) { name throws(SystemError) in try parent.createFile(name, mode: mode) }
                if entry.size > 0 { file = (made, entry, 0) } else { finish(made, entry) }
            }
        } catch {
            throw TransferFailure(writing: entry.path, error)
        }
    }

    /// A time that the file system cannot keep is no reason to lose the file.
    private func finish(_ file: OpenFile, _ entry: ManifestEntry) {
        try? file.setModified(FileStatus.Time(seconds: entry.seconds, nanoseconds: entry.nanoseconds))
    }

    /// The name that is tried first.
    func firstName(_ own: String) -> String {
        hasWindowsNames ? MendedName.forWindows(own) : MendedName.withoutControls(own)
    }

    /// Makes an entry under its own name, or under one that this file system takes and that is free.
    mutating func place<Made>(
        _ entry: ManifestEntry, _ make: (String) throws(SystemError) -> Made
    ) throws(SystemError) -> Made {
        let own = entry.name
        var name = firstName(own)
        var number = 0, isMended = false
        while true {
            let tried = NumberedName.name(name, number, isFolder: entry.kind == .folder)
            do {
                let made = try make(tried)
                if !tried.utf8.elementsEqual(own.utf8) { places.mend(entry.path, tried) }
                return made
            } catch {
                // Taken: names that differ here may be the same there, as `A` and `a` are.
                if error.isTaken, number < 1000 {
                    number += 1
                } else if error.isBadName, !isMended {
                    isMended = true
                    name = MendedName.short(own)
                } else {
                    throw error
                }
            }
        }
    }
}

extension ManifestEntry {
    /// The last component of its path.
    var name: String { String(Substring(path.utf8.split(separator: UInt8(ascii: "/")).last ?? ""[...].utf8)) }
}
