import Glibc
import PeerModel
import PeerProtocol
import PeerSystem
import PeerWire
import Testing

@testable import PeerLink

@Suite("Members that read slowly", .serialized) struct SlowMemberTests {
    private static let line = String(repeating: "x", count: Limits.text)

    @Test(
        "Who does not read for a while is waited for: nobody leaves, and every line arrives", .timeLimit(.minutes(8)),
        arguments: [true, false])
    func waitedFor(isHostWriting: Bool) async throws {
        let count = 320
        let host = try TestNode("host"), member = try TestNode("member") { $0.invitations = .all }
        let slow = try ScriptedPeer("slow")
        async let heard = slow.listen { stream in
            try slow.join(&stream)
            sleep(7)  // as long as a ping takes to be sent and missed, and not as long as it takes to be dead
            let lines = try stream.hearLines(count)
            try stream.tell(.leave)
            while stream.ending() == nil {}
            return lines
        }
        _ = try await host.start()
        let guests = [try await member.start(), slow.address]
        #expect(await host.engine.perform(.invite(guests), line: nil).isDone)
        _ = try await host.next("a chat") { $0.startedChat }
        _ = try await member.next("a chat") { $0.startedChat }
        let writer = isHostWriting ? host : member
        for _ in 0..<count { #expect(await writer.engine.perform(.say(Self.line), line: nil).isDone) }
        #expect(try await heard == count)
        for node in [host, member] {
            for _ in 0..<count { _ = try await node.next("a line") { $0.message } }
            #expect(await !node.has { $0.departure.map { $0 != .left } ?? false || $0.endReason == .hostLost })
        }
        for node in [host, member] { await node.engine.stop() }
    }

    @Test("Who takes nothing at all is dropped as timed out, and the others go on", .timeLimit(.minutes(8)))
    func neverReads() async throws {
        let host = try TestNode("host"), member = try TestNode("member") { $0.invitations = .all }
        let dead = try ScriptedPeer("dead"), isOver = Monitor(false)
        async let ending: Void = dead.listen { stream in
            try dead.join(&stream)
            while isOver.wait(seconds: 0.5, until: { $0 ? true : nil }) == nil { try? stream.tell(.pong) }
        }
        _ = try await host.start()
        let guests = [try await member.start(), dead.address]
        #expect(await host.engine.perform(.invite(guests), line: nil).isDone)
        _ = try await host.next("a chat") { $0.startedChat }
        _ = try await member.next("a chat") { $0.startedChat }
        for _ in 0..<160 { #expect(await member.engine.perform(.say(Self.line), line: nil).isDone) }
        #expect(try await host.next("a departure") { $0.departure } == .timedOut)
        isOver.update { $0 = true }
        for _ in 0..<160 { _ = try await member.next("a line") { $0.message } }
        try await ending
        for node in [host, member] { await node.engine.stop() }
    }

    @Test("A chat that takes nothing at the moment keeps nobody from talking in another", .timeLimit(.minutes(8)))
    func otherChat() async throws {
        let host = try TestNode("host") { $0.maximumChats = 2 },
            member = try TestNode("member") { $0.invitations = .all }
        let dead = try ScriptedPeer("dead"), isOver = Monitor(false)
        async let ending: Void = dead.listen { stream in
            try dead.join(&stream)
            while isOver.wait(seconds: 0.5, until: { $0 ? true : nil }) == nil { try? stream.tell(.pong) }
        }
        _ = try await host.start()
        var chats: [ChatID] = []
        for guest in [dead.address, try await member.start()] {
            #expect(await host.engine.perform(.invite([guest]), line: nil).isDone)
            chats.append(try await host.next("a chat") { $0.startedChat })
        }
        // Until there is no room: the last one waits.
        let said = Monitor(0)
        let stuck = Task { [engine = host.engine, chat = chats[0]] in
            while await engine.perform(.say(Self.line), in: chat, line: nil).isDone { said.update { $0 += 1 } }
        }
        var last = -1
        while last != said.read({ $0 }) || last == 0 {
            last = said.read { $0 }
            try await Task.sleep(for: .milliseconds(500))
        }
        let clock = ContinuousClock(), begin = clock.now
        for number in 0..<40 {
            #expect(await host.engine.perform(.say("\(number)"), in: chats[1], line: nil).isDone)
            #expect(try await member.next("a line") { $0.message?.text } == "\(number)")
        }
        #expect(clock.now - begin < .seconds(10), "the other is given up after a minute")
        #expect(await host.engine.perform(.say("whom?"), line: nil).isDone == false)
        isOver.update { $0 = true }
        try await ending
        for node in [host, member] { await node.engine.stop() }
        await stuck.value
    }

    @Test("Two that both stop reading go on as soon as they read again, however long it took", .timeLimit(.minutes(8)))
    func bothPaused() async throws {
        let host = try TestNode("host"), member = try TestNode("member") { $0.invitations = .all }
        _ = try await host.start()
        #expect(await host.engine.perform(.invite([try await member.start()]), line: nil).isDone)
        _ = try await host.next("a chat") { $0.startedChat }
        _ = try await member.next("a chat") { $0.startedChat }
        for node in [host, member] { await node.engine.fallBehind() }
        for node in [host, member] {
            #expect(await node.engine.perform(.say(node.identity.displayName.description), line: nil).isDone)
        }
        // Longer than a silence may be that does count.
        try await Task.sleep(for: .seconds(Limits.deadAfter + 2))
        for node in [host, member] { #expect(await !node.has { $0.departure != nil || $0.endReason != nil }) }
        #expect(await !host.has { $0.message?.text == "member" })
        for node in [host, member] { await node.engine.caughtUp() }
        for text in ["host", "member"] {
            for node in [host, member] { #expect(try await node.next("a line") { $0.message }.text == text) }
        }
        for node in [host, member] { await node.engine.stop() }
    }

    @Test("A goodbye arrives behind all that was said before, however long that takes", .timeLimit(.minutes(8)))
    func lateGoodbye() async throws {
        let count = 48
        let host = try TestNode("host"), slow = try ScriptedPeer("slow")
        async let heard = slow.listen { stream in
            try slow.join(&stream)
            var lines = 0
            while true {
                switch try stream.hear() {
                case .event: lines += 1
                case .end: return lines
                default: continue
                }
                usleep(60_000)
            }
        }
        _ = try await host.start()
        #expect(await host.engine.perform(.invite([slow.address]), line: nil).isDone)
        _ = try await host.next("a chat") { $0.startedChat }
        for _ in 0..<count { #expect(await host.engine.perform(.say(Self.line), line: nil).isDone) }
        #expect(await host.engine.perform(.end, line: nil).isDone)
        #expect(try await heard == count)
        await host.engine.stop()
    }
}

extension NodeEngine {
    /// As if its application did not take what it is told.
    fileprivate func fallBehind() {
        flow.isBehind = true
        carryOutEffects()
    }
}
