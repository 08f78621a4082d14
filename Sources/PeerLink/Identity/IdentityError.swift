package import PeerModel
package import PeerSystem

/// Why an identity cannot be read, made or used; each names the file or the name it is about.
package enum IdentityError: Error, Equatable, Sendable {
    /// Not a key file, or not a whole one.
    case damaged(file: String)
    /// Others than the user may read it, or it is someone else's.
    case notPrivate(path: String)
    /// A file or folder of another user's.
    case foreign(path: String)
    /// The file holds another key than its name says.
    case misnamed(file: String, holds: PeerID)
    /// The current identity's file is gone.
    case missing(file: String)
    /// The system refused.
    case system(path: String, SystemError)
    /// Several identities have one name.
    case duplicate(DisplayName, files: [String])
    /// There is an identity with this name already.
    case nameTaken(DisplayName)
    /// There is no identity with this name.
    case unknownName(DisplayName)
    /// The identity is in use; `pid` is `nil` when its holder could not be read.
    case locked(DisplayName, host: String, pid: Int?)
}

extension IdentityError {
    /// The same as the public error.
    package var publicError: PeerConnectError {
        switch self {
        case .damaged(let file):
            cannotStart(
                "The identity file \(file) is damaged.",
                "Put back a copy of it, or move it away: then its name gets a new identity, unknown to all other peers."
            )
        case .notPrivate(let path):
            cannotStart(
                "\(path) holds a private key, but it is not yours alone.",
                "Make it private with: chmod -R go= '\(path)'. If others could read it, better make a new identity.")
        case .foreign(let path):
            cannotStart(
                "\(path) holds a private key and belongs to another user.",
                "Take it over with: sudo chown -R \(Paths.user) '\(path)'. Or run this as that user.")
        case .misnamed(let file, let id):
            cannotStart(
                "The identity file \(file) holds the key of another peer, \(id).",
                "Put the right file in its place, or rename it to \(id).pem.")
        case .missing(let file):
            cannotStart(
                "The current identity's file \(file) is gone.",
                "Put it back, or choose another identity with: peerconnect id use NAME.")
        case .system(let path, let error):
            cannotStart("\(path): \(error.reason) (\(error.call)).", "Check who owns it, its mode and the free space.")
        case .duplicate(let name, let files):
            cannotStart(
                "Several identities are named “\(name)”: \(files.joined(separator: ", ")).",
                "Move away all but one of these files.")
        case .nameTaken(let name):
            PeerConnectError(
                .usage, "There is an identity named “\(name)” already.", hint: "peerconnect id list shows all.",
                cause: self)
        case .unknownName(let name):
            PeerConnectError(
                .usage, "There is no identity named “\(name)”.", hint: "peerconnect id new NAME makes one.", cause: self
            )
        case .locked(let name, let host, let pid):
            PeerConnectError(
                .locked, "“\(name)” is in use by \(pid.map { "process \($0)" } ?? "another process") on \(host).",
                hint: "End that one first, or choose another identity with --name NAME.", cause: self)
        }
    }

    private func cannotStart(_ message: String, _ hint: String) -> PeerConnectError {
        PeerConnectError(.cannotStart, message, hint: hint, cause: self)
    }
}
