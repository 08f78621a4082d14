/// The word before the cursor as a shell would see it, and how to write a longer one in its place.
struct CompletionWord: Equatable {
    /// Where the word begins, quotes included.
    var start = 0
    /// The word without its quotes.
    var text = ""
    /// The quote that is still open.
    var quote: Character?
    /// Quotes or a backslash protect the first character.
    var isLiteral = false
    /// The words before it, without their quotes.
    var earlier: [String] = []

    /// Reads what stands before the cursor: words in quotes in a command, at blanks in a message, where an apostrophe
    /// is no quote.
    init(_ characters: ArraySlice<Character>) {
        let isCommand = characters.first == "/" && characters.dropFirst().first != "/"
        if isCommand { readQuoted(characters) } else { readPlain(characters) }
    }

    private mutating func readPlain(_ characters: ArraySlice<Character>) {
        start = characters.lastIndex { $0.isWhitespace }.map { $0 + 1 } ?? characters.startIndex
        text = String(characters[start...])
        earlier = characters[..<start].split { $0.isWhitespace }.map { String($0) }
    }

    private mutating func readQuoted(_ characters: ArraySlice<Character>) {
        var isInWord = false, isEscaped = false
        for (index, character) in zip(characters.indices, characters) {
            if quote == nil, !isEscaped, character == " " || character == "\t" {
                if isInWord { earlier.append(text) }
                (isInWord, text, isLiteral) = (false, "", false)
                continue
            }
            if !isInWord { (isInWord, start) = (true, index) }
            if text.isEmpty { isLiteral = isEscaped || quote != nil }
            if isEscaped {
                // Inside double quotes a backslash protects only what would be special there.
                if quote != nil, character != "\"", character != "\\" { text.append("\\") }
                text.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { text.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else {
                text.append(character)
            }
        }
        if !isInWord { start = characters.endIndex }
    }

    /// The text in place of this word, in the quotes that were begun; `isWhole` closes them.
    ///
    /// A leading `~` stays bare, before the quotes, where it means the home folder, and else is protected.
    func spelled(
        _ text: String, _ kind: CompletionCandidate.Start, isWhole: Bool, isCommand: Bool
    ) -> String {
        guard isCommand else { return text }
        if kind == .home, quote != nil, text.hasPrefix("~/") {
            return "~/" + spelled(String(text.dropFirst(2)), .any, isWhole: isWhole, isCommand: true)
        }
        if kind == .literal, quote == nil, let first = text.first, "~@".contains(first) {
            return "\\\(first)" + spelled(String(text.dropFirst()), .any, isWhole: isWhole, isCommand: true)
        }
        switch quote {
        case "'"?:
            return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
                + (isWhole ? "'" : "")
        case let open?:
            return "\(open)" + Self.escaping(text, "\"\\") + (isWhole ? "\(open)" : "")
        case nil: return Self.escaping(text, " \t\n'\"\\*?[]")
        }
    }

    private static func escaping(_ text: String, _ special: String) -> String {
        text.reduce(into: "") { result, character in
            if special.contains(character) { result.append("\\") }
            result.append(character)
        }
    }
}
