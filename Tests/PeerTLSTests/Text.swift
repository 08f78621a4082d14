/// Bytes from hexadecimal digits; spaces and line breaks are ignored.
func bytes(hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue).map { UInt8($0) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// RFC 4648 base64 of a multiple of three bytes.
func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    precondition(bytes.count.isMultiple(of: 3))
    return stride(from: 0, to: bytes.count, by: 3).map { start in
        let group = bytes[start..<(start + 3)].reduce(0) { $0 << 8 | Int($1) }
        return String([18, 12, 6, 0].map { alphabet[group >> $0 & 63] })
    }.joined()
}

/// Bytes without a pattern, the same for the same seed (SplitMix64).
func noise(seed: UInt64, count: Int) -> [UInt8] {
    var state = seed &+ 1
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        for index in 0..<count {
            state &+= 0x9E37_79B9_7F4A_7C15
            let mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            buffer[index] = UInt8(truncatingIfNeeded: mixed >> 32)
        }
        initialized = count
    }
}
