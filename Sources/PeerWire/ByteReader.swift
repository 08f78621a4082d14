package import PeerModel

/// Reads binary layouts from front to back; every step is checked, so foreign bytes can only make it throw.
///
/// Numbers are big-endian.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    /// Starts at the first byte; the array is shared, not copied.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How many bytes were not read yet.
    package var remaining: Int { bytes.count - position }

    /// A number of the type's width; throws `truncated`.
    package mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(WireError) -> Number {
        let size = Number.bitWidth / 8
        guard remaining >= size else { throw .truncated }
        var value: Number = 0
        for byte in bytes[position..<position + size] { value = value << 8 | Number(truncatingIfNeeded: byte) }
        position += size
        return value
    }

    /// A number that must lie in `range`; throws `badLayout` if it does not.
    package mutating func number<Number: FixedWidthInteger>(
        in range: ClosedRange<Number>
    ) throws(WireError) -> Number {
        let value = try number(Number.self)
        guard range.contains(value) else { throw .badLayout }
        return value
    }

    /// One byte that must be 0 or 1.
    package mutating func flag() throws(WireError) -> Bool { try number(in: 0...1 as ClosedRange<UInt8>) == 1 }

    /// The next `count` bytes; a count that is foreign may be anything, nothing is allocated before it was checked.
    package mutating func bytes(_ count: Int) throws(WireError) -> [UInt8] {
        guard count >= 0, remaining >= count else { throw .truncated }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// The next `count` bytes as UTF-8; throws `badLayout` for anything else, nothing is repaired.
    package mutating func text(_ count: Int) throws(WireError) -> String {
        guard count >= 0, remaining >= count else { throw .truncated }
        guard let text = String(validating: bytes[position..<position + count], as: UTF8.self) else {
            throw .badLayout
        }
        position += count
        return text
    }

    /// A SHA-256 value, 32 bytes.
    package mutating func digest() throws(WireError) -> Digest {
        guard let digest = Digest(try bytes(Digest.size)) else { throw .truncated }
        return digest
    }

    /// A peer ID, 32 bytes.
    package mutating func peerID() throws(WireError) -> PeerID { PeerID(try digest()) }

    /// A transfer ID, 32 bytes.
    package mutating func transferID() throws(WireError) -> TransferID { TransferID(try digest()) }

    /// A chat ID, 16 bytes.
    package mutating func chatID() throws(WireError) -> ChatID {
        guard let chat = ChatID(bytes: try bytes(ChatID.size)) else { throw .truncated }
        return chat
    }

    /// Skips the context of something signed with its zero byte; throws `badLayout` if another one is there.
    package mutating func context(_ context: StaticString) throws(WireError) {
        let expected = ByteWriter(context: context).bytes
        guard try bytes(expected.count) == expected else { throw .badLayout }
    }

    /// Throws `badLayout` if anything is left.
    package func finish() throws(WireError) {
        guard remaining == 0 else { throw .badLayout }
    }
}
