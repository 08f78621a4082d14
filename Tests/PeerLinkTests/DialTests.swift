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

    @Test("What a name's look-up takes is part of the time that a dial has, and a slow one is not called a silent peer")
    func slowName() {
        let address = Self.four(192, 168, 0, 2), end = Self.start + Limits.dial
        func looking() -> Dial {
            Dial(
                DialID(1), expected: nil, label: "ada.example:27182", places: [], isResolving: true, isTyped: true,
                now: Self.start, networks: Self.networks)
        }
        var never = looking()
        #expect(never.next(now: Self.start + 1) == nil && !never.isHopeless)
        #expect(never.deadline == end && never.wakeAt == end)
        #expect(never.failure.reason == "ada.example:27182: the name was not resolved in 4.75 s")
        var late = looking()
        late.resolved([address], now: Self.start + 3, networks: Self.networks)
        #expect(late.next(now: Self.start + 3) == address)
        late.inFlight[ConnectionID(1)] = address
        #expect(late.deadline == end && late.wakeAt == end)
        #expect(late.failure.reason.hasPrefix("192.168.0.2:27182: no answer in 1.75 s, perhaps a firewall"))
        never.resolved([], now: Self.start + 3, networks: Self.networks)
        #expect(never.isHopeless && never.failure.reason.contains("no address of ada.example:27182 is known"))
    }

    @Test("An address that has not answered for 250 ms is not waited for, and 8 at most are in flight")
    func staggered() {
        let addresses = (1...12).map { Self.four(10, 77, 0, UInt8($0)) }
        var dial = dial([addresses]), now = Self.start
        for (number, address) in addresses.prefix(8).enumerated() {
            #expect(dial.next(now: now) == address)
            dial.inFlight[ConnectionID(UInt64(number))] = address
            #expect(dial.next(now: now) == nil && dial.next(now: now + 0.249) == nil)
            #expect(dial.wakeAt == (number < 7 ? now + 0.25 : dial.deadline))
            now = now + 0.25
        }
        #expect(dial.next(now: now + 1) == nil)
        dial.inFlight[ConnectionID(0)] = nil
        dial.failed(at: addresses[0], "connection refused")
        #expect(dial.next(now: now) == addresses[8])
    }

    @Test("When nothing is in flight any more, the next address is tried at once")
    func allFailed() {
        var dial = dial([[Self.four(10, 77, 0, 1), Self.four(10, 77, 0, 2)]])
        #expect(dial.next(now: Self.start) != nil)
        #expect(dial.next(now: Self.start) == Self.four(10, 77, 0, 2))
    }
}
