package import PeerModel

/// One event of a chat as its host ordered it; the host gives it a number, and each is hashed onto the one before.
package struct ChatEvent: Hashable, Sendable {
    /// What happened.
    package enum Body: Hashable, Sendable {
        /// A member has come; the bytes are its `Join`.
        case joined(SignedBytes)
        /// A member is gone.
        case left(PeerID, DepartureReason)
        /// A line; the bytes are a `Statement` that says.
        case said(SignedBytes)
        /// Files are offered; the bytes are a `Statement` that offers.
        case offered(SignedBytes)
        /// A recipient has decided; `automatic` when its settings did.
        case answered(TransferID, by: PeerID, accepted: Bool, automatic: Bool)
        /// A transfer is over for a recipient.
        case result(TransferID, of: PeerID, TransferStatus, TransferReason?)
        /// A kind of a later version: it counts and is hashed, and is otherwise skipped.
        case unknown(kind: UInt8)
    }

    /// The host's clock, milliseconds since 1970.
    package let time: Int64
    /// What happened.
    package let body: Body

    package init(time: Int64, body: Body) {
        self.time = time
        self.body = body
    }

    /// The bytes that are hashed for h(0), the start of a chat's chain.
    package static func chainStart(chat: ChatID, host: PeerID) -> [UInt8] {
        var writer = ByteWriter(context: "peerconnect/chat/1")
        writer.chatID(chat)
        writer.peerID(host)
        return writer.bytes
    }

    /// The bytes that are hashed for h(n): the hash before it and the event as received.
    package static func chainLink(previous: Digest, event: [UInt8]) -> [UInt8] { previous.bytes + event }

    /// Reads what `bytes()` gives; the signed bytes inside are not looked at.
    package init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let kind = try reader.number(UInt8.self)
        time = try reader.number()
        switch kind {
        case 1: body = .joined(try reader.signed(length: Int(try reader.number(UInt16.self))))
        case 2: body = .left(try reader.peerID(), try reader.code())
        case 3: body = .said(try reader.signed(length: Int(try reader.number(UInt32.self))))
        case 4: body = .offered(try reader.signed(length: Int(try reader.number(UInt32.self))))
        case 5:
            body = .answered(
                try reader.transferID(), by: try reader.peerID(),
                accepted: try reader.number(in: 1...2 as ClosedRange<UInt8>) == 1, automatic: try reader.flag())
        case 6:
            body = .result(
                try reader.transferID(), of: try reader.peerID(), try reader.code(), try reader.codeOrNone())
        default:
            body = .unknown(kind: kind)
            return  // whatever follows belongs to the later version
        }
        try reader.finish()
    }

    /// The bytes to hash and to send.
    package func bytes() -> [UInt8] {
        var writer = ByteWriter()
        writer.number(kind)
        writer.number(time)
        switch body {
        case .joined(let join):
            writer.number(UInt16(clamping: join.bytes.count))
            writer.signed(join)
        case .left(let member, let reason):
            writer.peerID(member)
            writer.code(reason)
        case .said(let statement), .offered(let statement):
            writer.number(UInt32(clamping: statement.bytes.count))
            writer.signed(statement)
        case .answered(let transfer, let peer, let accepted, let automatic):
            writer.transferID(transfer)
            writer.peerID(peer)
            writer.number(accepted ? 1 : 2 as UInt8)
            writer.flag(automatic)
        case .result(let transfer, let peer, let status, let reason):
            writer.transferID(transfer)
            writer.peerID(peer)
            writer.code(status)
            writer.code(reason)
        case .unknown: break
        }
        return writer.bytes
    }

    private var kind: UInt8 {
        switch body {
        case .joined: 1
        case .left: 2
        case .said: 3
        case .offered: 4
        case .answered: 5
        case .result: 6
        case .unknown(let kind): kind
        }
    }
}

extension ByteReader {
    fileprivate mutating func signed(length: Int) throws(WireError) -> SignedBytes {
        SignedBytes(bytes: try bytes(length), signature: try bytes(SignedBytes.signatureSize))
    }
}

extension ByteWriter {
    fileprivate mutating func signed(_ signed: SignedBytes) {
        bytes(signed.bytes)
        bytes(signed.signature)
    }
}
