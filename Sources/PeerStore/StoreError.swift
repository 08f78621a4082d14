package import PeerModel

/// Why stored things cannot be read or written; each names the file it is about.
package enum StoreError: Error, Equatable, Sendable {
    /// The file or its folder belongs to another user, or is not what it should be (a link, a folder).
    case notPrivate(path: String)
    /// Not a database, or not a whole one; never taken for an empty one.
    case damaged(path: String, reason: String)
    /// A database of another program, or of another kind.
    case foreign(path: String)
    /// Written by a newer version of this program than this one, which knows `known` as the newest schema.
    case newer(path: String, version: Int, known: Int)
    /// Other processes kept it longer than the time that is waited for.
    case busy(path: String)
    /// The disk, or this user's part of it, is full.
    case full(path: String)
    /// It may be read, but not written.
    case readOnly(path: String)
    /// A system call failed.
    case system(path: String, call: String, code: CInt)
    /// Anything else that SQLite says; `code` is its extended result code.
    case failed(path: String, code: CInt, reason: String)
    /// The start of an ID fits several chats.
    case ambiguous(prefix: String, chats: [ChatID])
}

extension StoreError {
    /// The same as the public error.
    package var publicError: PeerConnectError {
        switch self {
        case .notPrivate(let path):
            cannotStart("\(path) is not yours.", "Move it away, or give it back with: chown \"$USER\" '\(path)'.")
        case .damaged(let path, let reason):
            cannotStart(
                "The database \(path) is damaged: \(reason).",
                "Put back a copy of it, or move it and the files beside it (-wal, -shm, -journal) away.")
        case .foreign(let path):
            cannotStart("\(path) is a database, but not one of this program.", "Move it away.")
        case .newer(let path, let version, let known):
            cannotStart(
                "The database \(path) is of a newer PeerConnect: its version is \(version), this one knows \(known).",
                "Use that PeerConnect, or move the database away.")
        case .busy(let path):
            // Not the code `busy`, which is an answer of a peer.
            PeerConnectError(
                .internal, "The database \(path) is in use by another process.", hint: "Try again.", cause: self)
        case .full(let path):
            PeerConnectError(.noSpace, "No space is left to write \(path).", hint: "Make room on it.", cause: self)
        case .readOnly(let path):
            cannotStart("The database \(path) cannot be written.", "Check its mode and its file system.")
        case .system(let path, let call, let code):
            cannotStart("\(path): \(systemReason(code)) (\(call)).", "Check who owns it, its mode and the free space.")
        case .failed(let path, let code, let reason):
            PeerConnectError(
                .internal, "The database \(path) failed: \(reason) (\(code)).",
                hint: "Try again; if it fails each time, check the disk it is on.", cause: self)
        case .ambiguous(let prefix, let chats):
            PeerConnectError(
                .ambiguous, "Several chats match “\(prefix)”.",
                hint: "Type more of one of these: \(chats.map(\.description).joined(separator: ", ")).", cause: self)
        }
    }

    private func cannotStart(_ message: String, _ hint: String) -> PeerConnectError {
        PeerConnectError(.cannotStart, message, hint: hint, cause: self)
    }
}
