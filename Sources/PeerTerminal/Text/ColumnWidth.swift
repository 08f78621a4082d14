/// How many columns a terminal gives to text, by grapheme cluster.
///
/// Wide characters are those of EastAsianWidth.txt of Unicode 18.0 (UAX #11, W and F; ambiguous ones are narrow, as
/// terminals have them unless told otherwise). Emoji and marks follow the standard library's properties, Unicode 17.0
/// in Swift 6.3.
package enum ColumnWidth {
    /// The columns of a whole text; line ends and other controls count nothing.
    package static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    /// 0, 1 or 2.
    package static func columns(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.value < 0x300, scalars.count == 1 { return first.value < 0x20 || 0x7F...0x9F ~= first.value ? 0 : 1 }
        var sum = 0
        for scalar in scalars {
            // The selectors for text and emoji style (UTS #51, 1.4.3) decide for what stands before them.
            if scalar == "\u{FE0F}", sum == 1, first.properties.isEmoji { return 2 }
            if scalar == "\u{FE0E}", sum == 2, first.properties.isEmoji { return 1 }
            sum += columns(of: scalar)
        }
        // A cluster is drawn as one: a family joined by U+200D, a flag of two halves, a conjunct, a syllable of jamo.
        return min(sum, 2)
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .control, .lineSeparator, .paragraphSeparator: return 0
        case .format: return isVisibleFormat(scalar) ? 1 : 0
        default: break
        }
        // Vowels and trailing consonants of Hangul join the leading one before them.
        if 0x1160...0x11FF ~= scalar.value || 0xD7B0...0xD7FB ~= scalar.value { return 0 }
        if properties.isDefaultIgnorableCodePoint, scalar.value != 0x115F { return 0 }
        return properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
    }

    /// Format characters that are drawn: the soft hyphen, and the Arabic and other signs that stand before a number.
    private static func isVisibleFormat(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x600...0x605, 0x6DD, 0x70F, 0x890...0x891, 0x8E2, 0x110BD, 0x110CD: true
        default: false
        }
    }

    /// W and F without what is an emoji by default; what is unassigned or of no width between two ranges is in them, to
    /// keep them few.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // leading Hangul consonants
        0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F,
        0x2E80...0x303E,  // radicals, CJK punctuation
        0x3041...0x3247,  // kana, Bopomofo, enclosed letters
        0x3250...0xA4C6,  // CJK, Yi
        0xA960...0xA97C, 0xAC00...0xD7A3,  // Hangul
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B,  // compatibility forms
        0xFF01...0xFF60, 0xFFE0...0xFFE6,  // full-width forms
        0x16FE0...0x16FF6, 0x17000...0x191D2,  // Tangut, Khitan and others
        0x1AFF0...0x1B2FB,  // further kana, Nushu
        0x1D300...0x1D376,  // Tai Xuan Jing, counting rods
        0x1F1AE...0x1F1AE, 0x1F200...0x1F265, 0x1F7DA...0x1F7DA,
        0x20000...0x2FFFD, 0x30000...0x3FFFD,  // CJK extensions
    ]

    private static func isWide(_ value: UInt32) -> Bool {
        var low = 0, high = wide.count
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(value)
    }
}
