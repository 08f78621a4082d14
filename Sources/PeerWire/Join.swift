package import PeerModel

/// What a peer signs to become a member: it binds its key and name to one chat of one host.
package struct Join: Hashable, Sendable {
    /// Bytes of either nonce.
    package static let nonceSize = 16
    /// More than any SubjectPublicKeyInfo of version 1 (44 bytes) needs; 65 joins of this size fit a `welcome`.
    package static let keySizes: ClosedRange<UInt16> = 1...256
    private static let context: StaticString = "peerconnect/join/1"

    /// The chat that is joined.
    package let chat: ChatID
    /// Its host.
    package let host: PeerID
    /// 16 bytes, those of the invitation.
    package let nonce: [UInt8]
    /// 16 random bytes of the member's own, so that no join is like an earlier one, whatever the host invites to.
    package let memberNonce: [UInt8]
    /// The member's public key, SubjectPublicKeyInfo in DER; its hash is the member's ID.
    package let key: [UInt8]
    /// The name the member gives itself.
    package let name: DisplayName

    /// A join to be signed; a nonce or key of the wrong size is a bug of the caller.
    package init(
        chat: ChatID, host: PeerID, nonce: [UInt8], memberNonce: [UInt8], key: [UInt8], name: DisplayName
    ) {
        precondition(nonce.count == Self.nonceSize && memberNonce.count == Self.nonceSize, "nonces have 16 bytes")
        precondition(Self.keySizes.contains(UInt16(clamping: key.count)), "keys have 1 to 256 bytes")
        self.chat = chat
        self.host = host
        self.nonce = nonce
        self.memberNonce = memberNonce
        self.key = key
        self.name = name
    }

    /// Reads what `bytes()` gives; throws for anything else.
    package init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        try reader.context(Self.context)
        chat = try reader.chatID()
        host = try reader.peerID()
        nonce = try reader.bytes(Self.nonceSize)
        memberNonce = try reader.bytes(Self.nonceSize)
        key = try reader.bytes(Int(try reader.number(in: Self.keySizes)))
        guard let name = DisplayName(exactly: try reader.text(Int(try reader.number(UInt8.self)))) else {
            throw .badLayout
        }
        self.name = name
        try reader.finish()
    }

    /// The bytes to sign.
    package func bytes() -> [UInt8] {
        var writer = ByteWriter(context: Self.context)
        writer.chatID(chat)
        writer.peerID(host)
        writer.bytes(nonce)
        writer.bytes(memberNonce)
        writer.number(UInt16(key.count))  // checked in `init`
        writer.bytes(key)
        writer.number(UInt8(name.description.utf8.count))  // 63 at most
        writer.text(name.description)
        return writer.bytes
    }
}

extension DisplayName {
    /// A name received from a peer: it must be as our own are, and stand there without white space around it.
    init?(exactly text: String) {
        guard let name = try? DisplayName(text), name.description.utf8.elementsEqual(text.utf8) else { return nil }
        self = name
    }
}
