internal import PeerConnect
internal import PeerModel
internal import PeerSystem

/// The user's folders and identities on this machine.
struct StoredHome: Home {
    /// Makes a node that is not started.
    typealias OpenNode = @Sendable (Identity, NodeSettings) throws(PeerConnectError) -> any NodeSession

    private let folders: Folders
    private let store: Identities
    private let openNode: OpenNode

    init(below home: String?, environment: [String: String], openNode: @escaping OpenNode) throws(PeerConnectError) {
        folders = try Folders(home: home, environment: environment)
        store = Identities(in: folders)
        self.openNode = openNode
    }

    var downloads: String { folders.downloads }
    var spools: String { folders.cache + "/spools" }
    var configFolder: String { folders.config }
    var dataFolder: String { folders.data }
    var stateFolder: String { folders.state }
    var proposedName: DisplayName { Identities.proposedName() }

    func settingsText() throws(PeerConnectError) -> String? {
        let path = folders.config + "/" + SettingsFile.name
        do throws(TextFile.Failure) { return try TextFile.read(path) } catch {
            if error.isMissing { return nil }
            throw PeerConnectError(
                .cannotStart, "\(SafeText.line(path)) cannot be read: \(error.reason).",
                hint: "Mend the file, or move it away.")
        }
    }

    func identities() throws(PeerConnectError) -> [StoredIdentity] {
        let current = try store.current()
        return try store.list().map { Self.stored($0, isCurrent: $0 == current) }
    }

    func create(_ name: DisplayName) throws(PeerConnectError) -> StoredIdentity {
        let identity = try store.new(name)
        return Self.stored(identity, isCurrent: try store.current() == identity)
    }

    func use(_ name: DisplayName) throws(PeerConnectError) -> StoredIdentity {
        Self.stored(try store.use(name), isCurrent: true)
    }

    func rename(to name: DisplayName) throws(PeerConnectError) -> StoredIdentity {
        guard let current = try store.current() else {
            throw PeerConnectError(
                .usage, "There is no current identity to rename.", hint: "peerconnect id new NAME makes one.")
        }
        return Self.stored(try store.rename(current.displayName, to: name), isCurrent: true)
    }

    func rename(_ old: DisplayName, to new: DisplayName) throws(PeerConnectError) {
        try store.rename(old, to: new)
    }

    func establish(_ name: DisplayName) throws(PeerConnectError) {
        _ = try store.reusable(displayName: name)
        try store.use(name)
    }

    func session(
        as name: DisplayName, isStored: Bool, _ settings: NodeSettings
    ) throws(PeerConnectError) -> any NodeSession {
        let identity =
            if isStored {
                try store.reusable(displayName: name)
            } else {
                try store.list().first { $0.displayName == name } ?? Identity(displayName: name)
            }
        return try openNode(identity, settings)
    }

    private static func stored(_ identity: Identity, isCurrent: Bool) -> StoredIdentity {
        StoredIdentity(peer: Peer(id: identity.id, name: identity.displayName.description), isCurrent: isCurrent)
    }
}
