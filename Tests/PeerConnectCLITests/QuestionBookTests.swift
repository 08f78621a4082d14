import PeerModel
import Testing

@testable import PeerConnectCLI

/// A peer that asks and takes it back without end.
struct QuestionBookTests {
    private let me, eve, ada: Peer

    init() throws {
        me = try peer("me", 9)
        eve = try peer("eve", 5)
        ada = try peer("ada", 1)
    }

    @Test("Three are told, then once that no more is told for a minute; others are told all the time")
    func loop() {
        var narrator = PlainNarrator(me: me), told: [String] = []
        func tell(_ number: Int, _ peer: Peer, at time: Int64) -> [String] {
            let events: [NodeEvent] = [
                .inviteReceived(number: number, from: peer, purpose: .chat, offer: nil, known: .new),
                .inviteWithdrawn(number: number, reason: "withdrawn"),
            ]
            return events.flatMap { narrator.tell($0, now: time).notes }
        }
        for number in 1...1000 { told += tell(number, eve, at: Int64(number)) }
        #expect(told.count == 7)
        #expect(told.last?.hasPrefix("eve (\(eve.id.short)) asks and takes it back again and again") == true)
        #expect(tell(1001, ada, at: 1001).count == 2)
        #expect(tell(1002, eve, at: 61_003).count == 2, "a minute later")
    }

    @Test("On the live terminal nothing more of it is printed or rung for, and what is open is shown")
    func live() async {
        let terminal = ScriptedTerminal(), node = ScriptedSession(me: me)
        let stage = Stage(home: ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)]))
        let world = stage.world(terminal: terminal, environment: ["TERM": "xterm"], sleep: terminal.sleep)
        let work = Task { await execute(["chat", "--color", "never"], in: world) }
        await terminal.output(until: "> ")
        for number in 1...20 {
            node.emit(
                .inviteReceived(number: number, from: eve, purpose: .chat, offer: nil, known: .new),
                .inviteWithdrawn(number: number, reason: "withdrawn"))
        }
        node.emit(.failure(PeerConnectError(.internal, "That is all.")))
        await terminal.output(until: "That is all.")
        terminal.type("/quit\r")
        _ = await work.value
        #expect(terminal.output.contains("#3: eve") && !terminal.output.contains("#4: eve"))
        #expect(terminal.bells <= 3)
    }
}
