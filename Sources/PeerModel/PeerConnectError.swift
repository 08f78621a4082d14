/// The one error type the public interface throws.
public struct PeerConnectError: Error, Sendable {
    /// What callers may branch on; the raw values are those of the JSON events.
    ///
    /// More cases will come.
    @nonexhaustive
    public enum Code: String, Sendable {
        case unknownCommand = "unknown-command", usage, ambiguous
        case noSuchPeer = "no-such-peer", noSuchNumber = "no-such-number", noChat = "no-chat", notHost = "not-host"
        case busy, tooLong = "too-long", notUTF8 = "not-utf8", tooMany = "too-many"
        case noSuchFile = "no-such-file", unreadable, noSpace = "no-space"
        case wrongKey = "wrong-key", locked, `internal`
        /// A port that is taken, a folder that cannot be written, settings that cannot be read.
        case cannotStart = "cannot-start"
        /// No address of the peer answered.
        case unreachable
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for a person: what failed, and for which peer or file.
    public let message: String
    /// What that person can do next, if anything.
    public let hint: String?
    /// The peers a name could mean, for `ambiguous`.
    public let candidates: [Peer]
    /// The lower error behind this one; for logs, never shown.
    public let cause: (any Error)?

    package init(
        _ code: Code, _ message: String, hint: String? = nil, candidates: [Peer] = [], cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.candidates = candidates
        self.cause = cause
    }
}

extension PeerConnectError {
    /// The system gave no thread, for this reason.
    package static func noThread(_ reason: String, cause: any Error) -> PeerConnectError {
        PeerConnectError(
            .internal, "A thread could not be started: \(reason).",
            hint: "Check the limit of processes (ulimit -u) and the free memory.", cause: cause)
    }
}

extension PeerConnectError: CustomStringConvertible {
    /// The line for the log; a command prints `message` and `hint` instead.
    public var description: String { "[\(code.rawValue)] \(message)" + (cause.map { " (\($0))" } ?? "") }
}
