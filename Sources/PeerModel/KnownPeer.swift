/// What the user thinks of a peer.
public enum Trust: String, Sendable {
    case neutral, trusted, blocked
}

/// A peer that was met in a chat, or that the user has trusted or blocked by its ID.
public struct KnownPeer: Hashable, Sendable {
    /// With the name it had last; foreign text.
    public let peer: Peer
    /// Milliseconds since 1970; `nil` for one that was never met.
    public let firstSeen: Int64?
    /// Milliseconds since 1970; `nil` for one that was never met.
    public let lastSeen: Int64?
    /// What the user thinks of it.
    public let trust: Trust

    /// Whether its name is its own: another key that bears it is called out.
    ///
    /// Blocking a stranger by its ID must not give it the name it called itself by.
    public var holdsName: Bool { firstSeen != nil || trust == .trusted }

    /// Takes it as it is kept somewhere.
    public init(peer: Peer, firstSeen: Int64?, lastSeen: Int64?, trust: Trust) {
        self.peer = peer
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.trust = trust
    }
}

/// How a peer is known; the words are those of the JSON events.
public enum Standing: String, Sendable {
    case new, known, trusted, blocked
    /// New, under a name that a known peer has.
    case otherKey = "other-key"
}
