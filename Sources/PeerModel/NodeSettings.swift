/// How a node behaves; the defaults are those of `peerconnect chat`.
public struct NodeSettings: Sendable {
    /// Which port to listen on.
    public enum Port: Hashable, Sendable {
        /// 27182, else the next free one up to 27199, else any.
        case automatic
        /// Exactly this one; 0 is any.
        case exactly(UInt16)
    }

    /// How peers are found.
    public enum Discovery: String, Sendable {
        /// The daemon if it answers, else `embedded`, until there is a daemon.
        case auto
        /// By avahi-daemon.
        case daemon
        /// By a responder inside this process.
        case embedded
        /// Not at all; a typed address still works.
        case off
    }

    /// What to do with an invitation or an offer.
    public enum Acceptance: Hashable, Sendable {
        /// Ask the application.
        case ask
        /// Accept all.
        case all
        /// Refuse all.
        case none
        /// Accept those of peers the user trusts; ask about others.
        case trusted
        /// Accept those of these peers; refuse others.
        case from(Set<PeerID>)
    }

    /// What the advert says this node is for.
    public enum Kind: String, Sendable {
        case chat, inbox
    }

    /// The port.
    public var port = Port.automatic
    /// Only these interfaces are used for discovery and for listening; empty means all.
    public var interfaces: [String] = []
    /// How peers are found.
    public var discovery = Discovery.auto
    /// What the advert says.
    public var kind = Kind.chat
    /// Whether to listen and to advertise; a node that does not can still invite.
    public var isVisible = true
    /// How many peers may be in an own chat besides the host, up to 64.
    public var maximumPeers = 7
    /// How many chats may be at once.
    public var maximumChats = 1
    /// What to do with invitations to chat.
    public var invitations = Acceptance.ask
    /// What to do with offered files, and with invitations whose purpose is a file.
    public var files = Acceptance.ask
    /// Larger offers are declined unasked; bytes.
    public var maximumFileSize: UInt64?
    /// Where received files go: an absolute path.
    public var downloads: String
    /// Where a host keeps what it only relays: an absolute path.
    public var spools: String

    /// The defaults, with the two folders that have none.
    public init(downloads: String, spools: String) {
        self.downloads = downloads
        self.spools = spools
    }
}
