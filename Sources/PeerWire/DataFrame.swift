package import PeerModel

/// The kinds of frames on a data connection behind its `open`; others are skipped.
package enum DataFrame: UInt8, Sendable {
    /// Empty: the writer lives and has nothing to send.
    case idle = 0
    /// A `PieceHeader` and the piece.
    case piece = 1
    /// A `Checkpoint`.
    case checkpoint = 2
    /// A `StreamEnd`, the last frame.
    case end = 3
}

/// What precedes the bytes of a piece inside its frame.
package struct PieceHeader: Equatable, Sendable {
    /// Bytes on the wire; the rest of the payload is the piece, 1 byte to 1 MiB.
    package static let size = 36

    /// The piece's number, from 1.
    package let index: UInt32
    /// SHA-256 of its bytes, as the sender says.
    package let hash: Digest

    package init(index: UInt32, hash: Digest) {
        self.index = index
        self.hash = hash
    }

    /// Reads the first 36 bytes of a payload; throws if there is no piece behind them, or more than 1 MiB.
    package init(parsing payload: [UInt8]) throws(WireError) {
        try self.init(parsing: Array(payload.prefix(Self.size)), followedBy: payload.count - Self.size)
    }

    /// Reads the 36 bytes alone, so that the piece behind them can be read to where it is kept.
    package init(parsing head: [UInt8], followedBy length: Int) throws(WireError) {
        var reader = ByteReader(head)
        index = try reader.number(in: 1...UInt32.max)
        hash = try reader.digest()
        try reader.finish()
        guard length > 0 else { throw .truncated }
        guard length <= Limits.pieceSize else { throw .badLayout }
    }

    /// Adds the 36 bytes to `buffer`.
    package func encode(into buffer: inout [UInt8]) {
        withUnsafeBytes(of: index.bigEndian) { buffer.append(contentsOf: $0) }
        buffer.append(contentsOf: hash.bytes)
    }

    /// Frame header and piece header, 44 bytes: `length` bytes of the piece follow on the wire.
    package func frameStart(length: Int) -> [UInt8] {
        var start: [UInt8] = []
        start.reserveCapacity(FrameHeader.size + Self.size)
        FrameHeader(kind: DataFrame.piece.rawValue, length: Self.size + length).encode(into: &start)
        encode(into: &start)
        return start
    }
}

/// The sender's signature over the chain up to a piece.
package struct Checkpoint: Equatable, Sendable {
    /// The piece it stands behind, from 1.
    package let index: UInt64
    /// 64 bytes, over `TransferLayout.checkpoint`.
    package let signature: [UInt8]

    /// A checkpoint to be sent; a signature of another size is a bug of the caller.
    package init(index: UInt64, signature: [UInt8]) {
        precondition(signature.count == SignedBytes.signatureSize, "an Ed25519 signature has 64 bytes")
        self.index = index
        self.signature = signature
    }

    /// Reads what `payload()` gives; throws for anything else.
    package init(parsing payload: [UInt8]) throws(WireError) {
        var reader = ByteReader(payload)
        index = try reader.number(in: 1...TransferLayout.maximumPieces)
        signature = try reader.bytes(SignedBytes.signatureSize)
        try reader.finish()
    }

    /// The frame's payload.
    package func payload() -> [UInt8] {
        var writer = ByteWriter()
        writer.number(index)
        writer.bytes(signature)
        return writer.bytes
    }
}

/// The end of a transfer's stream, with what changed under the sender's hands.
package struct StreamEnd: Equatable, Sendable {
    /// The most changed entries one frame holds; a sender with more gives the transfer up.
    package static let maximumChanged = (Limits.dataPayload - 8 - 4 - SignedBytes.signatureSize) / 4

    /// The last piece, from 1.
    package let index: UInt64
    /// Numbers of manifest entries, from 0, ascending, each once; recipients drop these.
    package let changed: [UInt32]
    /// 64 bytes, over `TransferLayout.end`.
    package let signature: [UInt8]

    /// An end to be sent; a signature of another size or too many entries are a bug of the caller.
    package init(index: UInt64, changed: [UInt32], signature: [UInt8]) {
        precondition(signature.count == SignedBytes.signatureSize, "an Ed25519 signature has 64 bytes")
        precondition(changed.count <= Self.maximumChanged, "one frame holds no more")
        self.index = index
        self.changed = changed
        self.signature = signature
    }

    /// Reads what `payload()` gives; throws for anything else.
    package init(parsing payload: [UInt8]) throws(WireError) {
        var reader = ByteReader(payload)
        index = try reader.number(in: 1...TransferLayout.maximumPieces)
        let count = Int(try reader.number(in: 0...UInt32(Self.maximumChanged)))
        guard reader.remaining >= count * 4 else { throw .truncated }  // before anything is kept for them
        var changed: [UInt32] = []
        changed.reserveCapacity(count)
        for _ in 0..<count {
            let entry = try reader.number(in: 0...UInt32(Limits.entries - 1))
            if let last = changed.last, entry <= last { throw .badLayout }
            changed.append(entry)
        }
        self.changed = changed
        signature = try reader.bytes(SignedBytes.signatureSize)
        try reader.finish()
    }

    /// The frame's payload.
    package func payload() -> [UInt8] {
        var writer = ByteWriter()
        writer.number(index)
        writer.number(UInt32(changed.count))  // bounded in `init`
        for entry in changed { writer.number(entry) }
        writer.bytes(signature)
        return writer.bytes
    }
}
