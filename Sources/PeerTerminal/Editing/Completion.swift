/// What Tab asks for.
package struct CompletionQuery: Equatable, Sendable {
    /// All that was entered.
    package let line: String
    /// The words before the one with the cursor, without their quotes.
    package let earlier: [String]
    /// The word up to the cursor, without its quotes.
    package let word: String
    /// Whether quotes or a backslash protect its first character, so that a `~` or `@` is no more than that.
    package let isLiteral: Bool
}

/// One way to go on from a word.
package struct CompletionCandidate: Equatable, Sendable {
    /// The word whole, without quotes; the editor quotes it.
    package let text: String
    /// What a list shows, such as the last part of a path.
    package let shown: String
    /// Nothing can follow, so a blank does; not so for a folder.
    package let isWhole: Bool
    /// What its first character is.
    package let start: Start

    package enum Start: Sendable {
        /// It has the meaning it has unquoted, and may stand in quotes as well.
        case any
        /// A `~` that means the home folder, and so must stay bare.
        case home
        /// Only itself: a `~` or `@` is protected.
        case literal
    }

    package init(_ text: String, shown: String? = nil, isWhole: Bool = true, start: Start = .any) {
        self.text = text
        self.shown = shown ?? text
        self.isWhole = isWhole
        self.start = start
    }
}

/// Gives the candidates for a word; in order, and as many as are worth a list.
package typealias Completer = (CompletionQuery) -> [CompletionCandidate]

extension LineEditor {
    mutating func complete(_ completer: Completer) -> LineEvent {
        let word = CompletionWord(buffer.characters[..<buffer.cursor])
        let query = CompletionQuery(
            line: buffer.text, earlier: word.earlier, word: word.text, isLiteral: word.isLiteral)
        let candidates = completer(query)
        guard let first = candidates.first else { return .bell }
        let isOnly = candidates.count == 1
        let common = candidates.dropFirst().reduce(first.text) { Self.commonPrefix($0, $1.text) }
        // In the middle of quotes that are closed already nothing is to be added.
        let isClosed = word.quote != nil && buffer.characters[buffer.cursor...].first == word.quote
        let isWhole = isOnly && first.isWhole && !isClosed
        let isCommand = buffer.characters.first == "/" && buffer.characters.dropFirst().first != "/"
        let spelled = word.spelled(common, first.start, isWhole: isWhole, isCommand: isCommand) + (isWhole ? " " : "")
        let range = word.start..<buffer.cursor
        // Candidates may differ from the word in case; a shorter word would take letters away.
        if isOnly || common.count >= word.text.count, spelled != String(buffer.characters[range]) {
            return replace(range, with: spelled)
        }
        return isOnly ? .edited : .candidates(candidates.map(\.shown))
    }

    private static func commonPrefix(_ left: String, _ right: String) -> String {
        String(zip(left, right).prefix { $0 == $1 }.map(\.0))
    }
}
