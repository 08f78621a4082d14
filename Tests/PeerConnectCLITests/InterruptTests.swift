import PeerModel
import Synchronization
import Testing

@testable import PeerConnectCLI

/// Ctrl-C where the terminal keeps its line mode.
@Suite(.timeLimit(.minutes(8)))
struct InterruptTests {
    private let me, ada: Peer

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
    }

    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test("Without a chat it leaves at once; with one the first is taken, a second within 3 s never")
    func pairs() {
        #expect(!Interrupts().note(at: at(10)))
        let interrupts = Interrupts(), count = Mutex(0)
        interrupts.take { count.withLock { $0 += 1 } }
        #expect(interrupts.note(at: at(10)) && !interrupts.note(at: at(12.9)))
        #expect(interrupts.note(at: at(16)), "too late for a second one")
        #expect(count.withLock { $0 } == 2)
    }

    @Test(
        "In a chat it says what would end; with nothing to lose, and off a terminal, it leaves",
        arguments: [true, false])
    func chat(isInChat: Bool) async throws {
        var snapshot = NodeSnapshot()
        if isInChat { snapshot.chats = [(try chatID(3), .host, me, [ada])] }
        let node = ScriptedSession(me: me, snapshot: snapshot)
        let stage = Stage(home: ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)]))
        let (left, leave) = AsyncStream.makeStream(of: Void.self)
        var world = stage.world(isTerminal: true)
        let input = EndlessInput()
        world.input = input
        world.interrupts = Interrupts { leave.yield() }
        let task = Task { [world] in await execute(["chat"], in: world) { 130 } }
        await input.isAsked()
        #expect(world.interrupts.note(at: at(10)))
        if isInChat {
            while !stage.err.contains("Ctrl-C again leaves, which ends the chat for 1 member.\n") {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(!world.interrupts.note(at: at(11)))
        } else {
            for await _ in left { break }
            #expect(!stage.err.contains("Ctrl-C"))
        }
        task.cancel()
        #expect(await task.value == 130)

        let script = Stage(home: stage.home)
        var piped = script.world()
        let lines = EndlessInput()
        piped.input = lines
        let run = Task { [piped] in await execute(["chat"], in: piped) { 130 } }
        await lines.isAsked()
        #expect(!piped.interrupts.note(at: at(10)))
        run.cancel()
        _ = await run.value
    }
}
