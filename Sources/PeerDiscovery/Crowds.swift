internal import PeerModel

/// How many instances come from each address, and under each ID: a flood comes from few.
struct Crowds {
    /// More at one address, or of one ID, are a crowd: people who work on one machine are fewer.
    private static let above = 64

    enum Origin: Hashable {
        case address(PeerAddress.IP)
        case peer(PeerID)
    }

    private var counts: [Origin: Int] = [:]

    mutating func add(_ addresses: [PeerAddress], of id: PeerID) {
        for origin in Self.origins(addresses, of: id) { counts[origin, default: 0] += 1 }
    }

    /// What was added has to go as it came.
    mutating func remove(_ addresses: [PeerAddress], of id: PeerID) {
        for origin in Self.origins(addresses, of: id) {
            let count = counts[origin, default: 1] - 1
            counts[origin] = count > 0 ? count : nil
        }
    }

    /// Where the most come from, if those are a crowd.
    var largest: Origin? {
        guard let (origin, count) = counts.max(by: { $0.value < $1.value }), count > Self.above else { return nil }
        return origin
    }

    func isCrowd(_ addresses: [PeerAddress], of id: PeerID) -> Bool {
        Self.origins(addresses, of: id).contains { counts[$0, default: 0] > Self.above }
    }

    func isPart(of origin: Origin, _ addresses: [PeerAddress], of id: PeerID) -> Bool {
        switch origin {
        case .address(let ip): addresses.contains { $0.ip == ip }
        case .peer(let peer): peer == id
        }
    }

    private static func origins(_ addresses: [PeerAddress], of id: PeerID) -> Set<Origin> {
        Set(addresses.map { .address($0.ip) } + [.peer(id)])
    }
}
