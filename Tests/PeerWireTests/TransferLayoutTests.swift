import PeerModel
import Testing

@testable import PeerWire

@Suite struct TransferLayoutTests {
    static let prefix = hex("70656572636f6e6e656374 2f")

    @Test("What is hashed and signed has the bytes of the specification")
    func golden() {
        let identity = join(Self.prefix, hex("7472616e73666572 2f31 00"), bytes(1, 32), bytes(3, 16), bytes(7, 32))
        let link = join(bytes(7, 32), hex("0000000000000002 00100000"), bytes(1, 32))
        let state = join(bytes(5, 32), hex("0000000000000010"), bytes(7, 32))
        let checkpoint = join(Self.prefix, hex("706965636573 2f31 00"), state)
        let end = join(Self.prefix, hex("656e64 2f31 00"), state, hex("00000002 00000000 00000102"))
        let digest = Fixture.digest, transfer = Fixture.transfer
        #expect(
            TransferLayout.identity(sender: Fixture.peer, nonce: Fixture.nonce, manifestHash: digest) == identity)
        #expect(TransferLayout.link(previous: digest, index: 2, length: 1 << 20, hash: Fixture.peer.digest) == link)
        #expect(TransferLayout.checkpoint(transfer: transfer, index: 16, link: digest) == checkpoint)
        #expect(TransferLayout.end(transfer: transfer, index: 16, link: digest, changed: [0, 258]) == end)
    }

    @Test("A piece has its number and hash before its bytes")
    func piece() throws {
        let header = PieceHeader(index: 0x0102, hash: Fixture.digest)
        var encoded: [UInt8] = []
        header.encode(into: &encoded)
        #expect(encoded == hex("00000102") + bytes(7, 32))
        #expect(header.frameStart(length: 5) == hex("00000029 01 00 0000") + encoded)
        #expect(try PieceHeader(parsing: encoded + [0]) == header)
        #expect(try PieceHeader(parsing: encoded + bytes(0, Limits.pieceSize)) == header)
        #expect(PieceHeader.size + Limits.pieceSize == Limits.dataPayload)
        for end in 0...encoded.count {
            #expect(throws: WireError.truncated) { try PieceHeader(parsing: Array(encoded[..<end])) }
        }
        #expect(throws: WireError.badLayout) { try PieceHeader(parsing: encoded + bytes(0, Limits.pieceSize + 1)) }
        #expect(throws: WireError.badLayout) { try PieceHeader(parsing: bytes(0, 40)) }
    }

    @Test("A checkpoint has its number and signature")
    func checkpoint() throws {
        let payload = hex("0000000000000010") + bytes(6, 64)
        let value = Checkpoint(index: 16, signature: Fixture.signature)
        #expect(value.payload() == payload)
        #expect(try Checkpoint(parsing: payload) == value)
        for end in payload.indices {
            #expect(throws: WireError.truncated) { try Checkpoint(parsing: Array(payload[..<end])) }
        }
        #expect(throws: WireError.badLayout) { try Checkpoint(parsing: payload + [0]) }
        #expect(throws: WireError.badLayout) { try Checkpoint(parsing: bytes(0, 72)) }
        #expect(throws: WireError.badLayout) { try Checkpoint(parsing: hex("0000000100000000") + bytes(6, 64)) }
    }

    @Test("An end has its number, what changed, and the signature")
    func end() throws {
        let payload = hex("0000000000000011 00000002 00000000 00000102") + bytes(6, 64)
        let value = StreamEnd(index: 17, changed: [0, 258], signature: Fixture.signature)
        #expect(value.payload() == payload)
        #expect(try StreamEnd(parsing: payload) == value)
        for end in payload.indices {
            #expect(throws: WireError.truncated) { try StreamEnd(parsing: Array(payload[..<end])) }
        }
        #expect(throws: WireError.badLayout) { try StreamEnd(parsing: payload + [0]) }
    }

    @Test(
        "An end with changed entries out of order, twice, or beyond any manifest is refused",
        arguments: ["00000002 00000001 00000000", "00000002 00000001 00000001", "00000001 000f4240"])
    func badChanged(numbers: String) {
        #expect(throws: WireError.badLayout) {
            try StreamEnd(parsing: hex("0000000000000001" + numbers) + bytes(6, 64))
        }
    }

    @Test("A count of changed entries is believed only as far as there are bytes", arguments: ["0003ffff", "ffffffff"])
    func hostileCount(count: String) {
        #expect(throws: WireError.self) { try StreamEnd(parsing: hex("0000000000000001" + count) + bytes(6, 64)) }
    }

    @Test("The most changed entries fill one frame")
    func mostChanged() throws {
        #expect(StreamEnd.maximumChanged == 262_134)
        let changed = (0..<UInt32(StreamEnd.maximumChanged)).map { $0 }
        let payload = StreamEnd(index: 1, changed: changed, signature: Fixture.signature).payload()
        #expect((Limits.dataPayload - 3...Limits.dataPayload).contains(payload.count))
        #expect(try StreamEnd(parsing: payload).changed.count == StreamEnd.maximumChanged)
    }

    @Test("The kinds of data frames have the numbers of the specification")
    func kinds() {
        #expect((0...4).map { DataFrame(rawValue: $0) } == [.idle, .piece, .checkpoint, .end, nil])
    }
}
