package import PeerModel

// Times are milliseconds since 1970, by this machine's clock unless said otherwise. Names, texts and paths are foreign
// text, shown through `SafeText` only.

/// A chat as it is kept: seen by one own identity.
package struct ChatRecord: Equatable, Sendable {
    /// Someone who was in the chat besides its host.
    package struct Member: Equatable, Sendable {
        package let peer: Peer
        package let joined: Int64
        /// When it left; `nil` for one that stayed to the end, or was there when the record ends.
        package let left: Int64?
        package let reason: DepartureReason?
    }

    package let id: ChatID
    /// The own identity that was in it.
    package let own: PeerID
    package let role: ChatRole
    package let host: Peer
    /// In the order they joined; this peer too when it is not the host.
    package let members: [Member]
    package let started: Int64
    /// `nil` while it runs, and for ever when the program was killed in it.
    package let ended: Int64?
    package let endReason: ChatEndReason?
    /// How a lost host was lost.
    package let endCause: DepartureReason?
    /// When something was last recorded of it.
    package let lastActivity: Int64
    /// How many messages are kept.
    package let messages: Int
    /// How many offers of files are kept.
    package let files: Int
}

/// A line of a chat.
package struct MessageRecord: Equatable, Sendable {
    package let chat: ChatID
    package let own: PeerID
    /// Its place in the whole history: grows from record to record; where a next page begins.
    package let position: Int64
    package let seq: UInt64
    package let from: Peer
    package let text: String
    /// By the author's clock.
    package let sent: Int64
    /// When it came here.
    package let recorded: Int64
    /// Said before this peer was in the chat, or not to be told from such a one.
    package let isEarlier: Bool

    package var isMine: Bool { from.id == own }
}

/// An offer of files and what became of it.
package struct FileRecord: Equatable, Sendable {
    /// How it went with one recipient.
    package struct Recipient: Equatable, Sendable {
        package let peer: Peer
        /// `nil` before it answered.
        package let accepted: Bool?
        /// `nil` before it ended.
        package let result: TransferResult?
    }

    package let chat: ChatID
    package let own: PeerID
    package let transfer: TransferID
    package let from: Peer
    package let summary: OfferSummary
    package let offered: Int64
    package let recipients: [Recipient]
    /// When this peer had all of it; `nil` when it has not, or is the sender.
    package let received: Int64?
    /// Where the top-level entries are: the first 1,000 absolute paths.
    package let paths: [String]
    /// How many top-level entries were received in all.
    package let pathCount: Int

    package var isMine: Bool { from.id == own }
}

/// Something in the course of a chat.
package struct HistoryEntry: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case message(MessageRecord)
        case joined(Peer)
        case left(Peer, DepartureReason)
        /// At the place of the offer, with what is known of it by now.
        case offered(FileRecord)
        /// This peer has all files of an offer.
        case received(FileRecord)
        /// The offer is over for everyone.
        case finished(FileRecord)
    }

    /// Its place in the whole history; where a next page begins.
    package let position: Int64
    package let at: Int64
    package let kind: Kind
}

/// How much history is kept.
package struct HistoryLimits: Equatable, Sendable {
    /// Bytes of the database; the oldest entries are dropped beyond.
    ///
    /// 256 MiB hold about half a million lines, which is years of talk, are searched well within a second, and are no
    /// burden to a disk.
    package var size: Int64
    /// Milliseconds; older entries are dropped.
    ///
    /// None unless the user wishes it: nobody should lose what was said because time passed, or because a clock was
    /// wrong once.
    package var age: Int64?

    /// Less does not pay: the tables alone take a part of it.
    package static let leastSize: UInt64 = 1 << 20

    package init(size: Int64 = 256 << 20, age: Int64? = nil) {
        self.size = size
        self.age = age
    }
}
