import PeerModel
import PeerProtocol
import PeerSystem
import Testing

@testable import PeerLink

@Suite("The order in which addresses are tried")
struct DialTests {
    private static let start = Instant(nanoseconds: 0)
    private static let networks = [NetworkInterface.Prefix(address: four(10, 77, 0, 1, port: 0), bits: 24)]

    private static func four(_ bytes: UInt8..., port: UInt16 = 27182) -> PeerAddress {
        PeerAddress(.v4(bytes), port: port)
    }

    private func dial(_ places: [[PeerAddress]]) -> Dial {
        Dial(DialID(1), expected: nil, label: "ada", places: places, now: Self.start, networks: Self.networks)
    }

    /// All that it tries when each fails at once.
    private func order(_ dial: Dial) -> [PeerAddress] {
        var dial = dial, order: [PeerAddress] = []
        while let address = dial.next(now: Self.start) { order.append(address) }
        return order
    }

    @Test("Addresses of the own networks come first, the rest keeps its order, and there are 16 at most")
    func nearFirst() {
        let far = (0..<20).map { Self.four(192, 168, 0, UInt8($0)) }, near = Self.four(10, 77, 0, 2)
        #expect(order(dial([far + [near, near]])) == [near] + far.prefix(15))
    }

    @Test("One instance that invents 16 near addresses does not push out those of the true one", arguments: [0, 1])
    func fairShare(place: Int) {
        let invented = (100..<116).map { Self.four(10, 77, 0, UInt8($0)) }
        let real = [Self.four(10, 77, 0, 2), Self.four(192, 168, 0, 2), Self.four(172, 17, 0, 1)]
        var places = [invented]
        places.insert(real, at: place)
        let order = order(dial(places))
        #expect(order.count == 16)
        for (turn, address) in real.enumerated() { #expect(order.prefix(2 * turn + 2).contains(address)) }
    }

    @Test("With as many false instances as are kept, the true one has its turn among the 16")
    func manyInstances() {
        let real = Self.four(10, 77, 0, 2)
        let places = (0..<15).map { place in (0..<16).map { Self.four(10, 77, UInt8(place), UInt8($0)) } } + [[real]]
        #expect(order(dial(places)).contains(real))
    }

    @Test("What is found meanwhile comes before what was known, by turns too, and nothing is tried twice")
    func refreshed() {
        let old = (1..<5).map { Self.four(10, 77, 0, UInt8($0)) }, new = Self.four(10, 77, 0, 9)
        let invented = (100..<116).map { Self.four(10, 77, 0, UInt8($0)) }
        var dial = dial([old])
        #expect(dial.next(now: Self.start) == old[0])
        dial.add([invented, old + [new]], networks: Self.networks)
        let order = order(dial)
        #expect(order.prefix(2).contains(new))
        #expect(order.count == 15 && Set(order).count == 15 && !order.contains(old[0]))
        #expect(Set(old.dropFirst()).isSubset(of: order))
    }
}
