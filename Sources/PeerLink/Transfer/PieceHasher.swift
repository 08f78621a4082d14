internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// Hashes and signs an own transfer, a little ahead of those it is served to.
enum PieceHasher {
    /// Far enough that nobody waits for a hash, near enough that the pages are still in memory when they are sent.
    private static let lead: UInt64 = 32

    /// Begins behind the piece that `chain` leads to.
    static func run(_ source: TransferSource, _ ledger: PieceLedger, from chain: PieceChain, _ key: SigningKey) {
        do throws(TransferFailure) {
            try hash(source, ledger, chain, key)
        } catch {
            ledger.fail(error.reason)
        }
    }

    private static func hash(
        _ source: TransferSource, _ ledger: PieceLedger, _ start: PieceChain, _ key: SigningKey
    ) throws(TransferFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.pieceSize, alignment: 4096)
        defer { buffer.deallocate() }
        var chain = start
        let pieces = ledger.pieces
        while chain.index < pieces {
            let piece = chain.index + 1
            while ledger.state.wait(seconds: 60, until: { $0.failure != nil || $0.served + lead >= piece ? true : nil })
                == nil
            {}
            if ledger.state.read({ $0.failure != nil }) { return }
            let range = ledger.range(of: piece)
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(range.count)])
            try source.read(at: range.lowerBound, into: bytes)
            // A single file that changed is no use to anyone.
            if source.fileCount == 1, source.hasChanged(in: range) { throw .changed }
            let hash = SHA256.hash(UnsafeRawBufferPointer(bytes))
            chain.append(hash, length: bytes.count)
            let signature = PieceLedger.isCheckpoint(piece, of: pieces) ? key.sign(chain.checkpoint) : nil
            ledger.state.update { state in
                state.hashes += hash.bytes
                state.checkpoints[piece] = signature
            }
        }
        // Only known once everything was read. What changes later shows when it is read again, to be sent.
        let changed = source.changedEntries()
        if !changed.isEmpty, source.fileCount == 1 { throw .changed }
        ledger.state.update { $0.hashed = HashedFiles(chain: chain, changed: changed) }
    }
}

/// What only who owns the files can do: see that they change, and sign what recipients are to leave out.
struct OwnFiles: Sendable {
    let source: TransferSource
    let key: SigningKey

    /// The end for someone who was sent other bytes than were hashed for these entries; `nil` when they are too many to name.
    func end(_ hashed: HashedFiles, spoiled: Set<Int>) -> StreamEnd? {
        let changed = spoiled.union(hashed.changed).sorted().map { UInt32(clamping: $0) }
        guard changed.count <= StreamEnd.maximumChanged else { return nil }
        return StreamEnd(
            index: hashed.chain.index, changed: changed, signature: key.sign(hashed.chain.end(changed: changed)))
    }
}
