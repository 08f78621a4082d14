import PeerModel
import Testing

@testable import PeerStore

@Suite struct KnownPeersTests {
    private let folder: TemporaryFolder
    private let peers: KnownPeers

    init() throws {
        folder = try TemporaryFolder()
        peers = try #require(try KnownPeers.open(in: folder.path, creating: true))
    }

    @Test("A peer is known from its first accepted chat on, with its latest name")
    func met() throws {
        #expect(try peers.standing(of: bob) == .new)
        try peers.met(bob, at: 5)
        try peers.met(Peer(id: bob.id, name: "Robert"), at: 9)
        try peers.met(Peer(id: bob.id, name: "Robert"), at: 7)  // a clock that was set back
        let known = KnownPeer(
            peer: Peer(id: bob.id, name: "Robert"), firstSeen: 5, lastSeen: 9, trust: .neutral)
        #expect(try peers.list() == [known])
        #expect(try peers.peer(bob.id) == known)
        #expect(try peers.peer(eve.id) == nil)
        #expect(try peers.standing(of: bob) == .known)
    }

    @Test("A known name with another ID is told, and trust does not carry over")
    func otherKey() throws {
        try peers.met(bob, at: 5)
        try peers.set(.trusted, for: bob.id, name: "")
        for name in ["Bob", "BOB"] {
            let impostor = Peer(id: eve.id, name: name)
            #expect(try peers.standing(of: impostor) == .otherKey)
            #expect(try peers.namesakes(of: impostor).map(\.peer) == [bob])
        }
        try peers.met(Peer(id: eve.id, name: "Bob"), at: 6)
        #expect(try peers.standing(of: Peer(id: eve.id, name: "Bob")) == .known)
        #expect(try peers.standing(of: bob) == .trusted)
        #expect(try peers.peers(named: "bob").map(\.peer.id) == [bob.id, eve.id].sorted { "\($0)" < "\($1)" })
        #expect(try peers.ids(.trusted) == [bob.id])
    }

    @Test("Trust is set, changed and taken back; meeting again does not change it")
    func trust() throws {
        try peers.met(bob, at: 5)
        for trust in [Trust.trusted, .blocked, .neutral, .blocked] {
            try peers.set(trust, for: bob.id, name: "other")
            try peers.met(bob, at: 6)
            #expect(try peers.peer(bob.id)?.trust == trust)
        }
        #expect(try peers.standing(of: bob) == .blocked)
        #expect(try peers.list().map(\.peer) == [bob])
    }

    @Test("A stranger can be blocked by its ID, and gets neither a name nor a place by that")
    func stranger() throws {
        try peers.set(.blocked, for: eve.id, name: "Bob")
        #expect(try peers.ids(.blocked) == [eve.id])
        #expect(try peers.standing(of: bob) == .new)
        try peers.set(.neutral, for: eve.id, name: "Bob")
        #expect(try peers.list() == [])
        // One that is trusted has been compared by its owner: its name is its own.
        try peers.set(.trusted, for: eve.id, name: "Bob")
        #expect(try peers.standing(of: bob) == .otherKey)
        try peers.met(eve, at: 8)
        try peers.set(.neutral, for: eve.id, name: "")
        #expect(try peers.peer(eve.id) == KnownPeer(peer: eve, firstSeen: 8, lastSeen: 8, trust: .neutral))
    }

    @Test("Forgetting takes all of it, in all processes")
    func forget() throws {
        try peers.met(bob, at: 5)
        try peers.met(eve, at: 5)
        let other = try #require(try KnownPeers.open(in: folder.path, creating: false))
        #expect(try other.forget(bob.id))
        #expect(try !other.forget(bob.id))
        #expect(try peers.list().map(\.peer) == [eve])
        #expect(try peers.problems() == [])
    }

    @Test("An ID is found by its beginning, letter case ignored")
    func prefix() throws {
        try peers.met(bob, at: 5)
        try peers.met(eve, at: 5)
        #expect(try peers.peers(idPrefix: bob.id.description.prefix(8).uppercased()).map(\.peer) == [bob])
        #expect(try peers.peers(idPrefix: "").count == 2)
        #expect(try peers.peers(idPrefix: "%").isEmpty)
    }

    @Test("A value that this program never writes is damage")
    func damaged() throws {
        try peers.met(bob, at: 5)
        try raw(folder("peers.db"), "UPDATE peer SET trust = 'much'")
        #expect(throws: StoreError.damaged(path: folder("peers.db"), reason: "“much” is no value of its kind")) {
            try peers.list()
        }
    }
}
