import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Synchronization
import TestSupport
import Testing

@testable import PeerLink

/// A mebibyte of them.
private let block: [UInt8] = {
    var random = SeededGenerator(seed: 1)
    return (0..<(128 << 10)).map { _ in random.next() }.withUnsafeBytes { Array($0) }
}()

/// So many bytes, others for another seed; no two mebibytes of them are the same.
func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count {
        bytes += withUnsafeBytes(of: (seed, bytes.count)) { Array($0) }
        bytes += block.dropFirst(16)
    }
    return Array(bytes.prefix(count))
}

/// What a sender sends of its files, piece by piece, for landings without a connection.
struct SignedStream {
    let source: TransferSource
    let offer: OfferBody
    let key: SigningKey
    let ledger: PieceLedger
    private var chain: PieceChain

    init(_ source: TransferSource, _ key: SigningKey) throws {
        (self.source, self.key) = (source, key)
        offer = try PeerLinkTests.offer(source)
        ledger = PieceLedger(length: source.length)
        chain = PieceChain(offer.transfer)
    }

    func landing(
        in path: String,
        syncing: @escaping Landing.Syncing = { (folder) throws(SystemError) in
            try folder.syncFileSystem()
        }
    ) throws -> Landing {
        try Landing(folder: path, transfer: offer.transfer, offer: offer, signedBy: key.publicKey, syncing: syncing)
    }

    func bytes(of piece: UInt64) throws -> [UInt8] {
        let range = ledger.range(of: piece)
        return try source.bytes(at: range.lowerBound, count: range.count)
    }

    /// Gives a landing, as the intake does, everything up to this piece; what it has already is only hashed.
    mutating func feed(_ landing: Landing, upTo last: UInt64) throws {
        let here = landing.kept.count
        while chain.index < last {
            let piece = chain.index + 1, bytes = try bytes(of: piece), hash = SHA256.hash(bytes)
            chain.append(hash, length: bytes.count)
            guard piece > here else { continue }
            try landing.append(bytes)
            try landing.note(hash)
            if PieceLedger.isCheckpoint(piece, of: ledger.pieces) {
                try landing.note(signature: key.sign(chain.checkpoint))
            }
        }
    }
}

extension Landing {
    /// Nothing is noted any more, as when the process is killed: the lock goes, the files stay.
    func die() { writer.withLock { $0.places.partial }.unlock() }
}
