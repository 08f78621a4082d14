/// Text with a cursor that stands between two grapheme clusters.
struct EditBuffer: Equatable, Sendable {
    private(set) var characters: [Character] = []
    /// How many clusters stand before the cursor.
    private(set) var cursor = 0
    /// The size in UTF-8.
    private(set) var byteCount = 0

    init() {}

    /// The cursor at the end.
    init(_ text: String) { replace(0..<0, with: text) }

    var text: String { String(characters) }
    var isEmpty: Bool { characters.isEmpty }

    /// Puts text in place of the clusters, and the cursor behind it.
    ///
    /// What is inserted or comes to stand side by side may join to one cluster: a letter and a mark, two halves of a
    /// flag.
    mutating func replace(_ range: Range<Int>, with text: String) {
        let before = String(characters[..<range.lowerBound]) + text
        characters = Array(before + String(characters[range.upperBound...]))
        let wanted = before.utf8.count
        var bytes = 0
        cursor = characters.count
        for (index, character) in characters.enumerated() {
            if bytes >= wanted {
                cursor = index
                break
            }
            bytes += character.utf8.count
        }
        byteCount = characters.reduce(0) { $0 + $1.utf8.count }
    }

    mutating func insert(_ text: String) { replace(cursor..<cursor, with: text) }

    /// Takes the clusters out; the cursor then stands where they were.
    @discardableResult
    mutating func remove(_ range: Range<Int>) -> String {
        let removed = String(characters[range])
        replace(range, with: "")
        return removed
    }

    mutating func move(to position: Int) { cursor = max(0, min(position, characters.count)) }

    // MARK: Places

    /// Where the line with the cursor begins.
    var lineStart: Int { characters[..<cursor].lastIndex(of: "\n").map { $0 + 1 } ?? 0 }
    /// Where it ends, before its line end.
    var lineEnd: Int { characters[cursor...].firstIndex(of: "\n") ?? characters.count }

    /// The start of the word before the cursor; a word is letters and digits.
    var wordStart: Int { start { $0.isLetter || $0.isNumber } }
    /// The start of what stands before the cursor without a blank.
    var unbrokenStart: Int { start { !$0.isWhitespace } }

    private func start(_ belongs: (Character) -> Bool) -> Int {
        guard let last = characters[..<cursor].lastIndex(where: belongs) else { return 0 }
        return characters[..<last].lastIndex { !belongs($0) }.map { $0 + 1 } ?? 0
    }

    /// The end of the word behind the cursor.
    var wordEnd: Int {
        let belongs = { (character: Character) in character.isLetter || character.isNumber }
        guard let first = characters[cursor...].firstIndex(where: belongs) else { return characters.count }
        return characters[first...].firstIndex { !belongs($0) } ?? characters.count
    }

    /// The same place in the line above, `nil` in the first one.
    var above: Int? {
        guard lineStart > 0 else { return nil }
        let end = lineStart - 1
        let start = characters[..<end].lastIndex(of: "\n").map { $0 + 1 } ?? 0
        return min(start + cursor - lineStart, end)
    }

    /// The same place in the line below, `nil` in the last one.
    var below: Int? {
        guard lineEnd < characters.count else { return nil }
        let start = lineEnd + 1
        let end = characters[start...].firstIndex(of: "\n") ?? characters.count
        return min(start + cursor - lineStart, end)
    }

    // MARK: Input

    /// Text as it may be entered: line ends are line feeds, and of the other controls only the tab remains.
    static func clean(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var wasReturn = false
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0A where wasReturn: break
            case 0x0A, 0x0D, 0x2028, 0x2029: result.append("\n")
            case 0x09: result.append(scalar)
            case 0...0x1F, 0x7F...0x9F: break
            default: result.append(scalar)
            }
            wasReturn = scalar.value == 0x0D
        }
        return String(result)
    }
}
