import PeerModel
import PeerTerminal
import Synchronization
import Testing

@testable import PeerConnectCLI

/// How a chat at a live terminal is left, and that it can always be.
@Suite(.timeLimit(.minutes(8)))
struct LeavingTests {
    private static let ctrlC = "\u{3}", ctrlD = "\u{4}"
    private let me, ada: Peer
    private let terminal = ScriptedTerminal()
    private let chat: ChatID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
        chat = try chatID(3)
    }

    /// Runs the chat as the program does, until it leaves; `body` gets what ends it as the time that is given does.
    private func run(
        _ node: ScriptedSession, _ body: (_ timeIsUp: @escaping @Sendable () -> Void) async -> Void
    ) async -> (code: Int32, stage: Stage) {
        let stage = Stage(home: ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)]))
        let (codes, left) = AsyncStream.makeStream(of: Int32.self)
        let later = Mutex<[@Sendable () -> Void]>([])
        let wayOut = WayOut(
            later: { body in later.withLock { $0.append(body) } }, leave: { left.yield($1) })
        var world = stage.world(terminal: terminal, environment: ["TERM": "xterm"], sleep: terminal.sleep)
        world.interrupts = Interrupts { wayOut.note(.signal(2)) }
        world.leaving = wayOut.hurry
        wayOut.follow { [world] in await execute(["chat", "--color", "never"], in: world) { wayOut.code } }
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        await terminal.output(until: "> ")
        await body { begin.yield() }
        let timer = Task {
            for await _ in begun {
                while later.withLock({ $0.isEmpty }) { try? await Task.sleep(for: .milliseconds(5)) }
                for body in later.withLock({ $0 }) { body() }
            }
        }
        let code = await codes.first { _ in true } ?? -1
        timer.cancel()
        return (code, stage)
    }

    private func join(_ node: ScriptedSession) async {
        node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
        await terminal.output(until: "hosting ada")
    }

    @Test("A second Ctrl-C ends the program as SIGINT does, whatever it was doing")
    func interrupted() async {
        let node = ScriptedSession(me: me)
        let (code, stage) = await run(node) { _ in
            await join(node)
            terminal.type(Self.ctrlC)
            await terminal.output(until: "Ctrl-C again leaves, which ends the chat for 1 member.")
            terminal.type(Self.ctrlC)
        }
        #expect(code == 130 && stage.home.node.isStopped && terminal.isClosed)
    }

    @Test("The second Ctrl-C has to come within 3 s of the first")
    func window() async {
        let node = ScriptedSession(me: me)
        let (code, _) = await run(node) { _ in
            for (number, seconds) in [3.1, 3.1, 2.9].enumerated() {
                terminal.type(Self.ctrlC)
                // What comes behind it is told when it was looked at.
                node.emit(.failure(PeerConnectError(.internal, "Event \(number).")))
                await terminal.output(until: "Event \(number).")
                #expect(!node.isStopped)
                terminal.advance(seconds: seconds)
            }
            terminal.type(Self.ctrlC)
        }
        #expect(code == 130 && node.isStopped)
    }

    @Test("A second Ctrl-D leaves a chat with members")
    func endOfInput() async {
        var snapshot = NodeSnapshot()
        snapshot.chats = [(id: chat, role: .host, host: me, members: [ada])]
        let node = ScriptedSession(me: me, snapshot: snapshot)
        let (code, _) = await run(node) { _ in
            await join(node)
            terminal.type(Self.ctrlD)
            await terminal.output(until: "Quitting ends the chat for 1 member.")
            #expect(!node.isStopped)
            terminal.type(Self.ctrlD)
        }
        #expect(code == 0 && node.isStopped && terminal.isClosed)
    }

    @Test(
        "A node that does not stop is not waited for: the terminal is given back, and what was said is stored",
        arguments: [ctrlC + ctrlC, "/quit\r", ctrlD])
    func hangingStop(keys: String) async {
        let node = ScriptedSession(me: me, hang: .stop)
        let clock = ContinuousClock(), began = clock.now
        let (code, stage) = await run(node) { _ in
            await join(node)
            node.emit(
                .message(ChatMessage(chat: chat, seq: 1, from: ada, text: "last", sent: 0, ref: nil, line: nil)))
            await terminal.output(until: "ada: last")
            terminal.type(keys)
        }
        #expect(code == (keys.hasPrefix(Self.ctrlC) ? 130 : 0) && terminal.isClosed)
        #expect(clock.now - began >= ChatLoop.telling)
        let reader = Stage(home: ScriptedHome(node: ScriptedSession(me: me), in: stage.home))
        #expect(await reader.run("history", "search", "last") == 0)
        #expect(reader.out.contains("ada: last"))
    }

    @Test("A chat that hangs sees no key, and two Ctrl-C end it all the same, in its time", arguments: [true, false])
    func hangingChat(inOneRead: Bool) async {
        let node = ScriptedSession(me: me, hang: .snapshot)
        let (code, _) = await run(node) { timeIsUp in
            node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
            if inOneRead {
                terminal.type(Self.ctrlC + Self.ctrlC)
            } else {
                for _ in 1...2 { terminal.type(Self.ctrlC) }
            }
            #expect(await isStopped(node), "members are told")
            timeIsUp()
        }
        #expect(code == 130)
    }

    private func isStopped(_ node: ScriptedSession) async -> Bool {
        while !node.isStopped, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
        return node.isStopped
    }

    @Test("Ctrl-C that a chat looks at is the chat's; so is one that comes late, or behind another key")
    func watch() {
        let watch = InterruptWatch(), press = TerminalEvent.bytes([3])
        func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }
        #expect(watch.isSeen(press, at: at(10)))
        watch.took(press)
        #expect(watch.isSeen(press, at: at(13.1)), "too late for a second one")
        #expect(watch.isSeen(.bytes([0x78]), at: at(13.2)) && watch.isSeen(press, at: at(13.3)))
        #expect(!watch.isSeen(press, at: at(14)), "nobody looks")
        for _ in 1...4 { watch.took(press) }
        #expect(watch.isSeen(press, at: at(15)), "it was looked at meanwhile")
    }

    @Test("The first interruption gives the code; a wish alone leaves the command's; who leaves does so once")
    func wayOut() async {
        for (interruptions, code) in [([], 7), ([.signal(15), .outputClosed], 143), ([.outputClosed, .signal(2)], 1)]
            as [([WayOut.Interruption], Int32)]
        {
            let (codes, left) = AsyncStream.makeStream(of: Int32.self)
            let later = Mutex<[@Sendable () -> Void]>([])
            let wayOut = WayOut(later: { body in later.withLock { $0.append(body) } }, leave: { left.yield($1) })
            wayOut.hurry()
            for interruption in interruptions { wayOut.note(interruption) }
            wayOut.follow {
                while !interruptions.isEmpty, !Task.isCancelled { await Task.yield() }
                return 7
            }
            #expect(await codes.first { _ in true } == code)
            #expect(later.withLock { $0.count } == 1, "there is one end of time")
            for body in later.withLock({ $0 }) { body() }
            left.finish()
            #expect(await codes.first { _ in true } == nil)
        }
    }
}
