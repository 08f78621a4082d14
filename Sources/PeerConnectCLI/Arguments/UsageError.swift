internal import PeerModel

/// A command line that cannot be run as written; found before anything is created or sent.
struct UsageError: Error, Equatable {
    /// One sentence without a full stop.
    let message: String
    /// What to type instead, if that can be guessed.
    var hint: String?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// A command that does several things does none of this name.
    static func unknown(verb: String, of command: String, among verbs: [String]) -> UsageError {
        UsageError(
            "\(command) does not know \(SafeText.line(verb))",
            hint: nearest(to: verb, among: verbs).map { "did you mean \($0)?" }
                ?? "it knows \(Amount.list(verbs))")
    }
}
