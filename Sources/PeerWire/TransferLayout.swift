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

    /// The SHA-256 of its signature begins with the nonce of an own offer.
    ///
    /// Ed25519 gives the same signature each time (RFC 8032, section 5.1.6) and to nobody else, so the same files offered
    /// again are the same transfer, and nobody can guess from a nonce what it was made of.
    /// `fingerprint` is of the files, where they are and when they changed; `aim` for whom alone they are, or empty; `counter`
    /// tells apart what is offered again although it is not to continue.
    package static func nonce(fingerprint: Digest, manifestHash: Digest, aim: String, counter: UInt64) -> [UInt8] {
        var writer = ByteWriter(context: "peerconnect/nonce/1")
        writer.digest(fingerprint)
        writer.digest(manifestHash)
        writer.number(counter)
        writer.text(aim)
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
