import PeerModel
import Testing

@testable import PeerDiscovery

/// Thousands of adverts that somebody made up, and a real peer among them.
@Suite("A flood of adverts", .timeLimit(.minutes(8)))
struct FloodTests {
    typealias Scene = ServiceBrowserTests.Scene

    enum Fake: CaseIterable {
        /// A name, and nothing behind it.
        case silent
        /// It says where it is, but the host has no address.
        case nowhere
        /// Each on a host of its own that has no address.
        case hosts
    }

    private static let kind = Advert.serviceType + ".local"

    /// One more made-up advert.
    private static func fake(_ number: Int, _ fake: Fake, in network: FakeBackend) throws {
        let label = "fake \(number)", name = FakeBackend.fullName(label)
        if fake != .silent {
            let host = fake == .nowhere ? "nowhere" : "nowhere\(number)"
            network.add(name, .text, FakeBackend.text(try ServiceBrowserTests.peer(number)))
            network.add(name, .service, [0, 0, 0, 0, 0x10, 0] + FakeBackend.wire([host, "local"]))
        }
        network.add(kind, .pointer, FakeBackend.pointer(label))
    }

    @Test("A real peer is listed soon, however many come before and after it", arguments: Fake.allCases)
    func newcomer(fake: Fake) async throws {
        try await onThread {
            let scene = try Scene()
            let real = try ServiceBrowserTests.peer(9999)
            var number = 0
            // Many at first, then some with each turn.
            for _ in 0..<1500 {
                try Self.fake(number, fake, in: scene.network)
                number += 1
            }
            scene.loop.pass(2)
            scene.network.appear("real", real, host: "real", [10, 0, 0, 1])
            let before = scene.network.resolved
            let isListed = scene.loop.run(within: 30) {
                if number < 2200 { try? Self.fake(number, fake, in: scene.network) }
                number += 1
                return scene.listed[real.id] != nil
            }
            #expect(isListed, "\(fake)")
            // In turn more than 1,300 would have been asked about before it, however fast the machine is. Where each has a host
            // of its own, as a real one has, nothing but an answer tells them apart: some 150 are on a quiet machine, and
            // on a busy one any number may be.
            if fake != .hosts { #expect(scene.network.resolved - before < 600, "\(fake)") }
            #expect(scene.network.mostObjects <= 1000)
            // It is followed like any other.
            let busy = try ServiceBrowserTests.peer(9999, isBusy: true)
            scene.network.add(FakeBackend.fullName("real"), .text, FakeBackend.text(busy))
            #expect(scene.loop.run(within: 30) { scene.listed[real.id]?.isBusy == true })
        }
    }

    @Test("A real peer whose announcement comes in parts, a second apart, is listed all the same")
    func parts() async throws {
        try await onThread {
            let scene = try Scene()
            for number in 0..<1500 { try Self.fake(number, .silent, in: scene.network) }
            scene.loop.pass(2)
            scene.network.add(Self.kind, .pointer, FakeBackend.pointer("real"))
            scene.loop.pass(1)
            let real = try ServiceBrowserTests.peer(9999)
            scene.network.appear("real", real, host: "real", [10, 0, 0, 1])
            #expect(scene.loop.run(within: 20) { scene.listed[real.id] != nil })
        }
    }

    @Test("When made-up peers of one machine fill the list, a real one gets in, stays, and so do those that were there")
    func full() async throws {
        try await onThread {
            let scene = try Scene(atMost: 200)
            func real(_ number: Int) throws -> PeerID {
                let peer = try ServiceBrowserTests.peer(9000 + number)
                scene.network.appear("real \(number)", peer, host: "real\(number)", [10, 0, 0, UInt8(number)])
                return peer.id
            }
            var reals = [try real(1)]
            #expect(scene.loop.run { scene.listed[reals[0]] != nil })
            for number in 0..<400 {
                let peer = try ServiceBrowserTests.peer(number)
                scene.network.appear("fake \(number)", peer, host: "fakes", [10, 9, 9, 9])
            }
            #expect(scene.loop.run { scene.listed.count == 200 })
            for number in 2...20 { reals.append(try real(number)) }
            #expect(scene.loop.run(within: 30) { reals.allSatisfy { scene.listed[$0] != nil } })
            for number in 400..<600 {
                let peer = try ServiceBrowserTests.peer(number)
                scene.network.appear("fake \(number)", peer, host: "fakes", [10, 9, 9, 9])
            }
            scene.loop.pass(1)
            #expect(reals.allSatisfy { scene.listed[$0] != nil } && scene.listed.count == 200)
        }
    }

    @Test("Where each made-up peer has an address of its own a real one gets in too, and who has proved its key stays")
    func noCrowd() async throws {
        try await onThread {
            let scene = try Scene(atMost: 50)
            let friend = try ServiceBrowserTests.peer(9001), real = try ServiceBrowserTests.peer(9002)
            scene.network.appear("friend", friend, host: "friend", [10, 0, 0, 1])
            scene.browser.prove(friend.id)
            #expect(scene.loop.run { scene.listed[friend.id] != nil })
            for number in 0..<300 {
                let peer = try ServiceBrowserTests.peer(number)
                scene.network.appear("fake \(number)", peer, host: "h\(number)", ServiceBrowserTests.address(number))
                if number % 10 == 0 { scene.loop.pass(0.02) }
            }
            #expect(scene.loop.run { scene.listed.count == 50 })
            scene.network.appear("real", real, host: "real", [10, 0, 0, 2])
            // Others may push it out again: a list of 50 is short for 300 that cannot be told apart.
            #expect(scene.loop.run(within: 20) { scene.changes.contains { $0.found == real.id } })
            #expect(scene.listed[friend.id] != nil && scene.listed.count <= 50)
            let lost = scene.changes.contains { $0 == .lost(friend.id) }
            #expect(!lost)
        }
    }

    @Test("Where more names have said where they are than can be kept, and have no address, a real one gets in at once")
    func crowdedOut() async throws {
        try await onThread {
            let scene = try Scene(atMost: 50)
            for number in 0..<2300 { try Self.fake(number, .nowhere, in: scene.network) }
            scene.loop.pass(3)
            let real = try ServiceBrowserTests.peer(9999)
            scene.network.appear("real", real, host: "real", [10, 0, 0, 1])
            #expect(scene.loop.run(within: 20) { scene.listed[real.id] != nil })
        }
    }

    @Test("A real peer is listed soon by way of a slow daemon, while hundreds of others change all the time")
    func slowDaemon() async throws {
        try await onThread {
            let scene = try Scene()
            for number in 0..<200 {
                let peer = try ServiceBrowserTests.peer(number)
                scene.network.appear("p\(number)", peer, host: "h\(number)", ServiceBrowserTests.address(number))
            }
            #expect(scene.loop.run(within: 30) { scene.listed.count == 200 })
            scene.loop.pass(2)
            scene.network.callTime = 0.012
            let clock = ContinuousClock(), start = clock.now
            var changed = 0
            // The daemon queues what it has to tell while nobody listens; 200 changes a second.
            func change() {
                while changed < Int((clock.now - start) / .milliseconds(5)) {
                    let number = changed % 200, revision = changed / 200 + 2
                    changed += 1
                    scene.loop.after(0) {
                        guard let peer = try? ServiceBrowserTests.peer(number, revision: revision) else { return }
                        scene.network.add(FakeBackend.fullName("p\(number)"), .text, FakeBackend.text(peer))
                    }
                }
            }
            _ = scene.loop.run(within: 5) {
                change()
                return false
            }
            // Unpaced each takes ten seconds; beside the other tests one may, too.
            var waits: [Duration] = []
            for number in 9997...9999 where waits.allSatisfy({ $0 >= .seconds(8) }) {
                let real = try ServiceBrowserTests.peer(number), appeared = clock.now
                scene.loop.after(0) {
                    scene.network.appear("real\(number)", real, host: "real\(number)", [10, 0, 0, 1])
                }
                let isListed = scene.loop.run(within: 20) {
                    change()
                    return scene.listed[real.id] != nil
                }
                waits.append(isListed ? clock.now - appeared : .seconds(20))
            }
            #expect(waits.contains { $0 < .seconds(8) }, "\(waits)")
        }
    }

    @Test("However many names come, a bounded number of them is kept")
    func bounded() async throws {
        try await onThread {
            let scene = try Scene(atMost: 50)
            for number in 0..<5000 { try Self.fake(number, .silent, in: scene.network) }
            scene.loop.pass(3)
            #expect(scene.network.mostObjects <= 1000)
            #expect((scene.network.asked[.text] ?? 0) < 1000)
        }
    }
}

extension PeerChange {
    fileprivate var found: PeerID? { if case .found(let peer) = self { peer.id } else { nil } }
}
