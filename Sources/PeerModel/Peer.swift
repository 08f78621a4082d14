/// A peer as others see it: its proved ID and the name it gives itself.
public struct Peer: Hashable, Sendable {
    /// Proved by the TLS key, except in lists of adverts, where it is only claimed.
    public let id: PeerID
    /// The name the peer chose; foreign text, shown through `SafeText` only.
    public let name: String

    package init(id: PeerID, name: String) {
        self.id = id
        self.name = name
    }
}

/// What an invitation is for.
public enum Purpose: String, Sendable {
    case chat, file, message
}

/// How an invitation was answered.
public enum Answer: String, Sendable {
    case accepted, declined, busy, timeout, unreachable, incompatible
    case wrongKey = "wrong-key"
}

/// Why a member is no longer in the chat.
public enum DepartureReason: String, Sendable {
    case left, crashed, kicked
    case timedOut = "timed-out"
}

/// Why a chat is over for this peer.
public enum ChatEndReason: String, Sendable {
    case ended, left, kicked, empty
    case hostLost = "host-lost"
}

/// What this peer is in a chat.
public enum ChatRole: String, Sendable {
    case host, member
}

/// What an offer holds, as shown before it is accepted.
public struct OfferSummary: Hashable, Sendable {
    /// The name of the only top-level entry, or of the first with how many follow it.
    public let name: String
    /// Bytes in all files; `nil` when unknown.
    public let size: UInt64?
    /// Number of files, folders not counted.
    public let files: Int

    package init(name: String, size: UInt64?, files: Int) {
        self.name = name
        self.size = size
        self.files = files
    }
}

/// How a transfer ended for one recipient.
public enum TransferStatus: String, Sendable {
    case verified, partial, declined, failed, cancelled
}

/// Why a transfer did not end `verified`.
public enum TransferReason: String, Sendable {
    case changed, unreadable, corrupt, stalled, timeout, left, lost
    case diskFull = "disk-full"
    case tooLarge = "too-large"
    /// The files cannot be written where they were to be kept.
    case unwritable
    /// The sender stopped it.
    case withdrawn

    /// Whether what has arrived is of use when the same files are offered again; if `corrupt`, as far as it was signed.
    package var isContinuable: Bool {
        switch self {
        case .lost, .left, .timeout, .stalled, .diskFull, .unreadable, .corrupt: true
        case .changed, .tooLarge, .unwritable, .withdrawn: false
        }
    }
}

/// One recipient's result of a transfer.
public struct TransferResult: Hashable, Sendable {
    /// The recipient.
    public let peer: Peer
    /// How it ended for this recipient.
    public let status: TransferStatus
    /// Why it is not `verified`, if it is not.
    public let reason: TransferReason?

    package init(peer: Peer, status: TransferStatus, reason: TransferReason? = nil) {
        self.peer = peer
        self.status = status
        self.reason = reason
    }
}
