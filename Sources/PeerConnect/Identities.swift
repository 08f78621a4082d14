internal import PeerLink
public import PeerModel

/// The user's stored identities: one a display name.
///
/// Reads and writes files at every call, so it agrees with all other processes; only `reusable` and `new` make any.
/// Every call throws `cannot-start`, naming the file, when a stored key cannot be trusted.
public struct Identities: Sendable {
    private let store: IdentityStore

    /// Those below the data folder, which need not exist yet.
    public init(in folders: Folders) { store = IdentityStore(folders: folders.link) }

    /// The identity of this name, made when there is none yet.
    public func reusable(displayName: DisplayName) throws(PeerConnectError) -> Identity {
        try identity { () throws(IdentityError) in try store.reusable(displayName: displayName) }
    }

    /// Makes the identity of a name that has none; `usage` when it has one.
    public func new(_ displayName: DisplayName) throws(PeerConnectError) -> Identity {
        try identity { () throws(IdentityError) in try store.new(displayName) }
    }

    /// All of them, by name.
    public func list() throws(PeerConnectError) -> [Identity] {
        try publicly { () throws(IdentityError) in try store.list() }.map { Identity($0, from: store) }
    }

    /// The identity used unless another is asked for; `nil` before one was chosen.
    public func current() throws(PeerConnectError) -> Identity? {
        try publicly { () throws(IdentityError) in try store.current() }.map { Identity($0, from: store) }
    }

    /// Makes the identity of this name the current one; `usage` when there is none.
    @discardableResult
    public func use(_ displayName: DisplayName) throws(PeerConnectError) -> Identity {
        try identity { () throws(IdentityError) in try store.use(displayName) }
    }

    /// Gives an identity another name: the key stays, the old name is free; `usage` when the new name has an identity.
    @discardableResult
    public func rename(_ old: DisplayName, to new: DisplayName) throws(PeerConnectError) -> Identity {
        try identity { () throws(IdentityError) in try store.rename(old, to: new) }
    }

    /// What a first run proposes: `LOGIN@HOST`, cut to 63 bytes on a character border.
    public static func proposedName() -> DisplayName { IdentityStore.proposedName() }

    private func identity(
        _ body: () throws(IdentityError) -> LocalIdentity
    ) throws(PeerConnectError) -> Identity {
        Identity(try publicly(body), from: store)
    }
}
