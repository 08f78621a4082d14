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
        /// The hash of each piece that may be served, 32 bytes each; from the one behind `base` on.
        var hashes: [UInt8] = []
        let base: UInt64
        var checkpoints: [UInt64: [UInt8]] = [:]
        var end: StreamEnd?
        /// In place of the end, where the files are the own ones: each recipient is told what changed before it had it.
        var hashed: HashedFiles?
        var failure: TransferReason?
        /// The furthest piece that anyone was served: nothing is hashed far ahead of it.
        var served: UInt64 = 0

        /// The last piece that may be served.
        var count: UInt64 { base + UInt64(hashes.count / Digest.size) }
    }

    /// What follows next for someone who has been served `count` pieces.
    enum Next: Equatable {
        case piece(hash: [UInt8])
        case checkpoint(signature: [UInt8])
        case end(StreamEnd)
        case hashed(HashedFiles)
        case failed(TransferReason)
    }

    let state: Monitor<State>
    /// Bytes of the stream.
    let length: UInt64
    /// Nothing is known here of the pieces up to this one: whoever is served has them.
    let base: UInt64

    init(length: UInt64, base: UInt64 = 0) {
        self.length = length
        self.base = base
        state = Monitor(State(base: base))
    }

    /// What is here from an earlier attempt.
    func take(_ kept: KeptPieces) {
        state.update { state in
            state.hashes = kept.hashes
            state.checkpoints = kept.checkpoints
        }
    }

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
            guard piece > state.base else { return .failed(.lost) }
            let start = Int(piece - state.base - 1) * Digest.size
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

    func hashed(seconds: Double) -> Next? {
        state.wait(seconds: seconds) { state in
            if let reason = state.failure { return .failed(reason) }
            return state.hashed.map { .hashed($0) }
        }
    }

    func served(_ piece: UInt64) { state.update { $0.served = max($0.served, piece) } }

    func fail(_ reason: TransferReason) { state.update { $0.failure = $0.failure ?? reason } }
}

/// All pieces of own files, once they have been hashed.
struct HashedFiles: Equatable {
    let chain: PieceChain
    /// Entries that changed meanwhile: their bytes are of no time.
    let changed: [Int]
}

/// C(i): the hash over all pieces up to one (WIRE.md, "Transfers").
struct PieceChain: Equatable {
    private(set) var index: UInt64 = 0
    private(set) var link: Digest
    let transfer: TransferID

    init(_ transfer: TransferID) {
        self.transfer = transfer
        link = transfer.digest
    }

    /// Goes on behind what was signed.
    init(_ transfer: TransferID, at proof: PieceProof) {
        self.transfer = transfer
        index = proof.index
        link = proof.link
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
