internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// What is hashed of own files: from the start, and from wherever a recipient continues that has the pieces before.
///
/// For the event loop alone.
struct OwnLedgers {
    /// The ledgers that are filled.
    private(set) var all: [PieceLedger] = []
    /// For who has nothing yet.
    private let first: PieceLedger

    init(first: PieceLedger) { self.first = first }

    /// Hashing this far ahead is waited for; further ahead it begins anew where the recipient is.
    private static let near: UInt64 = 64

    /// The ledger to serve who has so many pieces, and where its hashing has to begin if that is new.
    ///
    /// `chain` is what this sender has signed of these pieces, or their start.
    mutating func ledger(for piece: UInt64, behind chain: PieceChain) -> (PieceLedger, begin: PieceChain?) {
        let found = all.first { ledger in
            guard ledger.base <= piece else { return false }
            return ledger.base == chain.index
                || ledger.state.read { $0.failure == nil && $0.count + Self.near >= piece }
        }
        if let found { return (found, nil) }
        // Each has a thread, and who continues chooses where.
        guard chain.index > 0, all.count < Limits.peersAtMost else {
            let isFilled = all.contains { $0 === first }
            if !isFilled { all.append(first) }
            return (first, isFilled ? nil : PieceChain(chain.transfer))
        }
        let ledger = PieceLedger(length: first.length, base: chain.index)
        all.append(ledger)
        return (ledger, chain)
    }

    /// Where hashing has to begin for who asks like this: behind the last own signature that it can show.
    static func start(_ get: Get, of pieces: UInt64, signedBy key: PublicKey) -> PieceChain {
        let start = PieceChain(get.transfer)
        guard let proof = get.proof, proof.index <= min(get.piece, pieces),
            PieceLedger.isCheckpoint(proof.index, of: pieces)
        else { return start }
        let chain = PieceChain(get.transfer, at: proof)
        return key.isValid(signature: proof.signature, for: chain.checkpoint) ? chain : start
    }
}
