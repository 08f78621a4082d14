package import PeerModel

/// The peers that discovery sees, as people know them: one entry an ID, with a number to type.
///
/// Names and IDs in it are only claimed. Pure, so whoever owns it decides where it lives.
package struct PeerDirectory: Sendable {
    /// Enough that a number stays its peer's for a whole run, and a stranger who invents IDs cannot fill the memory.
    private static let rememberedNumbers = 8 * Limits.listedPeers

    private var visible: [PeerID: ListedPeer] = [:]
    private(set) var acquaintances = Acquaintances()
    private var numbers: [PeerID: Int] = [:]
    private var byNumber: [Int: Peer] = [:]
    private var lastNumber = 0

    package init() {}

    /// Every visible peer, by number.
    package var list: [ListedPeer] { visible.values.sorted { $0.number < $1.number } }

    /// The visible peer with this ID.
    package func peer(_ id: PeerID) -> ListedPeer? { visible[id] }

    /// The peer that was given this number, also when it is not visible any more.
    package func peer(number: Int) -> Peer? { byNumber[number] }

    /// Takes what an advert says now; `nil` when that changes nothing, or when the list is full (2,000 peers).
    package mutating func found(
        id: PeerID, name: String, isBusy: Bool, kind: String, addresses: [PeerAddress]
    ) -> NodeEvent? {
        let old = visible[id]
        guard old != nil || visible.count < Limits.listedPeers else { return nil }
        let new = ListedPeer(
            peer: Peer(id: id, name: name), number: number(for: id), isBusy: isBusy, kind: kind, addresses: addresses,
            known: acquaintances.standing(of: Peer(id: id, name: name)))
        visible[id] = new
        byNumber[new.number] = new.peer
        guard let old else { return .peerFound(new) }
        return Self.looksTheSame(old, new) ? nil : .peerUpdated(new)
    }

    /// Takes a peer off the list, where its number stays its own; `nil` when it was not on it.
    package mutating func lost(_ id: PeerID, reason: String) -> NodeEvent? {
        visible.removeValue(forKey: id).map { .peerLost($0, reason: reason) }
    }

    /// Takes whom the user knows now; gives an event for each listed peer that is known otherwise than before.
    package mutating func know(_ acquaintances: Acquaintances) -> [NodeEvent] {
        self.acquaintances = acquaintances
        return list.compactMap { old in
            guard acquaintances.standing(of: old.peer) != old.known else { return nil }
            return found(
                id: old.peer.id, name: old.peer.name, isBusy: old.isBusy, kind: old.kind, addresses: old.addresses)
        }
    }

    private mutating func number(for id: PeerID) -> Int {
        if let number = numbers[id] { return number }
        if numbers.count >= Self.rememberedNumbers {
            numbers = visible.mapValues(\.number)
            byNumber = byNumber.filter { numbers[$1.id] != nil }
        }
        lastNumber += 1
        numbers[id] = lastNumber
        return lastNumber
    }

    /// Names by bytes, and addresses without their order, which changes with every answer of the network.
    private static func looksTheSame(_ old: ListedPeer, _ new: ListedPeer) -> Bool {
        old.peer.name.utf8.elementsEqual(new.peer.name.utf8) && old.isBusy == new.isBusy && old.kind == new.kind
            && old.known == new.known
            && Set(old.addresses) == Set(new.addresses)
    }
}
