internal import PeerModel
internal import PeerProtocol
internal import PeerSystem

/// One attempt to reach a peer at several addresses: the next is tried while the last has not answered yet (RFC 8305), and
/// only a proved key wins.
struct Dial {
    let id: DialID
    /// Whose key must be there; `nil` for whoever answers at a typed address.
    let expected: PeerID?
    /// How the target is named in messages.
    let label: String
    private(set) var waiting: [PeerAddress] = []
    var inFlight: [ConnectionID: PeerAddress] = [:]
    /// Whether more addresses may still be found.
    var isRefreshing = false
    /// Those that were or are in flight.
    private var tried: Set<PeerAddress> = []
    /// Where it may be: the addresses of each instance that says it is this peer, and where it was found last.
    private var places: [[PeerAddress]]
    private var failures: [(address: PeerAddress, reason: String)] = []
    private var worst: Answer = .unreachable
    let deadline: Instant
    private(set) var nextAt: Instant
    /// Whether its host name is still being looked up.
    private(set) var isResolving: Bool
    /// How long its addresses can be tried.
    private var patience = Limits.dial
    /// Whether only the hellos are wanted: nobody waits for the connection.
    let isCheck: Bool
    /// Whether its addresses were typed and not found: that nobody is there says nothing of the peer.
    let isTyped: Bool
    /// Whether the peer has proved its key, whatever became of it then.
    private(set) var isProved = false

    init(
        _ id: DialID, expected: PeerID?, label: String, places: [[PeerAddress]], isResolving: Bool = false,
        isCheck: Bool = false, isTyped: Bool = false, now: Instant,
        networks: [NetworkInterface.Prefix] = Dial.ownNetworks
    ) {
        self.id = id
        self.expected = expected
        self.label = label
        self.places = places
        deadline = now + Limits.dial
        nextAt = now
        self.isResolving = isResolving
        self.isCheck = isCheck
        self.isTyped = isTyped
        line(up: networks)
    }

    /// What this machine is connected to directly.
    static var ownNetworks: [NetworkInterface.Prefix] { NetworkInterface.current().flatMap(\.addresses) }

    /// Puts those that wait in order: the places in turns, so that one which invents addresses does not push out the others,
    /// and of each the networks first that this machine is in.
    private mutating func line(up networks: [NetworkInterface.Prefix]) {
        let queues = places.map { addresses in
            let near = addresses.filter { address in networks.contains { $0.contains(address) } }
            return near + addresses.filter { !near.contains($0) }
        }
        var seen = tried
        var ordered: [PeerAddress] = []
        for turn in 0..<(queues.map(\.count).max() ?? 0) {
            ordered += queues.filter { turn < $0.count }.map { $0[turn] }.filter { seen.insert($0).inserted }
        }
        waiting = Array(ordered.prefix(max(0, Limits.dialAddresses - tried.count)))
    }

    /// Where it was found meanwhile: what is new there comes first.
    mutating func add(_ found: [[PeerAddress]], networks: [NetworkInterface.Prefix] = Dial.ownNetworks) {
        let known = Set(places.flatMap(\.self))
        let new = found.map { $0.filter { !known.contains($0) } }
        places = new.filter { !$0.isEmpty } + found + places
        line(up: networks)
    }

    /// Its host name is at these addresses; what the look-up took is gone.
    mutating func resolved(
        _ addresses: [PeerAddress], now: Instant, networks: [NetworkInterface.Prefix] = Dial.ownNetworks
    ) {
        isResolving = false
        patience = max(0, deadline - now)
        add([addresses], networks: networks)
    }

    /// The next address to try now, if it is time for one.
    mutating func next(now: Instant) -> PeerAddress? {
        guard !waiting.isEmpty, inFlight.count < Limits.dialsInFlight, now >= nextAt || inFlight.isEmpty else {
            return nil
        }
        nextAt = now + Limits.dialStagger
        let address = waiting.removeFirst()
        tried.insert(address)
        return address
    }

    var wakeAt: Instant { waiting.isEmpty || inFlight.count >= Limits.dialsInFlight ? deadline : min(nextAt, deadline) }

    /// Whether nothing is left that could succeed.
    var isHopeless: Bool { waiting.isEmpty && inFlight.isEmpty && !isResolving && !isRefreshing }

    mutating func failed(at address: PeerAddress, _ reason: String, as answer: Answer = .unreachable) {
        failures.append((address, reason))
        // Versions are compared after the keys.
        if answer == .incompatible { isProved = true }
        // Another key is the most important thing to know, then another version.
        if answer == .wrongKey || worst != .wrongKey && answer == .incompatible { worst = answer }
    }

    /// What to say when it is over.
    var failure: DialFailure {
        guard !isResolving else {
            return DialFailure(.unreachable, "\(label): the name was not resolved in \(Limits.dial) s")
        }
        guard !failures.isEmpty || !inFlight.isEmpty else {
            return DialFailure(.unreachable, "no address of \(label) is known; is it running, and on this network?")
        }
        let time = (patience * 100).rounded() / 100
        let silent = inFlight.values.map { address in
            "\(address): no answer in \(time) s, perhaps a firewall there drops TCP port \(address.port)"
        }
        let list = failures.map { "\($0.address): \($0.reason)" } + silent.sorted()
        return DialFailure(worst, list.joined(separator: "; "))
    }
}
