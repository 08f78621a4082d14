package import PeerModel

/// Writes binary layouts from front to back; numbers are big-endian.
package struct ByteWriter: Sendable {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []

    /// Nothing written yet.
    package init() {}

    /// Starts something that is signed or hashed: its context in ASCII and one zero byte.
    package init(context: StaticString) {
        context.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(0)
    }

    /// Adds all bytes of the number's width.
    package mutating func number(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds one byte, 0 or 1.
    package mutating func flag(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// Adds the bytes as they are.
    package mutating func bytes(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Adds UTF-8.
    package mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Adds 32 bytes.
    package mutating func digest(_ digest: Digest) { bytes.append(contentsOf: digest.bytes) }

    /// Adds 32 bytes.
    package mutating func peerID(_ peer: PeerID) { digest(peer.digest) }

    /// Adds 32 bytes.
    package mutating func transferID(_ transfer: TransferID) { digest(transfer.digest) }

    /// Adds 16 bytes.
    package mutating func chatID(_ chat: ChatID) { bytes.append(contentsOf: chat.bytes) }
}
