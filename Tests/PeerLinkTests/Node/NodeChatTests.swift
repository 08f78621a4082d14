import PeerModel
import PeerProtocol
import Testing

@testable import PeerLink

@Suite("Nodes that talk over loopback") struct NodeChatTests {
    /// Starts a host and members who accept, and waits until all are in the chat.
    private func chat(_ members: [String]) async throws -> (host: TestNode, members: [TestNode], address: PeerReference)
    {
        let host = try TestNode("host")
        let address = try await host.start()
        var nodes: [TestNode] = []
        var references: [PeerReference] = []
        for name in members {
            let node = try TestNode(name) { $0.invitations = .all }
            references.append(try await node.start())
            nodes.append(node)
        }
        #expect(await host.engine.perform(.invite(references), line: 1).isDone)
        let id = try await host.next("chat.started") { $0.startedChat }
        for node in nodes { #expect(try await node.next("chat.started") { $0.startedChat } == id) }
        return (host, nodes, address)
    }

    @Test("A line of a member reaches everyone and is delivered", .timeLimit(.minutes(8)))
    func relay() async throws {
        let (host, members, _) = try await chat(["ada", "bob"])
        #expect(await members[0].engine.perform(.say("hello"), line: 7).isDone)
        for node in [host] + members {
            let message = try await node.next("the line") { $0.message }
            #expect(message.text == "hello")
            #expect(message.from.name == "ada")
        }
        let missing = try await members[0].next("delivery") { $0.missing }
        #expect(missing.isEmpty)
        for node in [host] + members { await node.engine.stop() }
    }

    @Test("Everyone who stops a node waits until it has stopped", .timeLimit(.minutes(8)))
    func stoppedTwice() async throws {
        let (host, members, _) = try await chat(["ada"])
        await withTaskGroup { group in
            for _ in 1...3 {
                group.addTask {
                    await host.engine.stop()
                    #expect(await host.engine.hasEnded)
                }
            }
        }
        await host.engine.stop()
        #expect(try await members[0].next("the end") { $0.endReason } == .ended)
        await members[0].engine.stop()
    }

    @Test(
        "Who does not take its events is not flooded: peers wait for it, and nothing is lost when it does",
        .timeLimit(.minutes(8)))
    func slowReader() async throws {
        // Without a reader of its own, as an application that is busy.
        let identity = LocalIdentity.unique(displayName: try DisplayName("slow"))
        var settings = NodeSettings(downloads: "/tmp/nonexistent", spools: "/tmp/nonexistent")
        (settings.port, settings.discovery, settings.invitations) = (.exactly(0), .off, .all)
        let slow = try NodeEngine(identity: identity, settings: settings, eventsWaiting: 200)
        let port = try #require(try await slow.start())
        let host = try TestNode("host")
        _ = try await host.start()
        #expect(await host.engine.perform(.invite([PeerReference("127.0.0.1:\(port)")]), line: nil).isDone)
        _ = try await host.next("chat.started") { $0.startedChat }
        // More than may wait there, and less than makes the host wait for it.
        let text = String(repeating: "x", count: 100), count = 1000
        for _ in 0..<count { _ = await host.engine.perform(.say(text), line: nil) }
        while await slow.flow.paused.isEmpty {
            try #require(await slow.snapshot().chats.isEmpty == false, "the chat has ended meanwhile")
            try await Task.sleep(for: .milliseconds(5))
        }
        var found = 0, seq: UInt64 = 0
        for await event in slow.events {
            guard case .message(let message) = event else { continue }
            #expect(message.seq > seq && message.text == text)
            (found, seq) = (found + 1, message.seq)
            if found == count { break }
        }
        #expect(await slow.flow.paused.isEmpty)
        await host.engine.stop()
        await slow.stop()
    }

    @Test("A member that leaves leaves the rest, and the host's end is everyone's", .timeLimit(.minutes(8)))
    func ends() async throws {
        let (host, members, _) = try await chat(["ada", "bob"])
        #expect(await members[0].engine.perform(.leave, line: nil).isDone)
        #expect(try await members[0].next("its end") { $0.endReason } == .left)
        #expect(try await members[1].next("its leaving") { $0.departure } == .left)
        #expect(await members[1].engine.perform(.say("still here"), line: nil).isDone)
        #expect(try await host.next("the line") { $0.message }.text == "still here")
        #expect(await host.engine.perform(.end, line: nil).isDone)
        #expect(try await members[1].next("the end") { $0.endReason } == .ended)
        for node in [host] + members { await node.engine.stop() }
    }

    @Test("Someone in a chat answers busy, and is free again after it", .timeLimit(.minutes(8)))
    func busy() async throws {
        let (host, members, reference) = try await chat(["ada"])
        let stranger = try TestNode("stranger")
        _ = try await stranger.start()
        #expect(await stranger.engine.perform(.invite([reference]), line: nil).isDone)
        #expect(try await stranger.next("an answer") { $0.answer } == .busy)
        #expect(await host.engine.perform(.end, line: nil).isDone)
        _ = try await host.next("its end") { $0.endReason }
        #expect(await stranger.engine.perform(.invite([reference]), line: nil).isDone)
        let number = try await host.next("a question") { $0.question }
        #expect(await host.engine.perform(.decline(.number(number)), line: nil).isDone)
        #expect(try await stranger.next("an answer") { $0.answer } == .declined)
        for node in [host, stranger] + members { await node.engine.stop() }
    }

    @Test("A key that is not the expected one is named", .timeLimit(.minutes(8)))
    func wrongKey() async throws {
        let real = try TestNode("real"), other = try TestNode("other")
        let reference = try await real.start()
        let wrong = PeerReference("\(other.identity.id)@\(reference.text)")
        _ = try await other.start()
        let caller = try TestNode("caller")
        _ = try await caller.start()
        #expect(await caller.engine.perform(.invite([wrong]), line: nil).isDone)
        #expect(try await caller.next("an answer") { $0.answer } == .wrongKey)
        for node in [real, other, caller] { await node.engine.stop() }
    }

    @Test("Two that invite each other at once end in one chat", .timeLimit(.minutes(8)), arguments: 0..<20)
    func mutual(_ round: Int) async throws {
        let left = try TestNode("left"), right = try TestNode("right")
        let toLeft = try await left.start(), toRight = try await right.start()
        async let first = left.engine.perform(.invite([toRight]), line: nil)
        async let second = right.engine.perform(.invite([toLeft]), line: nil)
        _ = await (first, second)
        let leftHost = try await left.next("a chat") { $0.startedHost }
        let rightHost = try await right.next("a chat") { $0.startedHost }
        #expect(leftHost == rightHost)
        for node in [left, right] { await node.engine.stop() }
    }
}

extension Reply {
    var isDone: Bool { if case .failed = self { false } else { true } }
}

extension NodeEvent {
    var startedChat: ChatID? { if case .chatStarted(let chat, _, _, _, _) = self { chat } else { nil } }
    var startedHost: PeerID? { if case .chatStarted(_, _, let host, _, _) = self { host.id } else { nil } }
    var message: ChatMessage? { if case .message(let message) = self { message } else { nil } }
    var missing: [Peer]? { if case .messageDelivered(_, _, _, let missing, _) = self { missing } else { nil } }
    var endReason: ChatEndReason? { if case .chatEnded(_, let reason, _) = self { reason } else { nil } }
    var departure: DepartureReason? { if case .memberLeft(_, _, let reason) = self { reason } else { nil } }
    var answer: Answer? { if case .inviteAnswered(_, let answer, _, _) = self { answer } else { nil } }
    var question: Int? { if case .inviteReceived(let number, _, _, _, _) = self { number } else { nil } }
}

@Suite("Goodbyes") struct GoodbyeTests {
    @Test(
        "Who leaves while lines pour in has left, and is not called crashed", .timeLimit(.minutes(8)), arguments: 0..<10
    )
    func leavingInAFlood(_ round: Int) async throws {
        let host = try TestNode("host"), member = try TestNode("member") { $0.invitations = .all }
        _ = try await host.start()
        let address = try await member.start()
        #expect(await host.engine.perform(.invite([address]), line: nil).isDone)
        _ = try await member.next("a chat") { $0.startedChat }
        async let flood: Void = {
            let line = String(repeating: "x", count: 16_000)
            for _ in 0..<300 { _ = await host.engine.perform(.say(line), line: nil) }
        }()
        _ = try await member.next("a line") { $0.message }
        #expect(await member.engine.perform(.leave, line: nil).isDone)
        #expect(try await host.next("its leaving") { $0.departure } == .left)
        _ = await flood
        for node in [host, member] { await node.engine.stop() }
    }
}
