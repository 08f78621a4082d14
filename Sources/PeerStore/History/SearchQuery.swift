/// What is looked for, as conditions on folded text.
struct SearchQuery {
    /// SQLite takes no condition deeper than 1,000 (www.sqlite.org/limits.html), and nobody types as many words as
    /// this.
    private static let wordsAtMost = 64
    /// So many triples of letters leave so few candidates that more only cost.
    private static let trigramsAtMost = 64

    /// Each must be somewhere in the text.
    let words: [String]

    init(_ text: String) {
        // Sorted by text as well, so that the same search is the same statement.
        let all = SearchText.words(SearchText.folded(text)).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        words = Array(all.prefix(Self.wordsAtMost))
    }

    /// The full-text query for the triples of letters in the words, each as a quoted string, so that nothing is an
    /// operator.
    ///
    /// `nil` when all words are shorter: then all texts are looked through.
    var match: String? {
        var trigrams: [String] = [], seen: Set<String> = []
        for word in words {
            let scalars = Array(word.unicodeScalars)
            for start in scalars.indices.dropLast(2) {
                let trigram = String(String.UnicodeScalarView(scalars[start..<start + 3]))
                guard trigrams.count < Self.trigramsAtMost else { break }
                if seen.insert(trigram).inserted { trigrams.append(trigram) }
            }
        }
        guard !trigrams.isEmpty else { return nil }
        return trigrams.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: " ")
    }

    /// ` AND` with a condition for each word; the parameters are `words`.
    func conditions(on column: String) -> String {
        words.map { _ in " AND instr(\(column), ?) > 0" }.joined()
    }

    var values: [Value] { words.map { .text($0) } }
}
