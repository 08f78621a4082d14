/// A SHA-256 value.
package struct Digest: Hashable, Sendable, Comparable {
    package static let size = 32
    /// Always `size` bytes.
    package let bytes: [UInt8]

    /// `nil` unless there are exactly 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = Array(bytes)
    }

    package static func < (left: Digest, right: Digest) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// A peer's stable identity: the SHA-256 of its public key (SubjectPublicKeyInfo, DER).
///
/// A peer proves its ID by completing a TLS handshake with that key; a name proves nothing.
public struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible, LosslessStringConvertible {
    package let digest: Digest

    package init(_ digest: Digest) { self.digest = digest }

    /// Reads the 52 characters that `description` gives; `nil` for anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 52, let bytes = Base32.decode(description), let digest = Digest(bytes) else {
            return nil
        }
        self.digest = digest
    }

    /// 52 characters of lower-case base32, RFC 4648, without padding.
    public var description: String { Base32.encode(digest.bytes) }

    /// The first 8 characters as `k7qf-2m4d`: tells namesakes apart and proves nothing.
    public var short: String {
        let text = description
        return "\(text.prefix(4))-\(text.dropFirst(4).prefix(4))"
    }

    /// By bytes; when two peers invite each other, the smaller one's invitation wins.
    public static func < (left: PeerID, right: PeerID) -> Bool { left.digest < right.digest }
}

/// One chat, from its host's start to its end: 16 random bytes chosen by the host.
public struct ChatID: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    package static let size = 16
    package let bytes: [UInt8]

    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads the 26 characters that `description` gives; `nil` for anything else.
    public init?(_ description: String) {
        guard let bytes = Base32.decode(description) else { return nil }
        self.init(bytes: bytes)
    }

    /// 26 characters of lower-case base32.
    public var description: String { Base32.encode(bytes) }
}

/// One offer of files, free of any chat: SHA-256 over sender, nonce and manifest hash (WIRE.md, "Transfers").
public struct TransferID: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    package let digest: Digest

    package init(_ digest: Digest) { self.digest = digest }

    /// Reads the 52 characters that `description` gives; `nil` for anything else.
    public init?(_ description: String) {
        guard let bytes = Base32.decode(description), let digest = Digest(bytes) else { return nil }
        self.digest = digest
    }

    /// 52 characters of lower-case base32.
    public var description: String { Base32.encode(digest.bytes) }
}

/// One start of a peer: 8 characters of base32, in the advert and in every hello.
package struct RunID: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// `nil` unless it is 8 characters of `a`–`z`, `2`–`7`.
    package init?(_ text: String) {
        guard text.utf8.count == 8, Base32.decode(text) != nil else { return nil }
        description = text
    }

    /// From 5 random bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 5 else { return nil }
        description = Base32.encode(bytes)
    }
}
