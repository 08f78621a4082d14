package import PeerModel

/// What the user thinks of a peer.
package enum Trust: String, Sendable {
    case neutral, trusted, blocked
}

/// A peer that was met in a chat, or that the user has trusted or blocked by its ID.
package struct KnownPeer: Equatable, Sendable {
    /// With the name it had last; foreign text.
    package let peer: Peer
    /// Milliseconds since 1970; `nil` for one that was never met.
    package let firstSeen: Int64?
    package let lastSeen: Int64?
    package let trust: Trust

    /// Whether its name is its own: another key that bears it is called out.
    ///
    /// Blocking a stranger by its ID must not give it the name it called itself by.
    package var holdsName: Bool { firstSeen != nil || trust == .trusted }
}

/// How a peer is known; the words are those of the JSON events.
package enum Standing: String, Sendable {
    case new, known, trusted, blocked
    /// New, under a name that a known peer has.
    case otherKey = "other-key"
}
