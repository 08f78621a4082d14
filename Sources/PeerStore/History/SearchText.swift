/// Text as it is searched: without letter case and accents, so that `strasse` finds `STRAẞE` and `zurich` `Zürich`.
///
/// The same for what is stored and for what is looked for. What is stored stays: after a change the stored text would
/// have to be folded again, by a migration.
enum SearchText {
    /// Letters without case and accents; line ends and other controls as spaces.
    static func folded(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x41...0x5A: result.append(Unicode.Scalar(UInt8(scalar.value | 0x20)))
            case 0x20...0x7E: result.append(scalar)
            case 0...0x7F: result.append(" ")
            default: appendFolded(scalar, to: &result)
            }
        }
        return String(result)
    }

    /// The different words of a folded text.
    static func words(_ folded: String) -> Set<String> {
        Set(folded.utf8.split(separator: UInt8(ascii: " ")).compactMap { String(Substring($0)) })
    }

    private static func appendFolded(_ scalar: Unicode.Scalar, to result: inout String.UnicodeScalarView) {
        let properties = scalar.properties
        if properties.isWhitespace || properties.generalCategory == .control {
            result.append(" ")
            return
        }
        // There and back: ß, ẞ and SS, or the two small sigmas, only meet when the case changes and changes back.
        for first in properties.lowercaseMapping.unicodeScalars {
            for capital in first.properties.uppercaseMapping.unicodeScalars {
                for small in capital.properties.lowercaseMapping.unicodeScalars where !isIgnored(small) {
                    if let plain = plainLetters[small] {
                        appendFolded(plain, to: &result)
                    } else {
                        result.append(small)
                    }
                }
            }
        }
    }

    /// Whether it only adds an accent, or nothing that is seen.
    ///
    /// Not every mark: those that spell vowels in Indic scripts, voice kana or give tones in Thai make other words. The
    /// combining classes tell them apart (Unicode Standard, section 4.3).
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format: return true
        case .nonspacingMark, .enclosingMark:
            switch scalar.properties.canonicalCombiningClass.rawValue {
            case 1, 10...36, 200...: return true  // overlays; Hebrew, Arabic, Syriac points; above and below
            default: return (0xFE00...0xFE0F).contains(scalar.value)  // variation selectors
            }
        default: return false
        }
    }

    /// Small letters that hold their accent in themselves, and the letter without it.
    ///
    /// Read off their Unicode names, `LATIN SMALL LETTER O WITH STROKE`: unlike decomposition, which the standard
    /// library does not offer, that knows ø and ł too.
    private static let plainLetters: [Unicode.Scalar: Unicode.Scalar] = {
        let blocks: [ClosedRange<UInt32>] = [0x61...0x7A, 0xDF...0x24F, 0x3AC...0x3CE, 0x430...0x52F, 0x1E00...0x1FFF]
        var letters: [String: Unicode.Scalar] = [:]
        for scalar in blocks.joined().compactMap(Unicode.Scalar.init) where scalar.properties.isLowercase {
            if let name = scalar.properties.name { letters[name] = scalar }
        }
        // These have names of their own, and come as one scalar or as two, as the keyboard likes.
        var result: [Unicode.Scalar: Unicode.Scalar] = [
            "\u{439}": "и", "\u{451}": "е", "\u{453}": "г", "\u{457}": "і", "\u{45C}": "к", "\u{45E}": "у",
        ]
        for (name, scalar) in letters {
            guard let accent = name.firstRange(of: " WITH ") else { continue }
            result[scalar] = letters[String(name[..<accent.lowerBound])]
        }
        return result
    }()
}
