import PeerModel
import Testing

@testable import PeerDiscovery

@Suite("Adverts merged into peers")
final class AdvertTableTests {
    let four = PeerAddress(.v4([10, 0, 0, 7]), port: 27182)
    let six = PeerAddress(.v6([0x20, 1] + [UInt8](repeating: 0, count: 13) + [1], scope: nil), port: 27182)
    let link = PeerAddress(.v6([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], scope: "eth0"), port: 27182)
    let own: Advert, ada: Advert
    var table: AdvertTable

    init() throws {
        own = try advert(9)
        ada = try advert(1)
        table = AdvertTable(own: OwnRun(id: own.id, run: own.run))
    }

    func peer(_ advert: Advert, _ places: [PeerAddress]...) -> NearbyPeer {
        NearbyPeer(advert, places: places)
    }

    @Test("The own ID is left out")
    func ownIsLeftOut() {
        #expect(table.set("own", own, [four]).isEmpty)
        #expect(table.peers.isEmpty)
    }

    @Test("An instance that takes the own ID is gone as the peer it was")
    func becomesOwn() {
        _ = table.set("a", ada, [four])
        #expect(table.set("a", own, [four]) == [.lost(ada.id)])
    }

    @Test("Another run under the own ID is told once, as soon as it has an address, and is no peer")
    func clone() throws {
        let clone = try advert(9, run: "hgfedcba")
        #expect(table.set("clone", clone, []).isEmpty)
        #expect(table.set("clone", clone, [four]) == [.ownID(at: [four])])
        #expect(table.set("clone", clone, [six]).isEmpty)
        #expect(table.peers.isEmpty)
        for index in 0..<100 {
            _ = table.set("more", try advert(9, run: "run\(index)"), [four])
        }
        #expect(table.set("more", try advert(9, run: "last"), [four]).isEmpty)
    }

    @Test("An advert that only tries the network out is seen by those who do so too, and listed by nobody else")
    func checks() throws {
        let check = Advert(
            id: ada.id, name: "doctor", versions: 1...1, isBusy: true, kind: .check, run: ada.run, revision: 1, port: 1)
        #expect(TXTRecord.advert(from: TXTRecord.strings(of: check).map { Array($0.utf8) })?.kind == .check)
        #expect(table.set("check", check, [four]).isEmpty)
        #expect(table.peers.isEmpty)
        var other = AdvertTable(own: OwnRun(id: own.id, run: own.run, seesChecks: true))
        #expect(other.set("check", check, [four]) == [.found(peer(check, [four]))])
        _ = table.set("a", ada, [four])
        #expect(table.set("a", check, [four]) == [.lost(ada.id)])
    }

    @Test("A peer is found once, updated when it changes, and lost")
    func life() throws {
        #expect(table.set("a", ada, [four]) == [.found(peer(ada, [four]))])
        #expect(table.set("a", ada, [four]).isEmpty)
        let busy = try advert(1, name: "Lovelace", isBusy: true)
        #expect(table.set("a", busy, [four]) == [.updated(peer(busy, [four]))])
        #expect(table.set("a", busy, [six]) == [.updated(peer(busy, [six]))])
        let again = try advert(1, name: "Lovelace", isBusy: true, run: "hgfedcba")
        #expect(table.set("a", again, [six]) == [.updated(peer(again, [six]))])
        #expect(table.remove("a") == [.lost(ada.id)])
        #expect(table.remove("a").isEmpty)
        #expect(table.peers.isEmpty)
    }

    @Test("Two instances of one ID are one entry with all addresses, IPv4 first and link-local last")
    func merged() {
        _ = table.set("a", ada, [link, four])
        #expect(table.set("b", ada, [six, four]) == [.updated(peer(ada, [link, four], [six, four]))])
        #expect(table.peers.map(\.addresses) == [[four, six, link]])
    }

    @Test("When a false instance of an ID goes, the true one stays as it was")
    func falseOneGoes() throws {
        _ = table.set("a", ada, [four])
        let eve = try advert(1, name: "Eve", isBusy: true)
        #expect(table.set("false", eve, [six]) == [.updated(peer(eve, [four], [six]))])
        #expect(table.remove("false") == [.updated(peer(ada, [four]))])
        #expect(table.remove("never seen").isEmpty)
        #expect(table.peers == [peer(ada, [four])])
    }

    @Test("A peer is listed only while it has an address")
    func unreachable() {
        #expect(table.set("a", ada, []).isEmpty)
        #expect(table.set("a", ada, [four]) == [.found(peer(ada, [four]))])
        #expect(table.set("a", ada, []) == [.lost(ada.id)])
    }

    @Test("An instance that changes its ID is another peer")
    func otherID() throws {
        let bob = try advert(2, name: "Bob")
        _ = table.set("a", ada, [four])
        #expect(table.set("a", bob, [four]) == [.found(peer(bob, [four])), .lost(ada.id)])
        #expect(table.peers == [peer(bob, [four])])
    }

    @Test("A flood of instances is kept out, while those known are still updated")
    func flood() throws {
        for number in 0..<Limits.listedPeers { _ = table.set("\(number)", ada, [four]) }
        #expect(table.set("one more", try advert(2), [four]).isEmpty)
        #expect(table.set("0", ada, [six]).count == 1)
        #expect(table.peers.map(\.addresses) == [[four, six]])
    }

    @Test("However often a peer's record changes, its instances keep their order, and a flood of them is cut")
    func instanceOrder() throws {
        _ = table.set("true", ada, [four])
        for number in 0..<100 { _ = table.set("false \(number)", ada, [six]) }
        _ = table.set("true", try advert(1, isBusy: true), [link])
        #expect(table.peers.map { $0.places.first } == [[link]])
        #expect(table.peers.map(\.places.count) == [16])
        #expect(table.peers.map(\.isBusy) == [true])
    }

    // MARK: Too many

    private func address(_ number: Int) -> PeerAddress {
        PeerAddress(.v4([10, 1, UInt8(number / 256), UInt8(number % 256)]), port: 27182)
    }

    private func numbered(_ number: Int, run: String = "abcdefgh") throws -> Advert {
        let digest = Digest([UInt8](repeating: 7, count: 30) + [UInt8(number / 256), UInt8(number % 256)])
        return Advert(
            id: PeerID(try #require(digest)), name: "p\(number)", versions: ada.versions, isBusy: false, kind: .chat,
            run: run, revision: 1, port: 0)
    }

    @Test("Where no two come from one place, those who came first stay, whatever they say meanwhile")
    func firstStay() throws {
        table = AdvertTable(own: OwnRun(id: own.id, run: own.run), atMost: 100)
        for number in 0..<600 {
            let new = try numbered(number)
            if table.hasNoRoom(for: new.name, new) {
                _ = table.remove(try #require(table.victim(for: new, [address(number)])))
            }
            #expect(table.set(new.name, new, [address(number)]).count == 1)
            // Who changes does not become a newcomer by that.
            let changed = try numbered(number % 25, run: "run\(number)")
            _ = table.set(changed.name, changed, [address(number % 25)])
        }
        let here = Set(table.peers.map(\.id))
        #expect(here.count == 100)
        for number in 0..<25 { #expect(here.contains(try numbered(number).id)) }
    }

    @Test("Everyone who is known stays, however many have proved a key before")
    func knownStay() throws {
        table = AdvertTable(own: OwnRun(id: own.id, run: own.run), atMost: 100)
        for number in 1000..<1100 { table.prove(try numbered(number).id) }
        let friends = try (0..<100).map { try numbered($0) }
        table.know(Set(friends.map(\.id)))
        for (number, friend) in friends.enumerated() { _ = table.set(friend.name, friend, [address(number)]) }
        let stranger = try numbered(5000)
        #expect(table.hasNoRoom(for: stranger.name, stranger))
        #expect(table.victim(for: stranger, [address(5000)]) == nil)
        table.know([])
        #expect(table.victim(for: stranger, [address(5000)]) != nil)
    }
}
