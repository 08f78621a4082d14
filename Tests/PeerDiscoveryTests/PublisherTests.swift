import CAvahi
import PeerModel
import Testing

@testable import PeerDiscovery

@Suite("The own advert", .timeLimit(.minutes(8)))
struct PublisherTests {
    final class Scene {
        let loop: PollLoop
        let network: FakeBackend
        let publisher: Publisher
        private let told: Told
        var reports: [String] { told.reports }

        final class Told { var reports: [String] = [] }

        init() throws {
            let loop = try #require(PollLoop()), told = Told()
            self.loop = loop
            self.told = told
            network = FakeBackend(on: loop)
            publisher = Publisher(interfaces: [], on: loop) { report in
                switch report {
                case .published: told.reports.append("published")
                case .failed(let reason): told.reports.append(reason)
                }
            }
        }
    }

    @Test("A new state is a new record, a new port or name a new registration")
    func changes() async throws {
        try await onThread {
            let scene = try Scene()
            scene.publisher.attach(scene.network)
            #expect(scene.network.published.isEmpty)
            scene.publisher.set(try advert(1, port: 1))
            #expect(scene.loop.run { scene.reports == ["published"] })
            scene.publisher.set(try advert(1, isBusy: true, port: 1))
            scene.publisher.set(try advert(1, isBusy: true, port: 1))
            #expect(scene.network.updated.map { $0.txt.contains("st=busy") } == [true])
            scene.publisher.set(try advert(1, isBusy: true, port: 2))
            scene.publisher.set(try advert(1, name: "Bob", port: 2))
            #expect(scene.network.published.map(\.port) == [1, 2, 2])
            #expect(scene.network.published.last?.name.hasPrefix("Bob ") == true)
            #expect(scene.network.objects == 1)
            scene.publisher.detach()
            #expect(scene.network.objects == 0)
        }
    }

    @Test("The old name stays on the network until the new one is there, and is never in its way when it is taken back")
    func renamed() async throws {
        try await onThread {
            let scene = try Scene()
            scene.publisher.set(try advert(1, name: "Ada", port: 1))
            scene.publisher.attach(scene.network)
            #expect(scene.loop.run { scene.reports == ["published"] })
            scene.publisher.set(try advert(1, name: "Bob", port: 1))
            #expect(scene.network.objects == 2)
            #expect(scene.loop.run { scene.reports.count == 2 } && scene.network.objects == 2)
            #expect(scene.loop.run { scene.network.objects == 1 })
            scene.publisher.set(try advert(1, name: "Cleo", port: 1))
            scene.publisher.set(try advert(1, name: "Bob", port: 1))
            #expect(scene.network.objects == 1 && scene.network.published.last?.name.hasPrefix("Bob ") == true)
            #expect(scene.loop.run { scene.reports.count == 3 })
            scene.publisher.set(try advert(1, name: "Dora", port: 2))
            #expect(scene.network.objects == 1)
            scene.publisher.set(try advert(1, name: "Eve", port: 2))
            scene.publisher.detach()
            #expect(scene.network.objects == 0)
        }
    }

    @Test("A taken name is evaded a few times, then it is said, and the display name never changes")
    func collision() async throws {
        try await onThread {
            let scene = try Scene()
            let own = try advert(1, port: 1)
            scene.network.taken = [own.instanceName]
            scene.publisher.set(own)
            scene.publisher.attach(scene.network)
            #expect(scene.loop.run { scene.reports == ["published"] })
            #expect(scene.network.published.count == 2)
            #expect(scene.network.published.allSatisfy { $0.txt.contains("name=Ada") })
            for number in 2..<10 { scene.network.taken.insert(own.instanceName + " #\(number)") }
            scene.publisher.detach()
            scene.publisher.attach(scene.network)
            #expect(scene.loop.run { scene.reports.count == 2 })
            #expect(scene.reports.last?.contains("taken") == true)
            #expect(scene.network.published.count == 8)
        }
    }

    @Test("With 50 names taken it tries 6 of them, then waits longer each time, and takes the first that comes free")
    func manyCollisions() async throws {
        try await onThread {
            let scene = try Scene()
            let own = try advert(1, port: 1)
            scene.network.taken = Set((2...51).map { own.instanceName + " #\($0)" } + [own.instanceName])
            scene.publisher.set(own)
            scene.publisher.attach(scene.network)
            // At once, after 1 s and after 2 s more; the next time would be after 4 s.
            #expect(scene.loop.run { scene.network.published.count >= 18 })
            scene.loop.pass(1)
            #expect(scene.network.published.count == 18)
            #expect(Set(scene.network.published.map(\.name)).count == 6)
            #expect(scene.network.published.allSatisfy { $0.txt.contains("name=Ada") })
            #expect(scene.reports.count == 1)
            scene.network.taken = []
            #expect(scene.loop.run { scene.reports.last == "published" })
            #expect(scene.network.published.last?.name == own.instanceName)
        }
    }

    @Test("A failure is said once and mended without anybody's help")
    func failure() async throws {
        try await onThread {
            let scene = try Scene()
            scene.network.refusal = "access denied"
            scene.publisher.set(try advert(1, port: 1))
            scene.publisher.attach(scene.network)
            #expect(scene.reports == ["the advert was not taken (access denied)"])
            scene.loop.pass(1.2)
            #expect(scene.reports.count == 1)
            scene.network.refusal = nil
            #expect(scene.loop.run { scene.reports.last == "published" })
            scene.network.refusal = "too large"
            scene.publisher.set(try advert(1, isBusy: true, port: 1))
            #expect(scene.reports.last == "the advert was not taken (too large)")
            scene.network.refusal = nil
            #expect(scene.loop.run { scene.reports.last == "published" })
            #expect(scene.network.published.last?.txt.contains("st=busy") == true)
        }
    }

    @Test(
        "A record that others would not read is refused with what is too long, and not cut",
        arguments: [
            (["name=" + String(repeating: "é", count: 125)], nil),
            (
                ["name=" + String(repeating: "é", count: 125) + "x"],
                "the pair name of its record has 256 bytes, and 255 are allowed"
            ),
            (
                [String(repeating: "k", count: 256)],
                "the pair kkkkkkkkkkkkkkkk of its record has 256 bytes, and 255 are allowed"
            ),
            (["a=" + String(repeating: "x", count: 253), "b=" + String(repeating: "y", count: 141)], nil),
            (
                ["a=" + String(repeating: "x", count: 253), "b=" + String(repeating: "y", count: 142)],
                "its record has 401 bytes, and 400 are allowed"
            ),
        ] as [([String], String?)])
    func tooLong(txt: [String], reason: String?) {
        let service = PublishedService(name: "Ada", port: 1, txt: txt, interfaces: [])
        var taken: [[UInt8]] = [], refusal: String?
        do throws(AvahiError) {
            try service.each { _, list in
                taken = FakeBackend.strings(of: list)
                return 0
            }
        } catch {
            refusal = error.reason
        }
        #expect(refusal == reason)
        #expect(taken == (reason == nil ? txt.map { Array($0.utf8) } : []))
    }

    @Test("An advert that is too long is said to be, and a shorter one is published")
    func tooLongAdvert() async throws {
        try await onThread {
            let scene = try Scene()
            scene.publisher.attach(scene.network)
            scene.publisher.set(try advert(1, name: String(repeating: "n", count: 300), port: 1))
            #expect(
                scene.reports == [
                    "the advert was not taken (the pair name of its record has 305 bytes, and 255 are allowed)"
                ])
            scene.publisher.set(try advert(1, port: 1))
            #expect(scene.loop.run { scene.reports.last == "published" })
        }
    }
}
