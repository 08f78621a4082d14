/// Foreign text made harmless for a terminal or a log: nothing in it can move the cursor, hide or reorder what is read.
package enum SafeText {
    /// One line of at most `limit` characters; what is left out is marked by `…`.
    ///
    /// Line ends, tabs and other controls are shown as control pictures (`␊`), what is invisible as `<U+202E>`.
    package static func line(_ text: String, limit: Int = .max) -> String {
        clean(text, limit: limit, keepsLines: false)
    }

    /// Like `line`, but a line feed stays one, `\r\n` and the Unicode separators become one, and a tab four spaces.
    package static func multiline(_ text: String, limit: Int = .max) -> String {
        clean(text, limit: limit, keepsLines: true)
    }

    private static func clean(_ text: String, limit: Int, keepsLines: Bool) -> String {
        var result = "", count = 0
        for character in text {
            guard count < limit else { return result + "…" }
            count += 1
            let scalars = character.unicodeScalars
            if keepsLines, character.isNewline {
                result += "\n"
            } else if keepsLines, character == "\t" {
                result += "    "
            } else if scalars.count == 1, let scalar = scalars.first, !isHarmful(scalar), scalar != joiner {
                result.unicodeScalars.append(scalar)
            } else {
                append(scalars, to: &result)
            }
        }
        return result
    }

    private static let joiner: Unicode.Scalar = "\u{200D}"
    /// More marks on one character than any script needs only paint over the lines around it.
    private static let marks = 16

    private static func append(_ scalars: Character.UnicodeScalarView, to result: inout String) {
        var previous: Unicode.Scalar?
        for (index, scalar) in scalars.enumerated() {
            guard index <= marks else {
                result += "…"
                return
            }
            let next = scalars.dropFirst(index + 1).first
            // The tags of a region's flag (UTS #51, 1.4.9) are the only ones that are seen.
            let isEmojiStyle = (0xFE0E...0xFE0F).contains(scalar.value) && previous?.properties.isEmoji == true
            let isFlagTag = (0xE0020...0xE007F).contains(scalar.value) && scalars.first == "\u{1F3F4}"
            if isHarmful(scalar) && !isFlagTag && !isEmojiStyle || scalar == joiner && !joins(previous, next) {
                result += visible(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
    }

    /// U+200D belongs between two emoji (UTS #51, 1.4.6); anywhere else it only hides that two texts differ.
    private static func joins(_ left: Unicode.Scalar?, _ right: Unicode.Scalar?) -> Bool {
        guard let left, let right else { return false }
        let isEmoji = left.properties.isEmoji || left.properties.isEmojiModifier || left == "\u{FE0F}"
        return isEmoji && right.properties.isEmoji
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0...0x1F, 0x7F...0x9F: true  // C0, DEL, C1
        case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // bidirectional controls (UAX #9)
        case 0xAD, 0x180E, 0x200B, 0x200C, 0x2060...0x2064, 0x206A...0x206F, 0xFEFF: true  // of no width
        case 0x2028, 0x2029: true  // line and paragraph separators
        case 0xFFF9...0xFFFB, 0xE0000...0xE007F: true  // annotations, tags
        case 0x2800: true  // the empty braille pattern
        // Variation selectors, fillers and what else leaves no trace.
        default:
            scalar.properties.isDefaultIgnorableCodePoint && scalar != joiner
                || scalar.properties.isNoncharacterCodePoint
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0...0x1F: return Unicode.Scalar(0x2400 + scalar.value).map { String($0) } ?? "?"  // control pictures
        case 0x7F: return "\u{2421}"
        case let value:
            let digits = String(value, radix: 16, uppercase: true)
            return "<U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ">"
        }
    }
}
