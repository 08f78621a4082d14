import PeerModel
import Testing

@testable import PeerProtocol

@Suite("The list of peers and the ways to name one")
final class PeerDirectoryTests {
    /// An ID whose text begins with `start`, and that differs by `last` behind it.
    static func id(_ start: String, _ last: UInt8 = 0) throws -> PeerID {
        var bytes = try #require(Base32.decode(start))
        bytes += [UInt8](repeating: 0, count: 31 - bytes.count) + [last]
        return PeerID(try #require(Digest(bytes)))
    }

    let ada: PeerID, bob: PeerID, twin: PeerID
    let here = PeerAddress(.v4([10, 0, 0, 7]), port: 27182)
    var directory = PeerDirectory()

    init() throws {
        ada = try Self.id("k7qf2m4d")
        bob = try Self.id("bbbbbbbb", 1)
        twin = try Self.id("bbbbbbbb", 2)
        _ = directory.found(id: ada, name: "Ada", isBusy: false, kind: "chat", addresses: [here])
        _ = directory.found(id: bob, name: "Bob", isBusy: false, kind: "chat", addresses: [])
    }

    func resolve(_ text: String, numbers: Bool = true) throws(PeerConnectError) -> ResolvedPeer {
        try directory.resolve(PeerReference(text), allowNumbers: numbers)
    }

    @Test("Peers are found, updated and lost; what changes nothing is no event")
    func events() throws {
        guard
            case .peerFound(let found)? = directory.found(
                id: twin, name: "T", isBusy: false, kind: "chat", addresses: [])
        else { throw Unexpected() }
        #expect(found.number == 3)
        let other = here.with(port: 1)
        guard
            case .peerUpdated(let moved)? =
                directory.found(id: twin, name: "T", isBusy: true, kind: "inbox", addresses: [here, other])
        else { throw Unexpected() }
        #expect(moved.isBusy)
        #expect(moved.kind == "inbox")
        #expect(moved.addresses == [here, other])
        #expect(directory.found(id: twin, name: "T", isBusy: true, kind: "inbox", addresses: [other, here]) == nil)
        guard case .peerLost(let lost, "gone")? = directory.lost(twin, reason: "gone") else { throw Unexpected() }
        #expect(lost.number == 3)
        #expect(directory.lost(twin, reason: "gone") == nil)
        #expect(directory.list.map(\.peer.id) == [ada, bob])
    }

    struct Unexpected: Error {}

    @Test("A number stays its peer's when that is lost and found again under another name")
    func numbers() throws {
        _ = directory.lost(ada, reason: "gone")
        _ = directory.found(id: twin, name: "T", isBusy: false, kind: "chat", addresses: [])
        #expect(try resolve("1") == .peer(ada, addresses: []))
        _ = directory.found(id: ada, name: "Lovelace", isBusy: false, kind: "chat", addresses: [here])
        #expect(directory.list.map(\.number) == [1, 2, 3])
        #expect(try resolve("1") == .peer(ada, addresses: [here]))
    }

    @Test("A list that is full takes no more, and strangers who come and go do not fill the memory or free a number")
    func full() throws {
        for index in 0..<40_000 as Range<UInt32> {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: index >> (8 * $0)) }
            let id = PeerID(try #require(Digest(bytes + [UInt8](repeating: 1, count: 28))))
            _ = directory.found(id: id, name: "x", isBusy: false, kind: "chat", addresses: [])
            if index >= 1900 { _ = directory.lost(id, reason: "gone") }
        }
        #expect(directory.list.count == 1902)
        #expect(directory.list.last?.number == 1902)
        #expect(try resolve("1") == .peer(ada, addresses: [here]))
        #expect(directory.peer(number: 1903) == nil, "the number of a stranger long gone is forgotten")
        for index in 0..<200 as Range<UInt8> {
            _ = directory.found(
                id: try Self.id("cccccccc", index), name: "y", isBusy: false, kind: "chat", addresses: [])
        }
        #expect(directory.list.count == Limits.listedPeers)
    }

    @Test(
        "A peer is named by ID, the start of its ID, its name in any case, or its number",
        arguments: ["k7qf2m4d", "k7qf-2m4d", "K7QF-2M4D", "k7qf2m4da", "k7qf-2m4daaaa", "ada", "ADA", "1"])
    func visible(text: String) throws {
        #expect(try resolve(text) == .peer(ada, addresses: [here]))
    }

    @Test("A full ID is a peer, seen or never seen, also when another peer uses it as its name")
    func fullID() throws {
        #expect(try resolve(ada.description) == .peer(ada, addresses: [here]))
        _ = directory.found(id: bob, name: twin.description, isBusy: false, kind: "chat", addresses: [])
        #expect(try resolve(twin.description) == .peer(twin, addresses: []))
    }

    @Test("An address is taken as it is, with the ID that is expected there")
    func addresses() throws {
        for text in [
            "10.0.0.9", "10.0.0.9:27182", "[fe80::1%eth0]:27182", "fe80::1%eth0", "laptop:27182", "laptop.local",
        ] {
            let address = try #require(TypedAddress(text))
            #expect(try resolve(text) == .address(address, expected: nil))
            #expect(try resolve("\(twin)@\(text)") == .address(address, expected: twin))
        }
    }

    @Test("A visible name wins over a host name, but nobody can be called like an IP address")
    func nameOrAddress() throws {
        _ = directory.found(id: bob, name: "laptop.local", isBusy: false, kind: "chat", addresses: [here])
        _ = directory.found(id: ada, name: "10.0.0.9", isBusy: false, kind: "chat", addresses: [here])
        #expect(try resolve("laptop.local") == .peer(bob, addresses: [here]))
        #expect(try resolve("10.0.0.9") == .address(try #require(TypedAddress("10.0.0.9")), expected: nil))
    }

    @Test(
        "What could be several peers is ambiguous and names them",
        arguments: ["bob", "BOB", "bbbbbbbb", "bbbb-bbbb"])
    func ambiguous(text: String) throws {
        _ = directory.found(id: twin, name: "bOB", isBusy: false, kind: "chat", addresses: [])
        let error = #expect(throws: PeerConnectError.self) { try resolve(text) }
        #expect(error?.code == .ambiguous)
        #expect(error?.candidates.map(\.id) == [bob, twin])
        #expect(error?.hint != nil)
        #expect(try resolve(twin.description) == .peer(twin, addresses: []))
    }

    @Test("A peer called like another's number or ID makes that text ambiguous, and is never taken for it")
    func imitation() throws {
        for text in ["1", "k7qf-2m4d"] {
            _ = directory.found(id: bob, name: text, isBusy: false, kind: "chat", addresses: [])
            let error = #expect(throws: PeerConnectError.self) { try resolve(text) }
            #expect(error?.code == .ambiguous)
            #expect(Set(error?.candidates.map(\.id) ?? []) == [ada, bob])
        }
        #expect(try resolve("k7qf2m4da") == .peer(ada, addresses: [here]))
    }

    @Test("A part of a name is not the peer, but the error says who could be meant")
    func suggestions() throws {
        for (byte, name) in ["carla-laptop", "carl", "Oscar", "eve", "Ada L"].enumerated() {
            let digest = try #require(Digest([UInt8](repeating: UInt8(100 + byte), count: Digest.size)))
            _ = directory.found(id: PeerID(digest), name: name, isBusy: false, kind: "chat", addresses: [])
        }
        let cases = [
            "carla": "Did you mean “carla-laptop”?", "CAR": "Did you mean “carla-laptop” or “carl”?",
            "sca": "Did you mean “Oscar”?", "da l": "Did you mean “Ada\\ L”?",
        ]
        for (text, hint) in cases {
            let error = #expect(throws: PeerConnectError.self) { try resolve(text) }
            #expect(error?.code == .noSuchPeer && error?.hint == hint, "\(text)")
        }
        for text in ["e", "", "zoe"] {
            let error = #expect(throws: PeerConnectError.self) { try resolve(text) }
            #expect(error?.hint?.hasPrefix("Type a listed name") == true, "\(text)")
        }
    }

    @Test(
        "What names nobody is no such peer, with a hint",
        arguments: [
            "", "eve", "k7qf2m4", "zzzzzzzz", "3", "0", "-1", "99999999999999999999", "@", "a b:1", "eve@laptop",
        ])
    func nobody(text: String) {
        let error = #expect(throws: PeerConnectError.self) { try resolve(text) }
        #expect(error?.code == .noSuchPeer)
        #expect(error?.hint != nil)
    }

    @Test("Numbers count only where they are allowed")
    func noNumbers() {
        let error = #expect(throws: PeerConnectError.self) { try resolve("1", numbers: false) }
        #expect(error?.code == .noSuchPeer)
    }

    // MARK: Members of a chat

    private func member(_ text: String, among present: [Peer]) throws(PeerConnectError) -> PeerID {
        try directory.member(PeerReference(text), among: present)
    }

    @Test("In a chat a number is the number of the list, and never the start of somebody's ID")
    func memberByNumber() throws {
        let six = try Self.id("2xxxxxxx")
        let present = [Peer(id: ada, name: "Ada"), Peer(id: bob, name: "Bob"), Peer(id: six, name: "Cat")]
        #expect(try member("2", among: present) == bob)
        #expect(throws: PeerConnectError.self) { try self.member("6", among: present) }
        #expect(throws: PeerConnectError.self) { try self.member("", among: present) }
        #expect(try member("2xxxxxxx", among: present) == six)
        #expect(try member("2XXX-xxxx", among: present) == six)
        #expect(try member("cat", among: present) == six)
        #expect(try member(six.description, among: present) == six)
    }

    @Test("In a chat the name of a known peer means that peer, and who borrows it is called out")
    func memberByName() throws {
        let known = KnownPeer(peer: Peer(id: ada, name: "Ada"), firstSeen: nil, lastSeen: nil, trust: .trusted)
        _ = directory.know(Acquaintances([known]))
        let borrower = Peer(id: twin, name: "ada")
        #expect(try member("Ada", among: [Peer(id: ada, name: "Ada"), borrower]) == ada)
        do {
            _ = try member("Ada", among: [borrower])
            Issue.record("the borrower was taken")
        } catch {
            #expect(error.code == .wrongKey)
        }
        do {
            _ = try member("bob", among: [Peer(id: bob, name: "Bob"), Peer(id: twin, name: "bob")])
            Issue.record("one of two was taken")
        } catch {
            #expect(error.code == .ambiguous && error.candidates.count == 2)
        }
    }
}
