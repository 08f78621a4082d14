/// Whom the user knows, as a value: what a node needs to tell friends, strangers and impostors apart.
///
/// Empty for a node that keeps no list: everyone is new.
public struct Acquaintances: Equatable, Sendable {
    /// By name, then by ID.
    public let list: [KnownPeer]
    private let byID: [PeerID: KnownPeer]
    /// Those who hold a name, by the name as it is compared.
    private let holdersByName: [String: [KnownPeer]]

    /// Takes the list as it is; the order of equal names is kept.
    public init(_ list: [KnownPeer] = []) {
        self.list = list
        byID = Dictionary(list.map { ($0.peer.id, $0) }, uniquingKeysWith: { first, _ in first })
        holdersByName = Dictionary(grouping: list.filter { $0.holdsName && !$0.peer.name.isEmpty }) {
            Self.key($0.peer.name)
        }
    }

    /// Equal lists: what else is here follows from the list.
    public static func == (left: Acquaintances, right: Acquaintances) -> Bool { left.list == right.list }

    /// Whom it is about.
    package var ids: Set<PeerID> { Set(byID.keys) }

    /// The one with this ID.
    public func peer(_ id: PeerID) -> KnownPeer? { byID[id] }

    /// Those that hold this name, letter case ignored as in every name that is typed.
    public func holders(of name: String) -> [Peer] { holdersByName[Self.key(name), default: []].map(\.peer) }

    /// Those that hold the name of this peer and are not it: when it is new, they are whom it may be taken for.
    public func namesakes(of peer: Peer) -> [Peer] { holders(of: peer.name).filter { $0.id != peer.id } }

    /// How a peer is known that proves this ID and calls itself by this name.
    public func standing(of peer: Peer) -> Standing {
        switch byID[peer.id]?.trust {
        case .trusted: .trusted
        case .blocked: .blocked
        case .neutral: .known
        case nil: namesakes(of: peer).isEmpty ? .new : .otherKey
        }
    }

    /// Whether the user wants nothing of this peer.
    public func isBlocked(_ id: PeerID) -> Bool { byID[id]?.trust == .blocked }

    /// Whether the user trusts this peer.
    public func isTrusted(_ id: PeerID) -> Bool { byID[id]?.trust == .trusted }

    /// Those under this name, whether they hold it or not.
    package func peers(named name: String) -> [Peer] {
        list.map(\.peer).filter { !$0.name.isEmpty && Self.key($0.name) == Self.key(name) }
    }

    private static func key(_ name: String) -> String { name.lowercased() }
}
