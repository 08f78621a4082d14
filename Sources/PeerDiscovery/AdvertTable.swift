package import PeerModel

/// One peer as the network shows it, however many instances and interfaces it is seen under.
package struct NearbyPeer: Hashable, Sendable {
    package let id: PeerID
    package let name: String
    package let isBusy: Bool
    package let kind: Advert.Kind
    /// Every address with the advertised port: IPv4, then other IPv6, then link-local ones with their scope.
    package let addresses: [PeerAddress]
    /// The same apart for each instance, the oldest first: whoever lies about an ID adds an instance, and no more than that.
    package let places: [[PeerAddress]]

    /// A new one means that something happened to it: it was started again, has moved or woken up.
    package let edition: String

    init(_ advert: Advert, places: [[PeerAddress]]) {
        id = advert.id
        name = advert.name
        isBusy = advert.isBusy
        kind = advert.kind
        edition = "\(advert.run)-\(advert.revision)"
        self.places = places
        addresses = Set(places.flatMap(\.self)).sorted { Self.rank($0) < Self.rank($1) }
    }

    private static func rank(_ address: PeerAddress) -> (Int, String) {
        switch address.ip {
        case .v4: (0, address.description)
        case .v6: (address.isLinkLocal ? 2 : 1, address.description)
        }
    }
}

/// What this run is called on the network, so that it does not list itself.
package struct OwnRun: Hashable, Sendable {
    package let id: PeerID
    package let run: String
    /// Whether it wants to see adverts of kind `check` too.
    package let seesChecks: Bool

    package init(id: PeerID, run: String, seesChecks: Bool = false) {
        self.id = id
        self.run = run
        self.seesChecks = seesChecks
    }
}

/// A change of the list.
package enum PeerChange: Equatable, Sendable {
    case found(NearbyPeer)
    case updated(NearbyPeer)
    case lost(PeerID)
    /// Another run says it has the own ID: a clone, or what a run that crashed has left behind. Told once for each run.
    case ownID(at: [PeerAddress])
}

/// Service instances merged into peers: one entry an ID, while the instances stay apart inside it.
struct AdvertTable {
    private struct Instance {
        let name: String
        let advert: Advert
        let addresses: [PeerAddress]
        /// The later one counts when two disagree about name or state.
        let order: UInt64
        /// Of when it was first here: those that came last go first.
        let arrival: UInt64
    }

    /// Of one peer, so that a flood under its ID does not make every change of it slow.
    private static let placesAtMost = 16

    private let own: OwnRun
    /// By ID, the oldest first.
    private var instances: [PeerID: [Instance]] = [:]
    /// Whose an instance is.
    private var owners: [String: PeerID] = [:]
    private var listed: [PeerID: NearbyPeer] = [:]
    private var order: UInt64 = 0
    /// Other runs under the own ID that were told; bounded, since anyone may invent some.
    private var told: Set<String> = []
    private static let toldAtMost = 16
    private let atMost: Int
    private var crowds = Crowds()
    /// Those whom the user knows, and those who have proved their key: nobody made them up.
    private var known: Set<PeerID> = []
    private var proved: Set<PeerID> = []
    /// Keys cost nothing, so not everybody who has one is remembered.
    private var provedAtMost: Int { atMost / 2 }

    init(own: OwnRun, atMost: Int = Limits.listedPeers) {
        self.own = own
        self.atMost = atMost
    }

    var peers: [NearbyPeer] { Array(listed.values) }

    func places(of id: PeerID) -> [[PeerAddress]] { listed[id]?.places ?? [] }

    /// Whether this instance is one of a peer's that is listed.
    func has(_ name: String) -> Bool { owners[name] != nil }

    /// An instance says this and is reachable there.
    mutating func set(_ name: String, _ advert: Advert, _ addresses: [PeerAddress]) -> [PeerChange] {
        guard advert.id != own.id else { return remove(name) + sawOwnID(advert, addresses) }
        guard advert.kind != .check || own.seesChecks else { return remove(name) }
        guard owners[name] != nil || !addresses.isEmpty && owners.count < atMost else { return [] }
        let previous = owners.updateValue(advert.id, forKey: name)
        order += 1
        let index = previous == advert.id ? instances[advert.id]?.firstIndex { $0.name == name } : nil
        let old = index.flatMap { instances[advert.id]?[$0] }
        let instance = Instance(
            name: name, advert: advert, addresses: addresses, order: order, arrival: old?.arrival ?? order)
        if let index, let old {
            crowds.remove(old.addresses, of: advert.id)
            instances[advert.id]?[index] = instance
        } else {
            instances[advert.id, default: []].append(instance)
        }
        crowds.add(addresses, of: advert.id)
        let changes = refresh(advert.id)
        guard let previous, previous != advert.id else { return changes }
        return changes + drop(name, of: previous)
    }

    // MARK: When there are too many

    /// Those whom the user knows now.
    mutating func know(_ ids: Set<PeerID>) { known = ids }

    /// This peer has proved its key.
    mutating func prove(_ id: PeerID) { if proved.count < provedAtMost { proved.insert(id) } }

    private func mayBeMadeUp(_ id: PeerID) -> Bool { !known.contains(id) && !proved.contains(id) }

    /// Whether this instance would be one too many.
    func hasNoRoom(for name: String, _ advert: Advert) -> Bool {
        owners[name] == nil && owners.count >= atMost && advert.id != own.id
            && (advert.kind != .check || own.seesChecks)
    }

    /// Which instance is to go for a new one that says this; `nil` when the new one is to stay out.
    ///
    /// Who comes from where a crowd comes from stays out, and the last to come of the largest crowd goes first. Where there is no
    /// crowd anyone may have been made up, and so may the new one: then it is the last to come of a few taken by chance, so that
    /// those who have been here for long stay and the last ones do not push each other out at once.
    func victim(for advert: Advert, _ addresses: [PeerAddress]) -> String? {
        guard !mayBeMadeUp(advert.id) || !crowds.isCrowd(addresses, of: advert.id) else { return nil }
        let candidates = instances.lazy.filter { mayBeMadeUp($0.key) }.flatMap { id, all in all.map { (id, $0) } }
        if let crowd = crowds.largest {
            let newest = candidates.filter { crowds.isPart(of: crowd, $1.addresses, of: $0) }
                .max { $0.1.arrival < $1.1.arrival }
            if let newest { return newest.1.name }
        }
        let all = Array(candidates)
        return (0..<Self.drawn).compactMap { _ in all.randomElement()?.1 }.max { $0.arrival < $1.arrival }?.name
    }

    /// So one of the older half goes once in 65,536 times.
    private static let drawn = 16

    // MARK: The own ID

    /// The own advert is not a peer, and neither is another one under the own ID.
    private mutating func sawOwnID(_ advert: Advert, _ addresses: [PeerAddress]) -> [PeerChange] {
        guard advert.run != own.run, !addresses.isEmpty, told.count < Self.toldAtMost,
            told.insert(advert.run).inserted
        else { return [] }
        return [.ownID(at: addresses)]
    }

    // MARK: What follows from it

    /// An instance is gone.
    mutating func remove(_ name: String) -> [PeerChange] {
        guard let id = owners.removeValue(forKey: name) else { return [] }
        return drop(name, of: id)
    }

    private mutating func drop(_ name: String, of id: PeerID) -> [PeerChange] {
        if let index = instances[id]?.firstIndex(where: { $0.name == name }),
            let instance = instances[id]?.remove(at: index)
        {
            crowds.remove(instance.addresses, of: id)
        }
        if instances[id]?.isEmpty == true { instances[id] = nil }
        return refresh(id)
    }

    private mutating func refresh(_ id: PeerID) -> [PeerChange] {
        var newest: Instance?
        var places: [[PeerAddress]] = []
        for instance in instances[id] ?? [] where !instance.addresses.isEmpty {
            if newest.map({ $0.order < instance.order }) ?? true { newest = instance }
            if places.count < Self.placesAtMost { places.append(instance.addresses) }
        }
        guard let newest else { return listed.removeValue(forKey: id) == nil ? [] : [.lost(id)] }
        let peer = NearbyPeer(newest.advert, places: places)
        let old = listed.updateValue(peer, forKey: id)
        guard let old else { return [.found(peer)] }
        return old == peer ? [] : [.updated(peer)]
    }
}
