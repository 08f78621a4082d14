package import PeerModel

/// What a machine may not have of its own: cryptography and randomness, as pure functions of the caller's.
package struct Environment: Sendable {
    /// SHA-256.
    package let hash: @Sendable ([UInt8]) -> Digest
    /// An Ed25519 signature with the own key.
    package let sign: @Sendable ([UInt8]) -> [UInt8]
    /// Whether a signature is that of a key (SubjectPublicKeyInfo) over these bytes.
    package let isValid: @Sendable (_ signature: [UInt8], _ bytes: [UInt8], _ key: [UInt8]) -> Bool
    /// So many random bytes.
    package let random: @Sendable (Int) -> [UInt8]

    package init(
        hash: @escaping @Sendable ([UInt8]) -> Digest,
        sign: @escaping @Sendable ([UInt8]) -> [UInt8],
        isValid: @escaping @Sendable ([UInt8], [UInt8], [UInt8]) -> Bool,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.hash = hash
        self.sign = sign
        self.isValid = isValid
        self.random = random
    }
}

/// When something happens: the clock for limits, and the wall clock, which is only displayed.
package struct Moment: Sendable {
    package let now: Instant
    /// Milliseconds since 1970.
    package let wall: Int64

    package init(now: Instant, wall: Int64) {
        self.now = now
        self.wall = wall
    }
}

/// One control connection of this run.
package struct ConnectionID: Hashable, Sendable {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}

/// One attempt to reach a peer.
package struct DialID: Hashable, Sendable {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}

/// This peer.
package struct LocalPeer: Sendable {
    package let peer: Peer
    /// SubjectPublicKeyInfo.
    package let key: [UInt8]

    package init(peer: Peer, key: [UInt8]) {
        self.peer = peer
        self.key = key
    }
}

/// The other side of an open connection: its ID is proved, its name is its own word.
package struct RemotePeer: Hashable, Sendable {
    package let peer: Peer
    /// SubjectPublicKeyInfo, from the TLS handshake.
    package let key: [UInt8]
    /// The address or network it comes from, for limits on strangers; empty when it was dialled.
    package var source: [UInt8] = []

    package init(peer: Peer, key: [UInt8]) {
        self.peer = peer
        self.key = key
    }
}

/// The numbers of questions and transfers: shared, shown as `#N`, never reused in a run.
package struct ItemNumbers: Sendable {
    private var last = 0
    package init() {}
    package mutating func next() -> Int {
        last += 1
        return last
    }
}
