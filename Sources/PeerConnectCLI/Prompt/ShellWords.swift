/// Words of a line as a shell would see them, as far as paths need it: quotes, `\`, and what is left unquoted.
struct ShellWord: Equatable {
    /// A character and whether quotes or a backslash protect it from being special.
    struct Character: Equatable {
        let value: Swift.Character
        let isQuoted: Bool
    }

    var characters: [Character] = []

    /// The word without its quotes.
    var text: String { String(characters.map(\.value)) }

    /// Begins with this character, unquoted.
    func starts(with character: Swift.Character) -> Bool {
        characters.first.map { $0.value == character && !$0.isQuoted } ?? false
    }

    /// Whether an unquoted `*`, `?` or `[` makes it a pattern.
    var isPattern: Bool { characters.contains { !$0.isQuoted && "*?[".contains($0.value) } }

    /// The word for glob(3): special characters that were quoted are escaped.
    var pattern: String {
        characters.map { $0.isQuoted && "*?[]\\".contains($0.value) ? "\\\($0.value)" : String($0.value) }.joined()
    }

    /// Splits at unquoted blanks; `nil` when a quote is left open or the line ends in a lone backslash.
    static func split(_ line: some StringProtocol) -> [ShellWord]? {
        var words: [ShellWord] = []
        var current: ShellWord?
        var quote: Swift.Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                isEscaped = false
                // Inside double quotes a backslash protects only what would be special there.
                if quote != nil, character != "\"", character != "\\" { current?.add("\\", quoted: true) }
                current?.add(character, quoted: true)
            } else if let open = quote {
                if character == open {
                    quote = nil
                } else if character == "\\", open == "\"" {
                    isEscaped = true
                } else {
                    current?.add(character, quoted: true)
                }
            } else if character == " " || character == "\t" {
                if let word = current { words.append(word) }
                current = nil
            } else {
                if current == nil { current = ShellWord() }
                switch character {
                case "\\": isEscaped = true
                case "'", "\"": quote = character
                default: current?.add(character, quoted: false)
                }
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word = current { words.append(word) }
        return words
    }

    /// A text as one word of a shell.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || "0123456789@-_./".unicodeScalars.contains(scalar)
            }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    private mutating func add(_ character: Swift.Character, quoted: Bool) {
        characters.append(Character(value: character, isQuoted: quoted))
    }
}
