package import PeerModel

/// The bytes that are hashed or signed for a transfer; whoever asks hashes and signs them.
package enum TransferLayout {
    /// The number of a piece has 4 bytes and starts at 1.
    package static let maximumPieces = UInt64(UInt32.max)
    /// Bytes of manifest and files together: just under 4 PiB.
    package static let maximumStream = maximumPieces * UInt64(Limits.pieceSize)

    /// Its SHA-256 is the transfer ID, which is C(0) too.
    package static func identity(sender: PeerID, nonce: [UInt8], manifestHash: Digest) -> [UInt8] {
        var writer = ByteWriter(context: "peerconnect/transfer/1")
        writer.peerID(sender)
        writer.bytes(nonce)
        writer.digest(manifestHash)
        return writer.bytes
    }

    /// Its SHA-256 is C(i): `previous` is C(i − 1), `length` and `hash` are those of piece `index`, from 1.
    package static func link(previous: Digest, index: UInt64, length: UInt32, hash: Digest) -> [UInt8] {
        var writer = ByteWriter()
        writer.digest(previous)
        writer.number(index)
        writer.number(length)
        writer.digest(hash)
        return writer.bytes
    }

    /// What the sender signs behind every 16th piece and the last: `link` is C(index).
    package static func checkpoint(transfer: TransferID, index: UInt64, link: Digest) -> [UInt8] {
        var writer = ByteWriter(context: "peerconnect/pieces/1")
        writer.transferID(transfer)
        writer.number(index)
        writer.digest(link)
        return writer.bytes
    }

    /// What the sender signs at the end: `index` is the last piece, `link` C(index), `changed` as in `StreamEnd`.
    package static func end(transfer: TransferID, index: UInt64, link: Digest, changed: [UInt32]) -> [UInt8] {
        var writer = ByteWriter(context: "peerconnect/end/1")
        writer.transferID(transfer)
        writer.number(index)
        writer.digest(link)
        writer.number(UInt32(clamping: changed.count))
        for entry in changed { writer.number(entry) }
        return writer.bytes
    }
}
