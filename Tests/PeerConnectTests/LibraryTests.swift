import Foundation
import PeerConnect
import Testing

/// The library as another program uses it: nothing but its public face.
@Suite("The library") struct LibraryTests {
    private func node(_ name: String, acceptsAll: Bool) throws -> Node {
        var settings = NodeSettings(downloads: "/tmp/nonexistent", spools: "/tmp/nonexistent")
        settings.discovery = .off
        settings.port = .exactly(0)
        settings.invitations = acceptsAll ? .all : .ask
        return try Node(identity: Identity(displayName: DisplayName(name)), settings: settings)
    }

    @Test("Two nodes meet at an address, talk, and end", .timeLimit(.minutes(8)))
    func talk() async throws {
        let ada = try node("Ada", acceptsAll: false), bob = try node("Bob", acceptsAll: true)
        _ = try await ada.start()
        let port = try #require(try await bob.start().port)
        async let heard = firstMessage(of: bob.events)
        try await ada.invite([PeerReference("127.0.0.1:\(port)")])
        for await case .chatStarted in ada.events { break }
        try await ada.say("hello")
        #expect(await heard == "hello")
        try await ada.endChat()
        await #expect(throws: PeerConnectError.self) { try await ada.say("too late") }
        await ada.stop()
        await bob.stop()
    }

    private func firstMessage(of events: AsyncStream<NodeEvent>) async -> String? {
        for await case .message(let message) in events { return message.text }
        return nil
    }

    @Test("An offer whose task is cancelled ends, also when nobody answers", .timeLimit(.minutes(8)))
    func cancelledOffer() async throws {
        let ada = try node("Ada", acceptsAll: false), bob = try node("Bob", acceptsAll: false)
        _ = try await ada.start()
        let port = try #require(try await bob.start().port)
        let offer = Task { await ada.offer(["/etc/hostname"], to: PeerReference("127.0.0.1:\(port)")) }
        for await case .inviteReceived in bob.events { break }
        offer.cancel()
        guard case .failed = await offer.value else {
            Issue.record("the offer went on")
            return
        }
        for await case .inviteWithdrawn in bob.events { break }
        await ada.stop()
        await bob.stop()
    }

    @Test("An offer that is taken back while its files are looked at invites nobody", .timeLimit(.minutes(8)))
    func takenBack() async throws {
        let ada = try node("Ada", acceptsAll: false), bob = try node("Bob", acceptsAll: false)
        _ = try await ada.start()
        let there = PeerReference("127.0.0.1:\(try #require(try await bob.start().port))")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for number in 0..<3000 { try Data().write(to: folder.appendingPathComponent("\(number)")) }
        let start = ContinuousClock.now
        let first = Task { await ada.offer([folder.path], to: there) }
        for await case .inviteReceived in bob.events { break }
        let whole = ContinuousClock.now - start
        first.cancel()
        for await case .inviteWithdrawn in bob.events { break }
        let second = Task { await ada.offer([folder.path], to: there) }
        try await Task.sleep(for: whole / 4)
        second.cancel()
        _ = await second.value
        let end = ContinuousClock.now + whole * 3
        while ContinuousClock.now < end {
            #expect(await bob.snapshot().invitations.isEmpty)
            try await Task.sleep(for: .milliseconds(10))
        }
        await ada.stop()
        await bob.stop()
    }

    @Test("Who stops while an offer waits ends it", .timeLimit(.minutes(8)))
    func stoppedOffer() async throws {
        let ada = try node("Ada", acceptsAll: false), bob = try node("Bob", acceptsAll: false)
        _ = try await ada.start()
        let port = try #require(try await bob.start().port)
        async let outcome = ada.offer(["/etc/hostname"], to: PeerReference("127.0.0.1:\(port)"))
        for await case .inviteReceived in bob.events { break }
        await ada.stop()
        if case .finished = await outcome { Issue.record("nobody answered") }
        await bob.stop()
    }
}
