/// Puts scalars together from single bytes, and never looks back, so it does not matter how the bytes were cut.
///
/// What is not UTF-8 becomes U+FFFD, one for each maximal subpart (The Unicode Standard, section 3.9).
struct UTF8Assembler {
    enum Step: Equatable {
        case more
        case scalar(Unicode.Scalar)
        /// The bytes so far were no scalar; this byte was not used and is to be looked at anew.
        case brokenBefore
        /// This byte begins no scalar.
        case broken
    }

    private var value: UInt32 = 0
    private var missing = 0
    /// What the next byte may be: narrower for the second one, which shuts out overlong forms and surrogates.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// In the middle of a scalar.
    var isPending: Bool { missing > 0 }

    mutating func reset() { missing = 0 }

    mutating func take(_ byte: UInt8) -> Step {
        guard missing > 0 else { return begin(byte) }
        guard allowed.contains(byte) else {
            missing = 0
            return .brokenBefore
        }
        value = value << 6 | UInt32(byte & 0x3F)
        missing -= 1
        allowed = 0x80...0xBF
        guard missing == 0 else { return .more }
        return Unicode.Scalar(value).map { .scalar($0) } ?? .broken
    }

    /// The table of well-formed sequences (The Unicode Standard, table 3-7).
    private mutating func begin(_ byte: UInt8) -> Step {
        allowed = 0x80...0xBF
        switch byte {
        case 0...0x7F: return .scalar(Unicode.Scalar(byte))
        case 0xC2...0xDF: (value, missing) = (UInt32(byte & 0x1F), 1)
        case 0xE0...0xEF:
            (value, missing) = (UInt32(byte & 0x0F), 2)
            if byte == 0xE0 { allowed = 0xA0...0xBF }
            if byte == 0xED { allowed = 0x80...0x9F }
        case 0xF0...0xF4:
            (value, missing) = (UInt32(byte & 0x07), 3)
            if byte == 0xF0 { allowed = 0x90...0xBF }
            if byte == 0xF4 { allowed = 0x80...0x8F }
        default: return .broken
        }
        return .more
    }
}
