internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// What is known of a transfer's pieces so far: their hashes, in order, with the sender's signatures.
///
/// One thread fills it (the hasher at the sender, the intake elsewhere), any number follow it to serve pieces while they still
/// come in.
final class PieceLedger: Sendable {
    struct State: Sendable {
        /// The hash of each piece that may be served, 32 bytes each.
        var hashes: [UInt8] = []
        var checkpoints: [UInt64: [UInt8]] = [:]
        var end: StreamEnd?
        var failure: TransferReason?
        /// The furthest piece that anyone was served: nothing is hashed far ahead of it.
        var served: UInt64 = 0

        var count: UInt64 { UInt64(hashes.count / Digest.size) }
    }

    /// What follows next for someone who has been served `count` pieces.
    enum Next: Equatable {
        case piece(hash: [UInt8])
        case checkpoint(signature: [UInt8])
        case end(StreamEnd)
        case failed(TransferReason)
    }

    let state = Monitor(State())
    /// Bytes of the stream.
    let length: UInt64

    init(length: UInt64) { self.length = length }

    var pieces: UInt64 { (length + UInt64(Limits.pieceSize) - 1) / UInt64(Limits.pieceSize) }

    /// Where piece `i`, from 1, lies in the stream.
    func range(of piece: UInt64) -> Range<UInt64> {
        let start = (piece - 1) * UInt64(Limits.pieceSize)
        return start..<min(start + UInt64(Limits.pieceSize), length)
    }

    static func isCheckpoint(_ piece: UInt64, of pieces: UInt64) -> Bool {
        piece % Limits.checkpointEvery == 0 || piece == pieces
    }

    /// Waits for piece `i`, so many seconds; `nil` when it has not come.
    func hash(of piece: UInt64, seconds: Double) -> Next? {
        state.wait(seconds: seconds) { state in
            if let reason = state.failure { return .failed(reason) }
            guard piece <= state.count else { return nil }
            let start = Int(piece - 1) * Digest.size
            return .piece(hash: Array(state.hashes[start..<(start + Digest.size)]))
        }
    }

    func checkpoint(behind piece: UInt64, seconds: Double) -> Next? {
        state.wait(seconds: seconds) { state in
            state.served = max(state.served, piece)
            if let reason = state.failure { return .failed(reason) }
            return state.checkpoints[piece].map { .checkpoint(signature: $0) }
        }
    }

    func end(seconds: Double) -> Next? {
        state.wait(seconds: seconds) { state in
            if let reason = state.failure { return .failed(reason) }
            return state.end.map { .end($0) }
        }
    }

    func served(_ piece: UInt64) { state.update { $0.served = max($0.served, piece) } }

    func fail(_ reason: TransferReason) { state.update { $0.failure = $0.failure ?? reason } }
}

/// C(i): the hash over all pieces up to one (WIRE.md, "Transfers").
struct PieceChain {
    private(set) var index: UInt64 = 0
    private(set) var link: Digest
    let transfer: TransferID

    init(_ transfer: TransferID) {
        self.transfer = transfer
        link = transfer.digest
    }

    mutating func append(_ hash: Digest, length: Int) {
        index += 1
        link = SHA256.hash(
            TransferLayout.link(previous: link, index: index, length: UInt32(clamping: length), hash: hash))
    }

    var checkpoint: [UInt8] { TransferLayout.checkpoint(transfer: transfer, index: index, link: link) }

    func end(changed: [UInt32]) -> [UInt8] {
        TransferLayout.end(transfer: transfer, index: index, link: link, changed: changed)
    }
}

/// Hashes and signs an own transfer, a little ahead of those it is served to.
enum PieceHasher {
    /// Far enough that nobody waits for a hash, near enough that the pages are still in memory when they are sent.
    private static let lead: UInt64 = 32

    static func run(_ source: TransferSource, _ ledger: PieceLedger, _ transfer: TransferID, _ key: SigningKey) {
        do throws(TransferFailure) {
            try hash(source, ledger, transfer, key)
        } catch {
            ledger.fail(error.reason)
        }
    }

    private static func hash(
        _ source: TransferSource, _ ledger: PieceLedger, _ transfer: TransferID, _ key: SigningKey
    ) throws(TransferFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.pieceSize, alignment: 4096)
        defer { buffer.deallocate() }
        var chain = PieceChain(transfer)
        let pieces = ledger.pieces
        for piece in 1...max(pieces, 1) {
            while ledger.state.wait(seconds: 60, until: { $0.failure != nil || $0.served + lead >= piece ? true : nil })
                == nil
            {}
            if ledger.state.read({ $0.failure != nil }) { return }
            let range = ledger.range(of: piece)
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(range.count)])
            try source.read(at: range.lowerBound, into: bytes)
            let hash = SHA256.hash(UnsafeRawBufferPointer(bytes))
            chain.append(hash, length: bytes.count)
            let signature = PieceLedger.isCheckpoint(piece, of: pieces) ? key.sign(chain.checkpoint) : nil
            ledger.state.update { state in
                state.hashes += hash.bytes
                state.checkpoints[piece] = signature
            }
        }
        // Only known once everything was read; a single file that changed is no use to anyone.
        while ledger.state.wait(seconds: 60, until: { $0.failure != nil || $0.served >= pieces ? true : nil }) == nil {}
        let changed = source.changedEntries().map { UInt32(clamping: $0) }
        if !changed.isEmpty, source.fileCount == 1 { throw .changed }
        guard changed.count <= StreamEnd.maximumChanged else { throw .changed }
        let signature = key.sign(chain.end(changed: changed))
        ledger.state.update { $0.end = StreamEnd(index: pieces, changed: changed, signature: signature) }
    }
}
