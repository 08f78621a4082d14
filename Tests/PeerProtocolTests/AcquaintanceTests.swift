import PeerModel
import Testing

@testable import PeerProtocol

@Suite("Whom the user knows, and what a name means then")
struct AcquaintanceTests {
    /// Who holds, or bears, the name “Ada”, and what typing it means.
    struct Case: CustomTestStringConvertible, Sendable {
        /// Known peers: which key, trust, whether it was met.
        var known: [(key: UInt8, trust: Trust, isMet: Bool)] = []
        /// Visible peers under the name.
        var visible: [UInt8] = []
        /// Known peers that are visible under another name.
        var renamed: [UInt8] = []
        var means: Meaning

        enum Meaning: Equatable, Sendable {
            case peer(UInt8)
            case ambiguous(Set<UInt8>)
            case wrongKey(Set<UInt8>)
            case nobody
        }

        var testDescription: String { "known \(known), visible \(visible), renamed \(renamed): \(means)" }
    }

    static func id(_ key: UInt8) throws -> PeerID {
        PeerID(try #require(Digest([UInt8](repeating: key, count: Digest.size))))
    }

    @Test(
        "A name means its known holder only, and nobody else in its place",
        arguments: [
            // Nobody known: who is visible.
            Case(means: .nobody),
            Case(visible: [1], means: .peer(1)),
            Case(visible: [1, 2], means: .ambiguous([1, 2])),
            // One holder, here or not.
            Case(known: [(1, .neutral, true)], means: .peer(1)),
            Case(known: [(1, .neutral, true)], visible: [1], means: .peer(1)),
            Case(known: [(1, .neutral, true)], renamed: [1], means: .peer(1)),
            Case(known: [(1, .trusted, false)], visible: [1], means: .peer(1)),
            Case(known: [(1, .blocked, true)], visible: [1], means: .peer(1)),
            // And impostors.
            Case(known: [(1, .neutral, true)], visible: [1, 2], means: .peer(1)),
            Case(known: [(1, .neutral, true)], visible: [2], renamed: [1], means: .peer(1)),
            Case(known: [(1, .neutral, true)], visible: [2], means: .wrongKey([2])),
            Case(known: [(1, .trusted, false)], visible: [2, 3], means: .wrongKey([2, 3])),
            Case(known: [(1, .blocked, true)], visible: [2], means: .wrongKey([2])),
            // Two holders are told apart by ID.
            Case(known: [(1, .neutral, true), (2, .trusted, true)], means: .ambiguous([1, 2])),
            Case(known: [(1, .neutral, true), (2, .neutral, true)], visible: [2, 3], means: .ambiguous([1, 2])),
            // A stranger blocked by its ID holds nothing.
            Case(known: [(1, .blocked, false)], means: .peer(1)),
            Case(known: [(1, .blocked, false)], visible: [2], means: .peer(2)),
            Case(known: [(1, .blocked, false)], visible: [1, 2], means: .ambiguous([1, 2])),
            Case(known: [(1, .blocked, false), (2, .neutral, true)], visible: [1], means: .wrongKey([1])),
        ], ["Ada", "aDA"])
    func names(example: Case, typed: String) throws {
        var directory = PeerDirectory()
        _ = directory.know(
            Acquaintances(
                try example.known.map { known in
                    KnownPeer(
                        peer: Peer(id: try Self.id(known.key), name: "Ada"), firstSeen: known.isMet ? 1 : nil,
                        lastSeen: known.isMet ? 1 : nil, trust: known.trust)
                }))
        let shown = example.visible.map { ($0, "Ada") } + example.renamed.map { ($0, "Adele") }
        for (key, name) in shown {
            _ = directory.found(id: try Self.id(key), name: name, isBusy: false, kind: "chat", addresses: [])
        }
        func ids(_ keys: Set<UInt8>) throws -> Set<PeerID> { Set(try keys.map(Self.id)) }
        switch (Result { try directory.resolve(PeerReference(typed), allowNumbers: true) }, example.means) {
        case (.success(.peer(let id, _)), .peer(let key)): #expect(try id == Self.id(key))
        case (.failure(let error as PeerConnectError), .ambiguous(let keys)):
            #expect(error.code == .ambiguous)
            #expect(try Set(error.candidates.map(\.id)) == ids(keys))
        case (.failure(let error as PeerConnectError), .wrongKey(let keys)):
            #expect(error.code == .wrongKey)
            #expect(try Set(error.candidates.map(\.id)) == ids(keys))
            for key in keys { #expect(try error.hint?.contains(Self.id(key).description) == true) }
        case (.failure(let error as PeerConnectError), .nobody): #expect(error.code == .noSuchPeer)
        case (let found, _): Issue.record("\(found)")
        }
    }

    @Test(
        "An ID means its peer whoever holds which name, and the start of one also finds known peers that are not here")
    func ids() throws {
        let ada = try Self.id(1), impostor = try Self.id(2)
        var directory = PeerDirectory()
        _ = directory.know(
            Acquaintances([KnownPeer(peer: Peer(id: ada, name: "Ada"), firstSeen: 1, lastSeen: 1, trust: .neutral)]))
        _ = directory.found(id: impostor, name: "Ada", isBusy: false, kind: "chat", addresses: [])
        for text in [impostor.description, impostor.short, String(impostor.description.prefix(8)), "1"] {
            #expect(try directory.resolve(PeerReference(text), allowNumbers: true) == .peer(impostor, addresses: []))
        }
        for text in [ada.description, ada.short] {
            #expect(try directory.resolve(PeerReference(text), allowNumbers: true) == .peer(ada, addresses: []))
        }
    }

    @Test("A listed peer says how it is known, and is updated when that changes and only then")
    func standing() throws {
        let ada = Peer(id: try Self.id(1), name: "Ada"), other = Peer(id: try Self.id(2), name: "ada")
        var directory = PeerDirectory()
        for peer in [ada, other] {
            guard
                case .peerFound(let found)? = directory.found(
                    id: peer.id, name: peer.name, isBusy: false, kind: "chat", addresses: [])
            else { throw PeerDirectoryTests.Unexpected() }
            #expect(found.known == .new)
        }
        let neutral = KnownPeer(peer: ada, firstSeen: 1, lastSeen: 1, trust: .neutral)
        func update(_ list: [KnownPeer]) -> [Standing] {
            directory.know(Acquaintances(list)).compactMap {
                if case .peerUpdated(let peer) = $0 { peer.known } else { nil }
            }
        }
        #expect(update([neutral]) == [.known, .otherKey])
        #expect(update([KnownPeer(peer: ada, firstSeen: 1, lastSeen: 9, trust: .neutral)]).isEmpty)
        #expect(update([KnownPeer(peer: ada, firstSeen: 1, lastSeen: 9, trust: .trusted)]) == [.trusted])
        #expect(update([KnownPeer(peer: ada, firstSeen: nil, lastSeen: nil, trust: .blocked)]) == [.blocked, .new])
        #expect(update([]) == [.new])
    }

    // MARK: The machine

    private func acquaintances(_ peer: Peer, _ trust: Trust) -> Acquaintances {
        Acquaintances([KnownPeer(peer: peer, firstSeen: 1, lastSeen: 1, trust: trust)])
    }

    private func answers(_ node: MachineNetwork.Node) -> [Answer] {
        node.events.compactMap { if case .inviteAnswered(_, let answer, _, _) = $0 { answer } else { nil } }
    }

    private func isAsked(_ node: MachineNetwork.Node) -> Bool {
        node.events.contains { if case .inviteReceived = $0 { true } else { false } }
    }

    @Test("A blocked peer is answered declined: idle, busy, not to be disturbed, or accepting all", arguments: 0..<4)
    func blocked(situation: Int) throws {
        let network = MachineNetwork(3, seed: 1) { policy in
            if situation == 1 { policy.invitations = .all }
            policy.doNotDisturb = situation == 2
        }
        if situation == 3 {
            network.schedule(1) { machine, _ in machine.settings.maximumChats = 0 }
        }
        let known = acquaintances(network.nodes[0].peer, .blocked)
        network.schedule(1) { $0.know(known, at: $1) }
        try network.settle()
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        #expect(answers(network.nodes[0]) == [.declined])
        #expect(network.nodes[1].events.isEmpty, "its own user is not bothered")
    }

    @Test("Who is blocked while its invitation is open is declined, and the question goes")
    func blockedWhileAsking() throws {
        let network = MachineNetwork(2, seed: 1)
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        #expect(isAsked(network.nodes[1]))
        let known = acquaintances(network.nodes[0].peer, .blocked)
        network.schedule(1) { $0.know(known, at: $1) }
        try network.settle()
        #expect(answers(network.nodes[0]) == [.declined])
        #expect(network.nodes[1].machine.questions.isEmpty)
        guard case .inviteWithdrawn? = network.nodes[1].events.last else { throw PeerDirectoryTests.Unexpected() }
    }

    @Test(
        "With “trusted” a trusted peer is accepted unasked, anyone else is asked about, and a borrowed name helps nobody",
        arguments: [Trust.trusted, .neutral])
    func trusted(trust: Trust) throws {
        let network = MachineNetwork(3, seed: 1) { $0.invitations = .trusted }
        let namesake = Peer(id: network.id(2), name: network.nodes[0].peer.name)
        let known = acquaintances(trust == .trusted ? network.nodes[0].peer : namesake, .trusted)
        network.schedule(1) { $0.know(known, at: $1) }
        try network.settle()
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        #expect(isAsked(network.nodes[1]) == (trust == .neutral))
        #expect((network.nodes[1].machine.currentView != nil) == (trust == .trusted))
    }

    @Test("Another key under a known name is called out at the invitation and in the chat; its holder is not")
    func impostor() throws {
        let network = MachineNetwork(3, seed: 1)
        // Node 2 has met someone who was called like node 0 and is not; and node 1 under its own name.
        let friend = Peer(id: try Self.id(7), name: network.nodes[0].peer.name.uppercased())
        let known = Acquaintances([
            KnownPeer(peer: friend, firstSeen: 1, lastSeen: 1, trust: .trusted),
            KnownPeer(peer: network.nodes[1].peer, firstSeen: 1, lastSeen: 1, trust: .neutral),
        ])
        network.schedule(2) { $0.know(known, at: $1) }
        try network.settle()
        network.scheduleInvite(from: 0, to: [1, 2])
        try network.settle()
        func warned() -> [PeerID] {
            network.nodes[2].events.compactMap {
                if case .warning(.otherKey, let peer, _) = $0 { peer.id } else { nil }
            }
        }
        #expect(warned() == [network.id(0)])
        guard case .inviteReceived(_, _, _, _, .otherKey)? = network.nodes[2].events.first else {
            throw PeerDirectoryTests.Unexpected()
        }
        for node in 1...2 { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        #expect(network.nodes[2].machine.currentView != nil)
        #expect(warned() == [network.id(0), network.id(0)])
        #expect(network.nodes[1].events.allSatisfy { if case .warning = $0 { false } else { true } })
    }
}
