internal import PeerLink
public import PeerModel

/// Where everything of a user is kept; absolute paths, none of which needs to exist yet.
///
/// The XDG folders (XDG Base Directory Specification 0.8), or all of them below one home folder.
public struct Folders: Hashable, Sendable {
    let link: PeerLink.Folders

    /// Settings.
    public var config: String { link.config }
    /// Identities and known peers.
    public var data: String { link.data }
    /// The history and what is unfinished.
    public var state: String { link.state }
    /// What a host keeps only to relay it.
    public var cache: String { link.cache }
    /// Where received files go unless another folder is named.
    public var downloads: String { link.downloads }

    /// Takes `home`, else `PEERCONNECT_HOME`, else the XDG variables with `HOME`.
    ///
    /// - Parameters:
    ///   - home: A folder for everything; a relative path counts from the current folder.
    ///   - environment: The variables; those that are empty, and relative XDG paths, count as not set.
    /// - Throws: `cannot-start` when no home folder is known, `usage` for an empty `home`.
    public init(home: String? = nil, environment: [String: String]) throws(PeerConnectError) {
        link = try PeerLink.Folders(home: home, environment: environment)
    }
}
