/// Foreign text made fit for one line of the terminal: what could move the cursor, hide or reorder text is spelt out.
struct SafeLine: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        var shown = ""
        for scalar in text.unicodeScalars {
            if Self.isHarmless(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        description = shown
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        // Zero-width joiners make up emoji and are needed by some scripts; the other format characters reorder or hide.
        case .format: scalar.value == 0x200D || scalar.value == 0x200C
        default: true
        }
    }
}
