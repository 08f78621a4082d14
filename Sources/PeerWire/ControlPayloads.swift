package import PeerModel

/// The first frame of each side; its form never changes.
package struct Hello: Equatable, Sendable {
    /// The most addresses sent, and looked at; a dialler tries no more.
    package static let maximumAddresses = Limits.dialAddresses

    /// The lowest protocol version spoken, 0 to 65,535.
    package let min: Int
    /// The highest one, not below `min`.
    package let max: Int
    /// The sender's run.
    package let run: RunID
    /// What the sender calls itself.
    package let name: DisplayName
    /// Where it listens; 0: nowhere.
    package let port: UInt16
    /// Where it may be reached, as `PeerAddress` writes it; foreign text until parsed.
    package let addresses: [String]

    /// A hello to be sent: keeps the first 16 addresses.
    package init(
        min: Int = ProtocolVersion.lowest, max: Int = ProtocolVersion.highest, run: RunID, name: DisplayName,
        port: UInt16, addresses: [String]
    ) {
        self.min = min
        self.max = max
        self.run = run
        self.name = name
        self.port = port
        self.addresses = Array(addresses.prefix(Self.maximumAddresses))
    }
}

/// What a data connection is for, its first frame after the hellos.
package struct Open: Equatable, Sendable {
    /// The transfer whose bytes it will carry.
    package let transfer: TransferID
    /// 16 bytes, from the `Get` that asked for the connection.
    package let ticket: [UInt8]

    package init(transfer: TransferID, ticket: [UInt8]) {
        self.transfer = transfer
        self.ticket = ticket
    }
}

/// An invitation into a chat.
package struct Invite: Equatable, Sendable {
    /// The chat, which starts when all invited have answered.
    package let chat: ChatID
    /// 16 bytes that go into the `Join`.
    package let nonce: [UInt8]
    /// What it is for.
    package let purpose: Purpose
    /// What is offered; always there when the purpose is a file.
    package let offer: OfferSummary?

    package init(chat: ChatID, nonce: [UInt8], purpose: Purpose, offer: OfferSummary?) {
        self.chat = chat
        self.nonce = nonce
        self.purpose = purpose
        self.offer = offer
    }
}

/// The answer to an invitation.
package struct InviteAnswer: Equatable, Sendable {
    /// What may be sent, besides `accepted`.
    package static let refusals: Set<Answer> = [.declined, .busy, .timeout]

    /// The chat of the invitation.
    package let chat: ChatID
    /// `accepted` or one of `refusals`.
    package let answer: Answer
    /// The signed `Join`: there exactly when the answer is `accepted`.
    package let join: SignedBytes?

    /// An acceptance.
    package init(chat: ChatID, accepting join: SignedBytes) {
        self.chat = chat
        answer = .accepted
        self.join = join
    }

    /// A refusal; one that is not in `refusals` is a bug of the caller.
    package init(chat: ChatID, refusing answer: Answer) {
        precondition(Self.refusals.contains(answer), "never sent")
        self.chat = chat
        self.answer = answer
        join = nil
    }
}

/// Why an invitation, or an acceptance that leads to no chat, is taken back.
package enum WithdrawReason: String, CaseIterable, Sendable {
    case withdrawn, timeout, crossed
}

/// From here on the receiver is in the chat.
package struct Welcome: Equatable, Sendable {
    /// The chat.
    package let chat: ChatID
    /// The last event before those of `joined`, and its hash.
    package let before: EventReference
    /// The joins of everyone in by then.
    package let members: [SignedBytes]
    /// The exact bytes of the events that follow, each a *joined*, the receiver's among them: with `members` 1 to 64.
    package let joined: [[UInt8]]
    /// The last counter of everyone who has stated something, those who left too: what follows goes on from there.
    package let counters: [PeerID: UInt64]

    package init(
        chat: ChatID, before: EventReference, members: [SignedBytes], joined: [[UInt8]],
        counters: [PeerID: UInt64] = [:]
    ) {
        self.chat = chat
        self.before = before
        self.members = members
        self.joined = joined
        self.counters = counters
    }
}

/// The wish for a transfer's bytes from a piece on.
package struct Get: Equatable, Sendable {
    /// The transfer.
    package let transfer: TransferID
    /// 16 random bytes for one data connection.
    package let ticket: [UInt8]
    /// How many pieces the asking side has: 0 for all.
    package let piece: UInt64
    /// What the sender signed about the last of them; without it the sender hashes all pieces anew.
    package let proof: PieceProof?

    package init(transfer: TransferID, ticket: [UInt8], piece: UInt64, proof: PieceProof? = nil) {
        self.transfer = transfer
        self.ticket = ticket
        self.piece = piece
        self.proof = proof
    }
}

/// The sender's signature on the chain up to one piece, by which it recognises what it has hashed before.
package struct PieceProof: Equatable, Sendable {
    /// A piece behind which the sender signs.
    package let index: UInt64
    /// C(index).
    package let link: Digest
    /// 64 bytes over `TransferLayout.checkpoint`.
    package let signature: [UInt8]

    package init(index: UInt64, link: Digest, signature: [UInt8]) {
        self.index = index
        self.link = link
        self.signature = signature
    }
}
