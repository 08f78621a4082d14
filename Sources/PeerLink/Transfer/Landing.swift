package import PeerModel
package import PeerSystem
package import PeerWire
internal import Synchronization

/// Received files on their way to their final names, and from then on the same bytes for others to read.
///
/// One thread writes; reading goes on beside it, as far as `received`. All calls block.
package final class Landing: PieceReading {
    /// What has landed.
    package struct Landed: Sendable {
        /// Absolute paths of the top-level entries.
        package let paths: [String]
        /// Entries under other names than they were sent with, as `old → new`; foreign text.
        package let mended: [String]
        /// Entries left out, with the reason; foreign text.
        package let skipped: [String]
    }

    /// What readers need; a copy of what the writer knows.
    struct Shared: Sendable {
        var received: UInt64 = 0
        var manifestBytes: [UInt8] = []
        var manifest: Manifest?
        var places: LandingPlaces
        /// The file that was read last: a large one is read piece by piece.
        var last: (entry: Int, file: OpenFile)?
    }

    /// What is to become of the files.
    enum Stage: Sendable {
        case writing
        /// Nobody here wants them; they are written on because others are served from them.
        case unwanted
        /// They get their names: too late to give them up.
        case landing
        /// All here, for others only.
        case kept
        case givenUp
    }

    package typealias Syncing = @Sendable (Folder) throws(SystemError) -> Void

    /// Who removes what was given up.
    package enum Removal: Sendable {
        /// The thread that writes, when it notices; or nobody, since the files have landed.
        case notNeeded
        case mustBeRemoved
    }

    static let partialFolder = ".peerconnect-partial"

    package let length: UInt64
    let manifestLength: UInt64
    let hasSeveralFiles: Bool
    let path: String
    let into: Folder
    let partials: Folder
    let partialName: String
    let writer: Mutex<LandingWriter>
    let shared: Mutex<Shared>
    /// Waits until what was written is on the disk.
    let syncing: Syncing
    private let stage = Mutex(Stage.writing)

    /// Makes the folder for received files if it is not there, and an empty one for this transfer in it.
    ///
    /// What an earlier attempt left is removed, unless it is going on in another process.
    package init(
        folder path: String, transfer: TransferID, offer: OfferBody,
        syncing: @escaping Syncing = { (folder) throws(SystemError) in try folder.syncFileSystem() }
    ) throws(TransferFailure) {
        self.syncing = syncing
        let partial: Folder
        do {
            self.path = try Paths.absolute(path)
            into = try Folder.make(self.path)
            (partials, partialName, partial) = try Self.makePlace(in: into, self.path, transfer)
        } catch let failure as TransferFailure {
            throw failure
        } catch let error as SystemError {
            throw TransferFailure(writing: path, error)
        } catch {
            throw .unwritable("\(SafeText.line(path)) cannot be written.")
        }
        manifestLength = offer.manifestLength
        hasSeveralFiles = offer.files > 1
        length = offer.manifestLength &+ offer.size
        let places = LandingPlaces(into: into, partial: partial)
        writer = Mutex(LandingWriter(offer, places))
        shared = Mutex(Shared(places: places))
    }

    /// A transfer that ends removes the folder of all partial ones when nothing is in it: then it is made again.
    private static func makePlace(
        in into: Folder, _ path: String, _ transfer: TransferID
    ) throws -> (partials: Folder, name: String, partial: Folder) {
        var attempts = 10
        while true {
            do {
                let partials = try openPartials(in: into, path)
                let (name, partial) = try makePartial(in: partials, String(transfer.description.prefix(16)))
                return (partials, name, partial)
            } catch let error as SystemError where error.isMissing && attempts > 0 {
                attempts -= 1
            }
        }
    }

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

    private static func makePartial(in partials: Folder, _ name: String) throws -> (String, Folder) {
        for number in 0..<1000 {
            let name = number == 0 ? name : "\(name)-\(number)"
            do {
                let folder = try partials.makeFolder(name)
                if try folder.lock() { return (name, folder) }
            } catch {
                guard error.isTaken else { throw error }
                let folder = try partials.folder(name)
                guard try folder.lock() else { continue }
                try folder.removeContent()
                return (name, folder)
            }
        }
        throw TransferFailure.unwritable("The same files are being received here too often at once.")
    }

    // MARK: Writing

    /// Bytes of the stream that are here; after `diskFull` the next call goes on behind them.
    package var received: UInt64 { shared.withLock { $0.received } }

    /// Takes the next bytes of the stream.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(TransferFailure) {
        guard stage.withLock({ $0 != .givenUp }) else { throw .givenUp }
        try writer.withLock { (writer) throws(TransferFailure) in
            defer { publish(&writer) }
            try writer.append(bytes)
        }
    }

    private func publish(_ writer: inout LandingWriter) {
        shared.withLock { shared in
            shared.received = writer.position
            // A copy of its own: an array that both hold would be copied whole at each append.
            shared.manifestBytes += writer.manifestBytes[shared.manifestBytes.count...]
            shared.manifest = writer.manifest
            shared.places = writer.places
        }
    }

    // MARK: Giving up

    /// Says that the files are not wanted; with `keeping` they are kept for others until that is called again without.
    package func giveUp(keeping: Bool) -> Removal {
        stage.withLock { stage in
            switch stage {
            case .writing, .unwanted:
                stage = keeping ? .unwanted : .givenUp
                return .notNeeded
            case .kept where !keeping:
                stage = .givenUp
                return .mustBeRemoved
            case .kept, .landing, .givenUp: return .notNeeded
            }
        }
    }

    /// Whether the files may get their names now; if not, they are kept for others.
    func mayLand() throws(TransferFailure) -> Bool {
        try stage.withLock { (stage) throws(TransferFailure) in
            switch stage {
            case .writing, .landing: stage = .landing
            case .unwanted, .kept: stage = .kept
            case .givenUp: throw .givenUp
            }
            return stage == .landing
        }
    }

    /// Removes what has arrived and has no final name yet; only when nothing is written any more.
    package func remove() {
        shared.withLock { $0.last = nil }
        removePartial()
    }

    func removePartial() {
        try? partials.removeTree(partialName)
        try? into.removeFolder(Self.partialFolder)  // stays when other transfers use it
    }

    // MARK: Reading

    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        let (manifest, filled) = try shared.withLock { (shared) throws(TransferFailure) -> (Manifest?, Int) in
            guard offset <= shared.received, UInt64(buffer.count) <= shared.received - offset else {
                throw .unreadable("What is asked for has not arrived yet.")
            }
            guard offset < manifestLength else { return (shared.manifest, 0) }
            let part = shared.manifestBytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return (shared.manifest, part.count)
        }
        guard filled < buffer.count, let manifest else { return }
        var place = filled
        let start = offset + UInt64(filled) - manifestLength
        for segment in manifest.segments(from: start, count: buffer.count - filled) {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[place..<place + segment.count])
            try read(segment, manifest.entries[segment.entry].path, into: part)
            place += segment.count
        }
    }

    private func read(
        _ segment: Manifest.Segment, _ path: String, into buffer: UnsafeMutableRawBufferPointer
    ) throws(TransferFailure) {
        let count: Int
        do { count = try open(segment.entry, path).read(at: segment.offset, into: buffer) } catch {
            throw .unreadable("\(SafeText.line(path)) cannot be read: \(error.reason).")
        }
        guard count == buffer.count else { throw .changed }
    }

    /// The files with bytes in this part of the stream, once the manifest is here.
    func isFile(_ entry: Int) -> Bool {
        guard let entries = shared.withLock({ $0.manifest })?.entries, entries.indices.contains(entry) else {
            return false
        }
        return entries[entry].kind == .file
    }

    func files(in range: Range<UInt64>) -> [Int] {
        shared.withLock { $0.manifest }?.files(in: range, behind: manifestLength) ?? []
    }

    private func open(_ entry: Int, _ path: String) throws(SystemError) -> OpenFile {
        let (last, places) = shared.withLock { ($0.last, $0.places) }
        if let last, last.entry == entry { return last.file }
        let file = try places.open(entry, path)
        shared.withLock { $0.last = (entry, file) }
        return file
    }
}
