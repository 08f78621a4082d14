/// Something that happened, in the order it happened; the JSON events are these, name by name.
@nonexhaustive
public enum NodeEvent: Sendable {
    case discovery(backend: String, state: DiscoveryState, reason: String?)
    case peerFound(ListedPeer)
    case peerUpdated(ListedPeer)
    case peerLost(ListedPeer, reason: String)

    case inviteReceived(number: Int, from: Peer, purpose: Purpose, offer: OfferSummary?, known: Standing)
    case inviteWithdrawn(number: Int, reason: String)
    case inviteRefused(from: Peer, answer: Answer)
    /// The target as typed when its peer is not known yet.
    case inviteAnswered(InviteTarget, answer: Answer, reason: String?, line: Int?)
    case inviteDone(chat: ChatID?, answers: [(InviteTarget, Answer)], line: Int?)

    /// One that began for a file ends with it; nothing can be said there.
    case chatStarted(chat: ChatID, role: ChatRole, host: Peer, members: [Peer], purpose: Purpose = .chat)
    case memberJoined(chat: ChatID, member: Peer)
    case memberLeft(chat: ChatID, member: Peer, reason: DepartureReason)
    /// The cause says how a lost host was lost.
    case chatEnded(chat: ChatID, reason: ChatEndReason, cause: DepartureReason?)

    case message(ChatMessage)
    case messageDelivered(chat: ChatID, seq: UInt64, ref: Int, missing: [Peer], line: Int?)
    case messageFailed(chat: ChatID, ref: Int, reason: String, line: Int?)

    case fileOffered(FileOffer)
    case fileAnswered(transfer: TransferID, peer: Peer, accepted: Bool, automatic: Bool)
    case fileProgress(FileProgress)
    case fileReceived(ReceivedFiles)
    case fileDelivered(transfer: TransferID, result: TransferResult)
    /// Entries of an own transfer that are not sent, as `path: reason`; the first 100, and how many there are.
    case fileSkipped(transfer: TransferID, entries: [String], count: Int)
    case fileDone(transfer: TransferID, results: [TransferResult], line: Int?)

    case warning(code: WarningCode, peer: Peer, message: String)
    case failure(PeerConnectError)
    /// The answer to one command, after the events that it caused at once.
    case reply(line: Int, Reply)
}

/// Whether discovery works.
public enum DiscoveryState: String, Sendable {
    case up, published, down
}

/// What the program warns of without ending anything by itself.
public enum WarningCode: String, Sendable {
    case otherKey = "other-key"
    case sameID = "same-id"
    case badSignature = "bad-signature"
    case splitView = "split-view"
}

/// A peer in the list, with the number the user may type for it.
public struct ListedPeer: Sendable {
    /// The claimed ID and name.
    public let peer: Peer
    /// Given when first seen and kept for the run.
    public let number: Int
    /// Whether an invitation would be answered `busy`.
    public let isBusy: Bool
    /// `chat`, or `inbox` for one that only takes files.
    public let kind: String
    /// Where it says it listens.
    public let addresses: [PeerAddress]
    /// How the claimed ID and name are known.
    public let known: Standing

    package init(
        peer: Peer, number: Int, isBusy: Bool, kind: String, addresses: [PeerAddress], known: Standing = .new
    ) {
        self.peer = peer
        self.known = known
        self.number = number
        self.isBusy = isBusy
        self.kind = kind
        self.addresses = addresses
    }
}

/// Whom an invitation is for: a peer, or an address whose peer is not known yet.
public struct InviteTarget: Hashable, Sendable {
    /// The peer, once known.
    public let peer: Peer?
    /// What the user typed, or the peer's name.
    public let label: String

    package init(peer: Peer?, label: String) {
        self.peer = peer
        self.label = label
    }
}

/// One line of the chat, in the order the host gave it.
public struct ChatMessage: Sendable {
    /// The chat.
    public let chat: ChatID
    /// Its place in the chat; grows, with gaps for events that are not messages.
    public let seq: UInt64
    /// The author, proved by signature.
    public let from: Peer
    /// 1 byte to 16 KiB; foreign text.
    public let text: String
    /// The author's clock, milliseconds since 1970.
    public let sent: Int64
    /// From before this peer was in the chat, or not to be told from such a one.
    public let isEarlier: Bool
    /// For an own line the number its reply gave, else `nil`.
    public let ref: Int?
    /// For an own line the input line it came from.
    public let line: Int?

    package init(
        chat: ChatID, seq: UInt64, from: Peer, text: String, sent: Int64, isEarlier: Bool = false, ref: Int?, line: Int?
    ) {
        self.chat = chat
        self.seq = seq
        self.from = from
        self.text = text
        self.sent = sent
        self.isEarlier = isEarlier
        self.ref = ref
        self.line = line
    }
}

/// An offer of files to some or all of the chat.
public struct FileOffer: Sendable {
    /// The number the user may type, for the offer and its transfer.
    public let number: Int
    /// The chat it is offered in.
    public let chat: ChatID
    /// The transfer that an acceptance starts.
    public let transfer: TransferID
    /// The sender.
    public let from: Peer
    /// The recipients.
    public let to: [Peer]
    /// Whether this peer is the sender.
    public let isMine: Bool
    /// What is offered.
    public let summary: OfferSummary
    /// For an own offer the input line it came from.
    public let line: Int?

    package init(
        number: Int, chat: ChatID, transfer: TransferID, from: Peer, to: [Peer], isMine: Bool, summary: OfferSummary,
        line: Int?
    ) {
        self.number = number
        self.chat = chat
        self.transfer = transfer
        self.from = from
        self.to = to
        self.isMine = isMine
        self.summary = summary
        self.line = line
    }
}

/// How far a transfer is, at most once a second.
public struct FileProgress: Sendable {
    /// The transfer.
    public let transfer: TransferID
    /// The recipient, when this peer is the sender; `nil` for what this peer receives.
    public let recipient: Peer?
    /// Bytes that arrived and were checked, out of `size`.
    public let bytes: UInt64
    /// Bytes in all.
    public let size: UInt64
    /// Bytes a second since the last report.
    public let rate: UInt64
    /// In the first report of a transfer that continues an interrupted one: the bytes that were there already.
    public let from: UInt64?

    package init(
        transfer: TransferID, recipient: Peer?, bytes: UInt64, size: UInt64, rate: UInt64, from: UInt64? = nil
    ) {
        self.transfer = transfer
        self.recipient = recipient
        self.bytes = bytes
        self.size = size
        self.rate = rate
        self.from = from
    }
}

/// Files that are whole, checked and under their final names.
public struct ReceivedFiles: Sendable {
    /// The transfer.
    public let transfer: TransferID
    /// The sender.
    public let from: Peer
    /// Absolute paths of the top-level entries.
    public let paths: [String]
    /// Bytes in all.
    public let size: UInt64
    /// Entries whose names had to be changed, as `old → new`.
    public let mended: [String]
    /// Entries left out, with the reason.
    public let skipped: [String]

    package init(transfer: TransferID, from: Peer, paths: [String], size: UInt64, mended: [String], skipped: [String]) {
        self.transfer = transfer
        self.from = from
        self.paths = paths
        self.size = size
        self.mended = mended
        self.skipped = skipped
    }
}

/// What a command gave.
public enum Reply: Sendable {
    case done
    /// An invitation was accepted: its host starts the chat, when the others have answered too.
    case joining(number: Int, chat: ChatID, purpose: Purpose)
    /// An own line was taken; the number comes back in its message.
    case message(ref: Int)
    /// Own files are being offered; the transfer comes back in its events.
    case offered(TransferID)
    case failed(PeerConnectError)
}
