/// RFC 4648 base32 in lower case without padding, the text form of every ID here.
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The text of `bytes`: 32 bytes give 52 characters, 16 give 26.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + 4) / 5)
        var bits = 0, pending = 0
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFF
            pending += 8
            while pending >= 5 {
                pending -= 5
                text.append(alphabet[bits >> pending & 31])
            }
        }
        if pending > 0 { text.append(alphabet[bits << (5 - pending) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of `text`, or `nil` for other characters, other lengths, or set bits behind the last whole byte.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0, pending = 0
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
            default: return nil
            }
            bits = (bits << 5 | Int(value)) & 0xFFF
            pending += 5
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(bits >> pending & 0xFF))
            }
        }
        // One text for each value, so that IDs can be compared as text.
        guard pending < 5, bits & (1 << pending - 1) == 0 else { return nil }
        return bytes
    }
}
