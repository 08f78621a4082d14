package import PeerLink
public import PeerModel

/// Who this peer is: a key pair and the name shown with it.
///
/// Other peers know an identity by its ID, which the key proves; a name proves nothing.
public final class Identity: Sendable {
    /// Its key, for those who connect.
    package let local: LocalIdentity
    private let store: IdentityStore?

    /// The hash of the public key: never the same for two identities.
    public var id: PeerID { local.id }
    /// The name others see.
    public var displayName: DisplayName { local.displayName }

    /// A new identity that is stored nowhere: equal to no other, same name or not.
    public init(displayName: DisplayName) {
        local = .unique(displayName: displayName)
        store = nil
    }

    init(_ local: LocalIdentity, from store: IdentityStore) {
        self.local = local
        self.store = store
    }

    /// The identity of this name, made when there is none yet.
    ///
    /// Asking again for the same name gives an equal identity, in every process and after every restart. Another name
    /// gives another, and going back to an earlier name brings its identity back.
    ///
    /// - Throws: `cannot-start`, naming the file, when stored keys cannot be read or written: never a silent new identity.
    public static func reusable(
        displayName: DisplayName, in folders: Folders
    ) throws(PeerConnectError) -> Identity {
        try Identities(in: folders).reusable(displayName: displayName)
    }

    /// Keeps other processes from running under this identity while the result lives; `nil` for one that is not stored.
    ///
    /// - Throws: `locked`, naming who has it.
    package func lock() throws(PeerConnectError) -> (any Sendable)? {
        guard let store else { return nil }
        return try publicly { () throws(IdentityError) in try store.lock(local) }
    }
}

extension Identity: Hashable {
    /// Whether both have the same key.
    public static func == (left: Identity, right: Identity) -> Bool { left.id == right.id }

    /// Hashes the ID.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Turns the errors of the identity store into public ones.
func publicly<Result>(_ body: () throws(IdentityError) -> Result) throws(PeerConnectError) -> Result {
    do { return try body() } catch { throw error.publicError }
}
