import PeerModel
import Testing

@testable import PeerDiscovery

@Suite("Finding peers", .timeLimit(.minutes(8)))
struct ServiceBrowserTests {
    /// What a browser on a fake network has told.
    final class Scene {
        let loop: PollLoop
        let network: FakeBackend
        private(set) var browser: ServiceBrowser
        private let told: Told

        final class Told {
            var changes: [PeerChange] = []
            var listed: [PeerID: NearbyPeer] = [:]
            var failures: [String] = []
        }

        init(atMost: Int = Limits.listedPeers) throws {
            let loop = try #require(PollLoop()), told = Told()
            self.loop = loop
            self.told = told
            network = FakeBackend(on: loop)
            browser = ServiceBrowser(
                own: OwnRun(id: try advert(255).id, run: "ownownow"), interfaces: [], atMost: atMost, on: loop,
                report: { change in
                    told.changes.append(change)
                    switch change {
                    case .found(let peer), .updated(let peer): told.listed[peer.id] = peer
                    case .lost(let id): told.listed[id] = nil
                    case .ownID: break
                    }
                }, failed: { told.failures.append($0) })
            try browser.attach(network)
        }

        var changes: [PeerChange] { told.changes }
        var listed: [PeerID: NearbyPeer] { told.listed }
        var failures: [String] { told.failures }
    }

    /// The advert of peer number so many.
    static func peer(_ number: Int, isBusy: Bool = false, revision: Int = 1, port: UInt16 = 4000) throws -> Advert {
        let bytes = [UInt8](repeating: 7, count: 30) + [UInt8(number / 256), UInt8(number % 256)]
        let digest = try #require(Digest(bytes))
        return Advert(
            id: PeerID(digest), name: "peer \(number)", versions: 1...1, isBusy: isBusy, kind: .chat, run: "abcd2345",
            revision: revision, port: port)
    }

    static func address(_ number: Int) -> [UInt8] { [10, 9, UInt8(number / 256), UInt8(number % 256)] }

    @Test("500 peers are listed with never more than 1,000 objects, and coming and going leaves none behind")
    func bounded() async throws {
        try await onThread {
            let scene = try Scene()
            for _ in 0..<2 {
                for number in 0..<500 {
                    scene.network.appear("p\(number)", try Self.peer(number), host: "h\(number)", Self.address(number))
                }
                #expect(scene.loop.run { scene.listed.count == 500 && scene.network.objects == 501 })
                for number in 0..<500 { scene.network.disappear("p\(number)", host: "h\(number)") }
                #expect(scene.loop.run { scene.listed.isEmpty && scene.network.objects == 1 })
            }
            #expect(scene.network.mostObjects <= 1000)
        }
    }

    @Test("2,000 peers are listed with never more than 1,000 objects, and all of them are followed in turns")
    func crowd() async throws {
        try await onThread {
            let scene = try Scene()
            for number in 0..<2100 {
                scene.network.appear("p\(number)", try Self.peer(number), host: "h\(number)", Self.address(number))
            }
            #expect(scene.loop.run(within: 40) { scene.listed.count == Limits.listedPeers })
            #expect(scene.network.mostObjects <= 1000)
            let last = try #require(scene.listed.values.max { $0.name.count < $1.name.count })
            let number = try #require(Int(last.name.dropFirst(5)))
            let name = FakeBackend.fullName("p\(number)")
            scene.network.add(name, .text, FakeBackend.text(try Self.peer(number, isBusy: true)))
            #expect(scene.loop.run(within: 40) { scene.listed[last.id]?.isBusy == true })
            #expect(scene.network.mostObjects <= 1000)
        }
    }

    @Test("A peer that says it has moved is listed where it is, also when the new address comes seconds later")
    func moves() async throws {
        try await onThread {
            let scene = try Scene()
            let peer = try Self.peer(1)
            let id = peer.id
            let name = FakeBackend.fullName("p")
            scene.network.appear("p", peer, host: "h", [10, 0, 0, 1])
            #expect(scene.loop.run { scene.network.objects == 2 && scene.listed.count == 1 })
            scene.network.remove("h.local", .ipv4, [10, 0, 0, 1])
            scene.network.add(name, .text, FakeBackend.text(try Self.peer(1, revision: 2)))
            scene.loop.pass(1)
            #expect(scene.listed[id]?.addresses.map(\.description) == ["10.0.0.1:4000"])
            scene.network.add("h.local", .ipv4, [10, 0, 0, 2])
            #expect(scene.loop.run(within: 4) { scene.listed[id]?.addresses.map(\.description) == ["10.0.0.2:4000"] })
        }
    }

    @Test("Who asks for a peer's addresses again is told what they are now")
    func refresh() async throws {
        try await onThread {
            let scene = try Scene()
            let peer = try Self.peer(1)
            scene.network.appear("p", peer, host: "h", [10, 0, 0, 1])
            #expect(scene.loop.run { scene.network.objects == 2 && scene.listed.count == 1 })
            scene.network.remove("h.local", .ipv4, [10, 0, 0, 1])
            scene.network.add("h.local", .ipv4, [10, 0, 0, 2])
            var answers: [[[PeerAddress]]] = []
            scene.browser.refresh(peer.id) { answers.append($0) }
            #expect(scene.loop.run { !answers.isEmpty })
            scene.browser.refresh(try Self.peer(2).id) { answers.append($0) }
            #expect(answers.map { $0.map { $0.map(\.description) } } == [[["10.0.0.2:4000"]], []])
            scene.browser.refresh(peer.id) { answers.append($0) }
            scene.browser.detach()
            #expect(answers.count == 3)
        }
    }

    @Test("A state that goes and comes back within a second is seen")
    func flapping() async throws {
        try await onThread {
            let scene = try Scene()
            let name = FakeBackend.fullName("p"), peer = try Self.peer(1)
            let idle = FakeBackend.text(peer), busy = FakeBackend.text(try Self.peer(1, isBusy: true))
            scene.network.appear("p", peer, host: "h", [10, 0, 0, 1])
            #expect(scene.loop.run { scene.network.objects == 2 && scene.listed[peer.id]?.isBusy == false })
            scene.network.add(name, .text, busy)
            #expect(scene.listed[peer.id]?.isBusy == true)
            scene.network.remove(name, .text, busy)
            #expect(scene.listed[peer.id]?.isBusy == false)
            scene.network.remove(name, .text, idle)
            #expect(scene.listed[peer.id]?.isBusy == false)
        }
    }

    @Test("Of several records of one run the one with the highest number counts, and another run's when it comes later")
    func cached() async throws {
        try await onThread {
            let scene = try Scene()
            let name = FakeBackend.fullName("p")
            scene.network.appear("p", try Self.peer(1, isBusy: true, revision: 3), host: "h", [10, 0, 0, 1])
            scene.network.add(name, .text, FakeBackend.text(try Self.peer(1, revision: 2)))
            #expect(scene.loop.run { scene.network.objects == 2 && scene.listed.count == 1 })
            #expect(scene.listed.values.map(\.isBusy) == [true])
            let id = try Self.peer(1).id
            let later = Advert(
                id: id, name: "p", versions: 1...1, isBusy: false, kind: .chat, run: "hgfedcba", revision: 1, port: 0)
            scene.network.add(name, .text, FakeBackend.text(later))
            #expect(scene.listed.values.map(\.isBusy) == [false])
        }
    }

    @Test("Records that no peer would have are never listed nor looked up")
    func malformed() async throws {
        try await onThread {
            let scene = try Scene()
            let kind = Advert.serviceType + ".local"
            for bytes: [UInt8] in [[], [0], [63], [3, 0xFF, 0xFE, 0xFD, 1, 97, 0], [1, 97, 0], [0xC0, 12]] {
                scene.network.add(kind, .pointer, bytes)
            }
            for (number, record) in [[], [0], [255], Array("\u{9}id=nonsense".utf8)].enumerated() {
                scene.network.add(FakeBackend.fullName("bad \(number)"), .text, record)
                scene.network.add(kind, .pointer, FakeBackend.pointer("bad \(number)"))
            }
            #expect(scene.loop.run { scene.network.asked[.text] == 4 })
            scene.loop.pass(0.2)
            #expect(scene.changes.isEmpty)
            #expect(scene.network.asked[.ipv4] == nil && scene.network.asked[.service] == nil)
        }
    }

    @Test("A peer whose records come late is listed all the same")
    func late() async throws {
        try await onThread {
            let scene = try Scene()
            let peer = try Self.peer(1)
            scene.network.add(Advert.serviceType + ".local", .pointer, FakeBackend.pointer("p"))
            #expect(scene.loop.run { scene.network.asked[.text] == 1 })
            scene.network.add(FakeBackend.fullName("p"), .text, FakeBackend.text(peer))
            #expect(scene.loop.run { scene.network.asked[.service] == 1 })
            scene.network.appear("p", peer, host: "h", [10, 0, 0, 1])
            #expect(scene.loop.run { scene.listed[peer.id] != nil })
        }
    }

    @Test("A goodbye in other letters than the advert's is a goodbye all the same")
    func letters() async throws {
        try await onThread {
            let scene = try Scene()
            scene.network.appear("Ada", try Self.peer(1), host: "h", [10, 0, 0, 1])
            #expect(scene.loop.run { scene.listed.count == 1 })
            let kind = Advert.serviceType + ".local"
            scene.network.add(kind, .pointer, FakeBackend.pointer("ADA"))
            scene.network.remove(kind, .pointer, FakeBackend.pointer("aDA"))
            #expect(scene.listed.isEmpty)
            #expect(scene.loop.run { scene.network.objects == 1 })
        }
    }

    @Test("A peer that was left out of a full list is listed once there is room")
    func full() async throws {
        try await onThread {
            let scene = try Scene(atMost: 20)
            for number in 0...20 {
                scene.network.appear(
                    "p\(number)", try Self.peer(number), host: "h\(number)", Self.address(number))
            }
            #expect(scene.loop.run { scene.listed.count == 20 })
            let everyone = Set(try (0...20).map { try Self.peer($0).id })
            // Who is left out is left to chance.
            #expect(scene.loop.run { everyone.subtracting(scene.listed.keys).count == 1 })
            let gone = try #require((0...20).first { try scene.listed[Self.peer($0).id] != nil })
            scene.network.disappear("p\(gone)", host: "h\(gone)")
            let rest = everyone.subtracting([try Self.peer(gone).id])
            #expect(scene.loop.run { Set(scene.listed.keys) == rest })
        }
    }

    @Test("A browser that fails says so, and a record that cannot be followed is tried again")
    func failures() async throws {
        try await onThread {
            let scene = try Scene()
            let peer = try Self.peer(1), name = FakeBackend.fullName("p")
            scene.network.appear("p", peer, host: "h", [10, 0, 0, 1])
            #expect(scene.loop.run { scene.network.objects == 2 && scene.listed.count == 1 })
            let before = try #require(scene.network.asked[.text])
            scene.network.fail(name, .text)
            #expect(scene.loop.run { scene.network.asked[.text] == before + 1 })
            scene.network.fail(Advert.serviceType + ".local", .pointer)
            #expect(scene.loop.run { scene.failures.count == 1 })
        }
    }

    @Test("What one back end has shown stays listed while the next finds it again, and goes if it does not")
    func handover() async throws {
        try await onThread {
            let scene = try Scene()
            let stays = try Self.peer(1), goes = try Self.peer(2)
            scene.network.appear("a", stays, host: "a", [10, 0, 0, 1])
            scene.network.appear("b", goes, host: "b", [10, 0, 0, 2])
            #expect(scene.loop.run { scene.listed.count == 2 })
            let next = FakeBackend(on: scene.loop)
            next.appear("a", stays, host: "a", [10, 0, 0, 1])
            scene.browser.detach()
            try scene.browser.attach(next)
            #expect(scene.loop.run { next.objects == 2 })
            #expect(scene.listed.count == 2)
            scene.browser.dropUnseen()
            #expect(scene.listed.keys.map { $0 } == [stays.id])
            #expect(scene.changes.count { if case .lost = $0 { true } else { false } } == 1)
        }
    }
}
