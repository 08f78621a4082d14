/// How texts of others stand within a sentence of ours: here alone it is decided when they are quoted.
///
/// Without quotes a file called `a to ben. carol left` would say something about carol.
extension SafeText {
    /// In quotes that nothing within closes.
    package static func quoted(_ text: String) -> String {
        "“\(line(text).replacing("“", with: "\"").replacing("”", with: "\""))”"
    }

    /// The name of a person: quoted when it could pass for a sentence or for two parts of one, that is with punctuation,
    /// or of four words and more.
    package static func name(_ text: String) -> String { shown(text, wordsAtMost: 3, punctuation: "-_'’@.&") }

    /// A path, or a word that came from elsewhere: quoted unless it is one word, since that says nothing.
    package static func path(_ text: String) -> String { shown(text, wordsAtMost: 1, punctuation: "-_'’@.&/+~#%=") }

    private static func shown(_ text: String, wordsAtMost: Int, punctuation: String) -> String {
        let shown = line(text)
        let words = shown.split(omittingEmptySubsequences: false) { $0.isWhitespace }
        let isPlain =
            words.count <= wordsAtMost
            && words.allSatisfy { word in
                // A dot is part of a host's name, but ends a sentence.
                !word.isEmpty && word.last != "." && word.allSatisfy { !$0.isPunctuation || punctuation.contains($0) }
            }
        return isPlain ? shown : quoted(text)
    }
}
