internal import PeerModel
internal import PeerSystem
internal import PeerWire

/// Writes the record of what has arrived, piece by piece.
///
/// It never fails a transfer: what cannot be written down has to come again after an interruption, that is all.
struct ResumeLog: Sendable {
    private let folder: Folder
    private let name: String
    private let transfer: TransferID
    private let length: UInt64
    private let manifestLength: UInt64
    private let pieces: UInt64
    /// `nil` until the manifest is here, and when nothing is written any more.
    private var file: OpenFile?
    private var isStopped = false
    /// What is not written yet: hashes from before the manifest was whole, and one whose signature has not come.
    private var waiting: [UInt8] = []
    private var end: UInt64 = 0
    /// Pieces whose hashes were given.
    private var count: UInt64 = 0
    /// Pieces that are written down.
    private(set) var written: UInt64 = 0
    private(set) var synced: UInt64 = 0
    /// Pieces up to the sender's last signature.
    private(set) var signed: UInt64 = 0

    init(_ folder: Folder, _ name: String, _ transfer: TransferID, _ ledger: PieceLedger, manifestLength: UInt64) {
        (self.folder, self.name, self.transfer) = (folder, name, transfer)
        (length, pieces, self.manifestLength) = (ledger.length, ledger.pieces, manifestLength)
    }

    /// Goes on behind the first `kept` pieces of the record.
    mutating func resume(_ kept: UInt64, synced: UInt64, signed: UInt64) {
        (count, written, self.signed) = (kept, kept, signed)
        do throws(SystemError) {
            let file = try folder.openFileToWrite(name)
            end = ResumeRecord.size(ofPieces: kept, pieces, manifestLength: manifestLength)
            try file.setSize(end)
            self.synced = min(synced, kept)
            try file.write(ResumeRecord.bytes(self.synced), at: ResumeRecord.syncedOffset)
            self.file = file
        } catch {
            stop()
        }
    }

    /// Nothing more is written: what comes now is not what it should be.
    mutating func stop() {
        isStopped = true
        file = nil
    }

    /// Takes back all that was written down behind so many pieces, and writes nothing more.
    mutating func cut(to count: UInt64) {
        stop()
        guard count < written else { return }
        do throws(SystemError) {
            let file = try folder.openFileToWrite(name)
            try file.setSize(ResumeRecord.size(ofPieces: count, pieces, manifestLength: manifestLength))
            written = count
        } catch {
            // Nothing of it can be trusted then.
            written = 0
        }
    }

    /// A piece is in its place, and its hash is right.
    mutating func add(_ hash: Digest, manifest: @autoclosure () -> [UInt8]?) {
        guard !isStopped else { return }
        waiting += hash.bytes
        count += 1
        write(manifest)
    }

    /// The sender has signed all pieces so far.
    mutating func sign(_ signature: [UInt8], manifest: @autoclosure () -> [UInt8]?) {
        guard !isStopped else { return }
        waiting += signature
        write(manifest, isSigned: true)
        signed = count
    }

    private mutating func write(_ manifest: () -> [UInt8]?, isSigned: Bool = false) {
        // A piece that must be signed is of no use before it is.
        guard isSigned || !PieceLedger.isCheckpoint(count, of: pieces) else { return }
        do throws(SystemError) {
            if file == nil {
                guard let manifest = manifest() else { return }
                file = try begin(manifest)
            }
            guard let file else { return }
            try file.write(waiting, at: end)
            end += UInt64(waiting.count)
            waiting = []
            written = count
        } catch {
            stop()
        }
    }

    private mutating func begin(_ manifest: [UInt8]) throws(SystemError) -> OpenFile {
        let file = try folder.createFile(name)
        let header = ResumeRecord.header(transfer, length, manifestLength: manifestLength, synced: 0)
        try file.write(header + manifest, at: 0)
        end = ResumeRecord.headerSize + manifestLength
        return file
    }

    /// Whether so much has come that it should be brought to the disk.
    var isDue: Bool { file != nil && written >= synced + Limits.piecesUnsynced }

    /// Everything that was written down is on the disk.
    mutating func wasSynced() {
        guard let file else { return }
        do throws(SystemError) {
            try file.write(ResumeRecord.bytes(written), at: ResumeRecord.syncedOffset)
            try file.sync()
            synced = written
        } catch {
            stop()
        }
    }
}
