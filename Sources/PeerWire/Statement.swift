package import PeerModel

/// An event of the chat by its number and its hash in the chain.
package struct EventReference: Hashable, Sendable {
    /// The event's number; 0 stands for the start of the chat.
    package let n: UInt64
    /// h(n).
    package let hash: Digest

    package init(n: UInt64, hash: Digest) {
        self.n = n
        self.hash = hash
    }
}

/// What a member says or offers, signed by it and ordered by the host.
package struct Statement: Hashable, Sendable {
    /// What is stated.
    package enum Body: Hashable, Sendable {
        /// A line: 1 byte to 16 KiB.
        case say(text: String)
        /// Files for some or all members.
        case offer(OfferBody)

        package var isOffer: Bool { if case .offer = self { true } else { false } }
    }

    private static let sayContext: StaticString = "peerconnect/say/1"
    private static let offerContext: StaticString = "peerconnect/offer/1"

    /// The chat it was made in.
    package let chat: ChatID
    /// That chat's host.
    package let host: PeerID
    /// Whoever claims to have made it; the signature proves it.
    package let author: PeerID
    /// 1 for the author's first statement in this chat, then one more for each; at most 2^63 − 1.
    package let counter: UInt64
    /// The last event the author had seen.
    package let seen: EventReference
    /// The author's clock, milliseconds since 1970.
    package let sent: Int64
    /// What is stated.
    package let body: Body

    /// A statement to be signed.
    package init(
        chat: ChatID, host: PeerID, author: PeerID, counter: UInt64, seen: EventReference, sent: Int64, body: Body
    ) {
        self.chat = chat
        self.host = host
        self.author = author
        self.counter = counter
        self.seen = seen
        self.sent = sent
        self.body = body
    }

    /// Reads what `bytes()` gives; throws for anything else.
    package init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let isOffer = bytes.starts(with: ByteWriter(context: Self.offerContext).bytes)
        try reader.context(isOffer ? Self.offerContext : Self.sayContext)
        chat = try reader.chatID()
        host = try reader.peerID()
        author = try reader.peerID()
        counter = try reader.number(in: WireNumber.fromOne)
        seen = EventReference(n: try reader.number(in: 0...WireNumber.maximum), hash: try reader.digest())
        sent = try reader.number()
        if isOffer {
            body = .offer(try OfferBody(from: &reader))
        } else {
            body = .say(text: try reader.text(Int(try reader.number(in: 1...UInt32(Limits.text)))))
        }
        try reader.finish()
    }

    /// The bytes to sign.
    package func bytes() -> [UInt8] {
        var writer =
            switch body {
            case .say: ByteWriter(context: Self.sayContext)
            case .offer: ByteWriter(context: Self.offerContext)
            }
        writer.chatID(chat)
        writer.peerID(host)
        writer.peerID(author)
        writer.number(counter)
        writer.number(seen.n)
        writer.digest(seen.hash)
        writer.number(sent)
        switch body {
        case .say(let text):
            writer.number(UInt32(clamping: text.utf8.count))
            writer.text(text)
        case .offer(let offer): offer.encode(into: &writer)
        }
        return writer.bytes
    }
}

/// The bound of numbers that 8 bytes or JSON carry.
package enum WireNumber {
    /// 2^63 − 1: a number read from a peer can be counted up without an overflow.
    package static let maximum = UInt64(Int64.max)
    /// For what is counted from 1.
    package static let fromOne = 1...maximum
}
