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
}
