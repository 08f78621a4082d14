package import PeerModel
package import PeerSystem
package import PeerTLS
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
        /// What was here at the beginning.
        var kept: KeptPieces
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
        case givenUp(isContinuable: Bool)
        /// Nothing is written any more; it may go on in another landing.
        case left
        case removed
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
    /// For the lengths of pieces; what is known of them is elsewhere.
    let ledger: PieceLedger
    let writer: Mutex<LandingWriter>
    let log: Mutex<ResumeLog>
    let shared: Mutex<Shared>
    /// Waits until what was written is on the disk.
    let syncing: Syncing
    let stage = Monitor(Stage.writing)

    /// Makes the folder for received files if it is not there, and one for this transfer in it.
    ///
    /// Continues what an earlier attempt left, or removes it when that cannot be trusted or nobody's `key` is given; what is
    /// going on in another process is left alone.
    package init(
        folder path: String, transfer: TransferID, offer: OfferBody, signedBy key: PublicKey? = nil,
        syncing: @escaping Syncing = { (folder) throws(SystemError) in try folder.syncFileSystem() }
    ) throws(TransferFailure) {
        self.syncing = syncing
        let place: Place
        do {
            self.path = try Paths.absolute(path)
            into = try Folder.make(self.path)
            place = try Self.makePlace(in: into, self.path, transfer)
        } catch let failure as TransferFailure {
            throw failure
        } catch let error as SystemError {
            throw TransferFailure(writing: path, error)
        } catch {
            throw .unwritable("\(SafeText.line(path)) cannot be written.")
        }
        (partials, partialName) = (place.partials, place.name)
        manifestLength = offer.manifestLength
        hasSeveralFiles = offer.files > 1
        length = offer.manifestLength &+ offer.size
        ledger = PieceLedger(length: length)
        let places = LandingPlaces(into: into, partial: place.partial)
        writer = Mutex(LandingWriter(offer, places))
        shared = Mutex(Shared(places: places, kept: KeptPieces(transfer)))
        log = Mutex(
            ResumeLog(place.partials, Self.recordName(place.name), transfer, ledger, manifestLength: manifestLength))
        guard place.isOld else { return }
        if let key, try resume(transfer, offer, signedBy: key) { return }
        do throws(SystemError) { try startOver(offer) } catch { throw TransferFailure(writing: path, error) }
    }

    // MARK: Writing

    /// Bytes of the stream that are here; after `diskFull` the next call goes on behind them.
    package var received: UInt64 { shared.withLock { $0.received } }

    /// Takes the next bytes of the stream.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(TransferFailure) {
        if stage.read({ if case .givenUp = $0 { true } else { false } }) { throw .givenUp }
        try writer.withLock { (writer) throws(TransferFailure) in
            defer { publish(&writer) }
            try writer.append(bytes)
        }
    }

    func publish(_ writer: inout LandingWriter) {
        shared.withLock { shared in
            shared.received = writer.position
            // A copy of its own: an array that both hold would be copied whole at each append.
            shared.manifestBytes += writer.manifestBytes[shared.manifestBytes.count...]
            shared.manifest = writer.manifest
            shared.places = writer.places
        }
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
