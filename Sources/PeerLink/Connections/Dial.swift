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
    private(set) var waiting: [PeerAddress]
    var inFlight: [ConnectionID: PeerAddress] = [:]
    /// Whether more addresses may still be found.
    var isRefreshing = false
    private var tried: Set<PeerAddress>
    private var failures: [(address: PeerAddress, reason: String)] = []
    private var worst: Answer = .unreachable
    let deadline: Instant
    private(set) var nextAt: Instant
    /// Whether its host name is still being looked up.
    let isResolving: Bool
    /// Whether only the hellos are wanted: nobody waits for the connection.
    let isCheck: Bool
    /// Whether its addresses were typed and not found: that nobody is there says nothing of the peer.
    let isTyped: Bool
    /// Whether the peer has proved its key, whatever became of it then.
    private(set) var isProved = false

    init(
        _ id: DialID, expected: PeerID?, label: String, addresses: [PeerAddress], isResolving: Bool = false,
        isCheck: Bool = false, isTyped: Bool = false, now: Instant
    ) {
        self.id = id
        self.expected = expected
        self.label = label
        waiting = Array(Self.sorted(addresses).prefix(Limits.dialAddresses))
        tried = Set(waiting)
        deadline = now + Limits.dial
        nextAt = now
        self.isResolving = isResolving
        self.isCheck = isCheck
        self.isTyped = isTyped
    }

    /// Networks this machine is in come first; the order is kept otherwise.
    private static func sorted(_ addresses: [PeerAddress]) -> [PeerAddress] {
        let own = NetworkInterface.current().flatMap(\.addresses)
        var seen: Set<PeerAddress> = []
        let unique = addresses.filter { seen.insert($0).inserted }
        let near = unique.filter { address in own.contains { $0.contains(address) } }
        return near + unique.filter { !near.contains($0) }
    }

    /// Where it was found meanwhile: what was not tried yet comes first, since it is newer.
    mutating func add(_ addresses: [PeerAddress]) {
        let new = Self.sorted(addresses.filter { !tried.contains($0) }).prefix(Limits.dialAddresses)
        tried.formUnion(new)
        waiting.insert(contentsOf: new, at: 0)
    }

    /// The next address to try now, if it is time for one.
    mutating func next(now: Instant) -> PeerAddress? {
        guard !waiting.isEmpty, inFlight.count < Limits.dialsInFlight, now >= nextAt || inFlight.isEmpty else {
            return nil
        }
        nextAt = now + Limits.dialStagger
        return waiting.removeFirst()
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
        guard !failures.isEmpty || !inFlight.isEmpty else {
            return DialFailure(.unreachable, "no address of \(label) is known; is it running, and on this network?")
        }
        let silent = inFlight.values.map { address in
            "\(address): no answer in 5 s, perhaps a firewall there drops TCP port \(address.port)"
        }
        let list = failures.map { "\($0.address): \($0.reason)" } + silent.sorted()
        return DialFailure(worst, list.joined(separator: "; "))
    }
}
