import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("The record of what has arrived") struct ResumeRecordTests {
    private let transfer = TransferID(SHA256.hash([1]))
    private let ledger = PieceLedger(length: UInt64(37 * Limits.pieceSize) + 5)
    private let manifest: [UInt8] = [9, 8, 7]

    private func hash(_ piece: UInt64) -> Digest { SHA256.hash([UInt8(piece)]) }
    private func signature(_ piece: UInt64) -> [UInt8] { [UInt8](repeating: UInt8(piece), count: 64) }

    /// The record of the first pieces, as it is written.
    private func record(_ count: UInt64, in folder: TemporaryFolder) throws -> [UInt8] {
        let folder = try Folder.open(folder.path)
        var log = ResumeLog(folder, "r", transfer, ledger, manifestLength: 3)
        for piece in 1...count {
            // The manifest is whole only after some pieces.
            log.add(hash(piece), manifest: piece < 3 ? nil : manifest)
            if PieceLedger.isCheckpoint(piece, of: ledger.pieces) {
                log.sign(signature(piece), manifest: manifest)
            }
            #expect(log.written == (piece < 3 ? 0 : piece))
        }
        return try folder.openFile("r").read(atMost: 1 << 20)
    }

    @Test("Cut anywhere, it tells of the pieces that are whole in it, and of no other")
    func cuts() throws {
        let bytes = try record(38, in: TemporaryFolder())
        #expect(UInt64(bytes.count) == ResumeRecord.size(ofPieces: 38, 38, manifestLength: 3))
        for length in 0...bytes.count {
            let read = ResumeRecord(parsing: Array(bytes[..<length]), transfer, ledger, manifestLength: 3)
            guard length > 67 else {
                #expect(read == nil)
                continue
            }
            let record = try #require(read)
            #expect(record.manifest == manifest && record.synced == 0)
            let size = { ResumeRecord.size(ofPieces: $0, 38, manifestLength: 3) }
            #expect(size(record.count) <= UInt64(length))
            #expect(record.count == 38 || size(record.count + 1) > UInt64(length))
            for piece in 1...max(record.count, 1) where piece <= record.count {
                #expect(record.hash(of: piece) == hash(piece).bytes)
            }
            #expect(
                record.checkpoints
                    == [16, 32, 38].filter { $0 <= record.count }.reduce(into: [:]) {
                        $0[$1] = signature($1)
                    })
        }
    }

    @Test("A record of another transfer, length or manifest is none")
    func others() throws {
        let bytes = try record(20, in: TemporaryFolder())
        #expect(ResumeRecord(parsing: bytes, transfer, ledger, manifestLength: 3) != nil)
        #expect(ResumeRecord(parsing: bytes, TransferID(SHA256.hash([2])), ledger, manifestLength: 3) == nil)
        #expect(ResumeRecord(parsing: bytes, transfer, PieceLedger(length: 5), manifestLength: 3) == nil)
        #expect(ResumeRecord(parsing: bytes, transfer, ledger, manifestLength: 2) == nil)
        #expect(ResumeRecord(parsing: bytes, transfer, ledger, manifestLength: .max) == nil)
    }

    @Test("Where nothing can be written, nothing is noted, and nothing fails")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        try folder.folder("r")
        var log = ResumeLog(try Folder.open(folder.path), "r", transfer, ledger, manifestLength: 3)
        for piece in 1...15 as ClosedRange<UInt64> { log.add(hash(piece), manifest: manifest) }
        #expect(log.written == 0 && !log.isDue)
    }

    @Test(
        "A proof that is not this sender's, or of another transfer, piece or place, proves nothing",
        arguments: ["right", "key", "transfer", "index", "link", "no checkpoint", "beyond", "behind", "none"])
    func proofs(what: String) {
        let key = SigningKey.generate(), pieces: UInt64 = 38
        var chain = PieceChain(what == "transfer" ? TransferID(SHA256.hash([2])) : transfer)
        while chain.index < (what == "no checkpoint" ? 17 : what == "beyond" ? 48 : 16) {
            chain.append(hash(chain.index + 1), length: Limits.pieceSize)
        }
        let signer = what == "key" ? SigningKey.generate() : key
        let proof = PieceProof(
            index: what == "index" ? 32 : chain.index, link: what == "link" ? hash(1) : chain.link,
            signature: signer.sign(chain.checkpoint))
        let get = Get(
            transfer: transfer, ticket: [], piece: what == "behind" ? 15 : 38, proof: what == "none" ? nil : proof)
        let start = OwnLedgers.start(get, of: pieces, signedBy: key.publicKey)
        #expect(start == (what == "right" ? chain : PieceChain(transfer)))
    }

    @Test("Hashing begins where a recipient continues, and again only for who is elsewhere")
    func ledgers() {
        let first = PieceLedger(length: UInt64(1000 * Limits.pieceSize))
        var own = OwnLedgers(first: first)
        var chain = PieceChain(transfer)
        while chain.index < 512 { chain.append(hash(1), length: Limits.pieceSize) }
        let (far, begin) = own.ledger(for: 520, behind: chain)
        #expect(far.base == 512 && begin == chain)
        #expect(own.ledger(for: 530, behind: chain).begin == nil)
        let (early, start) = own.ledger(for: 3, behind: PieceChain(transfer))
        #expect(early === first && start == PieceChain(transfer))
        #expect(own.ledger(for: 0, behind: PieceChain(transfer)).0 === early)
        #expect(own.ledger(for: 520, behind: chain).0 === far)
        #expect(own.all.count == 2)
    }

    @Test("Who asks from ever new places has no more than so many threads work for it")
    func manyLedgers() {
        var own = OwnLedgers(first: PieceLedger(length: UInt64(100_000 * Limits.pieceSize)))
        var chain = PieceChain(transfer), begun = 0
        for _ in 0..<200 {
            while chain.index % 128 != 0 || chain.index == 0 { chain.append(hash(1), length: Limits.pieceSize) }
            if own.ledger(for: chain.index, behind: chain).begin != nil { begun += 1 }
            chain.append(hash(1), length: Limits.pieceSize)
        }
        #expect(begun == own.all.count && begun <= Limits.peersAtMost + 1)
        #expect(own.ledger(for: 7, behind: PieceChain(transfer)).0.base == 0)
    }
}
