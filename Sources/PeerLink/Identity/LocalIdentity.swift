package import PeerModel
package import PeerTLS

/// An identity in memory: the key that proves the ID, and the name shown with it.
package struct LocalIdentity: Sendable {
    package let key: SigningKey
    package let displayName: DisplayName
    package let id: PeerID

    package init(key: SigningKey, displayName: DisplayName) {
        self.key = key
        self.displayName = displayName
        id = key.publicKey.peerID
    }

    /// A new one that is stored nowhere, so it is equal to no other, same name or not.
    package static func unique(displayName: DisplayName) -> LocalIdentity {
        LocalIdentity(key: .generate(), displayName: displayName)
    }
}
