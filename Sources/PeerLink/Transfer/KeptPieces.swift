internal import PeerModel
internal import PeerTLS
internal import PeerWire

/// The pieces that are here from an earlier attempt: their hashes, and what the sender signed of them.
struct KeptPieces: Sendable {
    private(set) var hashes: [UInt8] = []
    private(set) var checkpoints: [UInt64: [UInt8]] = [:]
    /// C of the last piece.
    private(set) var chain: PieceChain
    /// What the sender will recognise; `nil` when too few are here for a signature.
    private(set) var proof: PieceProof?

    /// Nothing yet.
    init(_ transfer: TransferID) { chain = PieceChain(transfer) }

    var count: UInt64 { chain.index }

    /// The first `limit` pieces of a record at most: behind its last signature only what that one leads to.
    ///
    /// A signature holds for all pieces before it, so one is checked, and earlier ones only while those behind are wrong.
    init(_ record: ResumeRecord, atMost limit: UInt64, of ledger: PieceLedger, signedBy key: PublicKey) {
        var chain = PieceChain(record.transfer), links: [UInt64: Digest] = [:]
        var count = min(limit, record.count)
        for piece in stride(from: 1, through: count, by: 1) {
            guard let hash = Digest(record.hash(of: piece)) else { break }
            chain.append(hash, length: ledger.range(of: piece).count)
            if record.checkpoints[piece] != nil { links[piece] = chain.link }
        }
        var proof: PieceProof?
        for index in links.keys.sorted(by: >) where proof == nil {
            guard let link = links[index], let signature = record.checkpoints[index] else { break }
            let signed = TransferLayout.checkpoint(transfer: record.transfer, index: index, link: link)
            if key.isValid(signature: signature, for: signed) {
                proof = PieceProof(index: index, link: link, signature: signature)
            } else {
                count = index - 1
            }
        }
        hashes = Array(record.hashes.prefix(Int(count) * Digest.size))
        checkpoints = record.checkpoints.filter { $0.key <= count }
        self.proof = proof
        self.chain = proof.map { PieceChain(record.transfer, at: $0) } ?? PieceChain(record.transfer)
        while self.chain.index < count, let hash = Digest(record.hash(of: self.chain.index + 1)) {
            self.chain.append(hash, length: ledger.range(of: self.chain.index + 1).count)
        }
    }
}
