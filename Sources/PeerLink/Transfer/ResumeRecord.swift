internal import PeerModel
internal import PeerSystem
internal import PeerWire

/// What is known of the pieces in a partial folder; beside it, so that the transfer can continue in another process.
///
/// A file that only grows, but for the number of pieces that are surely on the disk. Numbers are big-endian:
///
/// | bytes | field |
/// |---|---|
/// | 0–7 | `PCPIECE1` |
/// | 8–39 | transfer ID |
/// | 40–47 | bytes of the stream |
/// | 48–55 | bytes of the manifest |
/// | 56–63 | pieces that were on the disk when this was written; those behind them are hashed before they are believed |
/// | 64… | the manifest |
/// | … | hash(i) of piece 1, 2, …: 32 bytes each; behind that of a checkpoint the sender's signature, 64 bytes |
struct ResumeRecord: Equatable {
    static let headerSize: UInt64 = 64
    /// Where the number of pieces on the disk stands.
    static let syncedOffset: UInt64 = 56
    private static let context = Array("PCPIECE1".utf8)

    let transfer: TransferID
    let manifest: [UInt8]
    /// Pieces that were on the disk.
    private(set) var synced: UInt64
    private(set) var hashes: [UInt8] = []
    private(set) var checkpoints: [UInt64: [UInt8]] = [:]

    var count: UInt64 { UInt64(hashes.count / Digest.size) }

    func hash(of piece: UInt64) -> [UInt8] {
        let start = Int(piece - 1) * Digest.size
        return Array(hashes[start..<(start + Digest.size)])
    }

    static func header(_ transfer: TransferID, _ length: UInt64, manifestLength: UInt64, synced: UInt64) -> [UInt8] {
        var bytes = context + transfer.digest.bytes
        for number in [length, manifestLength, synced] { bytes += self.bytes(number) }
        return bytes
    }

    static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Bytes up to behind the hash, and the signature if there is one, of piece `count`.
    static func size(ofPieces count: UInt64, _ pieces: UInt64, manifestLength: UInt64) -> UInt64 {
        let isLast = count == pieces && count % Limits.checkpointEvery != 0
        let signatures = count / Limits.checkpointEvery + (isLast ? 1 : 0)
        return headerSize + manifestLength + count * UInt64(Digest.size)
            + signatures * UInt64(SignedBytes.signatureSize)
    }

    /// Reads the record of this offer; `nil` when it is another's, or nothing of use is in it.
    ///
    /// A signature may be missing behind the last hash: then that hash is not taken.
    init?(parsing bytes: [UInt8], _ transfer: TransferID, _ ledger: PieceLedger, manifestLength: UInt64) {
        guard manifestLength <= UInt64(Limits.manifest) else { return nil }
        let start = Int(Self.headerSize + manifestLength)
        let synced = bytes.prefix(Int(Self.headerSize)).suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let header = Self.header(transfer, ledger.length, manifestLength: manifestLength, synced: synced)
        guard bytes.count > start, bytes.starts(with: header) else { return nil }
        self.transfer = transfer
        manifest = Array(bytes[header.count..<start])
        var rest = bytes[start...], piece: UInt64 = 1
        while piece <= ledger.pieces {
            let isCheckpoint = PieceLedger.isCheckpoint(piece, of: ledger.pieces)
            guard rest.count >= Digest.size + (isCheckpoint ? SignedBytes.signatureSize : 0) else { break }
            hashes += rest.prefix(Digest.size)
            rest = rest.dropFirst(Digest.size)
            if isCheckpoint {
                checkpoints[piece] = Array(rest.prefix(SignedBytes.signatureSize))
                rest = rest.dropFirst(SignedBytes.signatureSize)
            }
            piece += 1
        }
        self.synced = 0
        self.synced = min(synced, count)
    }

    /// What a header tells of sizes.
    struct Numbers {
        let length: UInt64
        let manifestLength: UInt64

        init?(_ header: [UInt8]) {
            guard header.count == Int(headerSize), header.starts(with: context) else { return nil }
            let number = { (at: Int) in header[at..<(at + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
            (length, manifestLength) = (number(40), number(48))
        }
    }

    /// How many of `size` bytes of files the record tells of; `nil` when it is of others.
    static func bytesHere(size: UInt64, _ name: String, in folder: Folder) -> UInt64? {
        guard let file = try? folder.openFile(name), let status = try? file.status(), status.kind == .file,
            let header = try? file.read(atMost: Int(headerSize)), let numbers = Numbers(header)
        else { return nil }
        let (sum, overflows) = size.addingReportingOverflow(numbers.manifestLength)
        guard !overflows, sum == numbers.length, status.size > headerSize,
            status.size - headerSize >= numbers.manifestLength
        else { return nil }
        // The last piece's signature may stand behind fewer hashes; then all is here.
        let rest = status.size - headerSize - numbers.manifestLength
        let signed = Limits.checkpointEvery * UInt64(Digest.size) + UInt64(SignedBytes.signatureSize)
        let pieces = rest / signed * Limits.checkpointEvery + rest % signed / UInt64(Digest.size)
        let (here, isTooMuch) = pieces.multipliedReportingOverflow(by: UInt64(Limits.pieceSize))
        let withoutManifest = here - min(here, numbers.manifestLength)
        return isTooMuch ? size : min(withoutManifest, size)
    }

    /// The record beside a partial folder, `nil` when there is none of this transfer.
    static func read(
        _ name: String, in folder: Folder, _ transfer: TransferID, _ ledger: PieceLedger, manifestLength: UInt64
    ) throws(SystemError) -> ResumeRecord? {
        let file: OpenFile
        do { file = try folder.openFile(name) } catch {
            guard error.isMissing || error.isLink else { throw error }
            return nil
        }
        let status = try file.status()
        guard status.kind == .file,
            status.size <= size(ofPieces: ledger.pieces, ledger.pieces, manifestLength: manifestLength)
        else { return nil }
        let bytes = try file.read(atMost: Int(clamping: status.size))
        return ResumeRecord(parsing: bytes, transfer, ledger, manifestLength: manifestLength)
    }
}
