import Glibc
import PeerModel
import Synchronization
import Testing

@testable import PeerDiscovery

/// The embedded back end on the loopback interface of this machine, where it can disturb nobody.
@Suite("Discovery inside this process", .serialized, .timeLimit(.minutes(8)))
struct DiscoveryTests {
    final class Events: Sendable {
        private let all = Mutex<[DiscoveryEvent]>([])

        func add(_ event: DiscoveryEvent) { all.withLock { $0.append(event) } }

        func comes(_ what: Comment, within seconds: Double = 10, _ fits: @Sendable (DiscoveryEvent) -> Bool) async {
            let clock = ContinuousClock(), limit = clock.now + .seconds(seconds)
            while !all.withLock({ $0.contains(where: fits) }), clock.now < limit {
                try? await clock.sleep(for: .milliseconds(10))
            }
            let hasCome = all.withLock { $0.contains(where: fits) }
            #expect(hasCome, what)
        }
    }

    /// Holds a thread up.
    final class Gate: Sendable {
        private let isOpen = Mutex(false)

        func open() { isOpen.withLock { $0 = true } }
        func wait() { while !isOpen.withLock({ $0 }) { usleep(10_000) } }
    }

    private static func random(_ name: String, isBusy: Bool = false) throws -> Advert {
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let run = String((0..<8).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" })
        return Advert(
            id: PeerID(try #require(Digest(bytes))), name: name, versions: 1...1, isBusy: isBusy, kind: .chat,
            run: run, revision: 1, port: 4242)
    }

    private static func discovery(_ advert: Advert, _ events: @escaping @Sendable (DiscoveryEvent) -> Void) -> Discovery
    {
        let loopback = LocalInterface(name: "lo", isLoopback: true, addresses: [.v4([127, 0, 0, 1])])
        let settings = DiscoverySettings(
            own: OwnRun(id: advert.id, run: advert.run), mode: .embedded, interfaces: ["lo"],
            localInterfaces: [loopback])
        return Discovery(settings, events: events)
    }

    @Test("Two see each other, follow each other's state, and say goodbye")
    func pair() async throws {
        let ada = try Self.random("Ada"), bob = try Self.random("Bob")
        let adaSees = Events(), bobSees = Events()
        let one = Self.discovery(ada) { adaSees.add($0) }, two = Self.discovery(bob) { bobSees.add($0) }
        one.start(advert: ada)
        two.start(advert: bob)
        await adaSees.comes("up") { $0 == .up(backend: "embedded", reason: nil) }
        await adaSees.comes("published") { $0 == .published(backend: "embedded") }
        await adaSees.comes("Bob") { if case .change(.found(let peer)) = $0 { peer.id == bob.id } else { false } }
        await bobSees.comes("Ada") { if case .change(.found(let peer)) = $0 { peer.id == ada.id } else { false } }
        two.update(
            Advert(
                id: bob.id, name: "Bob", versions: 1...1, isBusy: true, kind: .chat, run: bob.run, revision: 1,
                port: 4242))
        await adaSees.comes("busy", within: 3) {
            if case .change(.updated(let peer)) = $0 { peer.id == bob.id && peer.isBusy } else { false }
        }
        let addresses = await withCheckedContinuation { done in one.refresh(bob.id) { done.resume(returning: $0) } }
        #expect(addresses.map { $0.map(\.description) } == [["127.0.0.1:4242"]])
        #expect(await one.countObjects() ?? 0 > 2)
        await two.stop()
        await adaSees.comes("goodbye", within: 3) { $0 == .change(.lost(bob.id)) }
        await one.stop()
        await one.stop()
        #expect(await one.countObjects() == nil)
        #expect(await withCheckedContinuation { done in one.refresh(bob.id) { done.resume(returning: $0) } } == [])
    }

    @Test("An advert with the longest value of every key goes through Avahi whole")
    func longest() async throws {
        let name = String(repeating: "é", count: 31) + "x", ada = try Self.random("Ada"), bob = try Self.random(name)
        let longest = Advert(
            id: bob.id, name: name, versions: 1...Int.max, isBusy: true, kind: .inbox, run: bob.run, revision: Int.max,
            port: 65535)
        let events = Events()
        let one = Self.discovery(ada) { events.add($0) }, two = Self.discovery(bob) { _ in }
        one.start(advert: nil)
        two.start(advert: longest)
        await events.comes("the longest") {
            guard case .change(.found(let peer)) = $0, peer.id == longest.id else { return false }
            return peer.name.utf8.elementsEqual(name.utf8) && peer.edition == "\(longest.run)-\(Int.max)" && peer.isBusy
                && peer.kind == .inbox && peer.addresses.allSatisfy { $0.port == 65535 }
        }
        await two.stop()
        await one.stop()
    }

    @Test("A thread that is stuck holds nobody up, and the end is waited for no longer than 2 s")
    func stuck() async throws {
        let ada = try Self.random("Ada")
        let clock = ContinuousClock(), events = Events(), gate = Gate()
        defer { gate.open() }
        let discovery = Self.discovery(ada) { event in
            events.add(event)
            gate.wait()
        }
        discovery.start(advert: ada)
        await events.comes("up") { _ in true }
        let start = clock.now
        for _ in 0..<100 { discovery.update(ada) }
        #expect(clock.now - start < .seconds(5))
        await discovery.stop()
        // 2 s, on a machine that has little time; without a limit it would be for ever.
        #expect(clock.now - start < .seconds(30))
    }
}
