/// What an application, or a person at the prompt, asks of a node.
///
/// What is done in a chat is done in the one named along with it, or in the only one there is.
@nonexhaustive
public enum NodeCommand: Sendable {
    /// Invites all of these into the named chat, if this peer hosts it, else into the one about to start or a new one.
    ///
    /// A peer that may be in one chat only invites into that one.
    case invite([PeerReference])
    /// Starts the chat now, with those who accepted so far.
    case start
    /// Accepts an invitation or an offer; `nil` is the only open one.
    case accept(ItemReference?)
    /// Declines an invitation or an offer; `nil` is the only open one.
    case decline(ItemReference?)
    /// Says a line to the chat: 1 byte to 16 KiB.
    case say(String)
    /// Offers files and folders to these members, or with an empty list to all.
    case send(paths: [String], to: [PeerReference])
    /// Stops a transfer: for all if it is an own one, else for this peer; `nil` is the only running one.
    case cancel(ItemReference?)
    /// Leaves the chat as a member; without a named chat it takes back an acceptance, if one waits for its chat.
    case leave
    /// Ends the chat for all as its host; as a member, or without a named chat, it takes back open invitations.
    case end
    /// Takes back invitations and acceptances of chats that have not started.
    case giveUp
    /// Refuses every invitation while on.
    case doNotDisturb(Bool)
}

/// A peer as a person names it: a number from the list, an ID or its start, a name, an address, or `ID@address`.
public struct PeerReference: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The text as typed, without a leading `@`.
    public let text: String

    /// Takes the text as it is; whether it names a peer is found when it is used.
    public init(_ text: String) { self.text = text }

    /// For references written in source.
    public init(stringLiteral value: String) { text = value }
}

/// An open question or a transfer, by its number or by the peer it is with.
public enum ItemReference: Hashable, Sendable {
    /// The `N` of `#N`.
    case number(Int)
    /// The only item with that peer.
    case peer(PeerReference)
}

/// What is open at the moment, for lists.
public struct NodeSnapshot: Sendable {
    /// The peers in the list, by number.
    public var peers: [ListedPeer] = []
    /// The chats this peer talks in, in the order they began: its role, host and members (all but the host).
    public var chats: [(id: ChatID, role: ChatRole, host: Peer, members: [Peer])] = []
    /// Invitations that wait for an answer of this peer.
    public var invitations: [(number: Int, from: Peer, purpose: Purpose, offer: OfferSummary?, known: Standing)] = []
    /// The transfers of these chats and of those that began for a file, by number.
    public var transfers: [TransferState] = []

    package init() {}
}

/// One transfer as this peer knows it.
public struct TransferState: Sendable {
    /// The offer.
    public let offer: FileOffer
    /// Whether it waits for this peer's answer.
    public let isOpen: Bool
    /// Whether bytes still move or answers are still missing.
    public let isRunning: Bool
    /// The results so far.
    public let results: [TransferResult]

    package init(offer: FileOffer, isOpen: Bool, isRunning: Bool, results: [TransferResult]) {
        self.offer = offer
        self.isOpen = isOpen
        self.isRunning = isRunning
        self.results = results
    }
}
