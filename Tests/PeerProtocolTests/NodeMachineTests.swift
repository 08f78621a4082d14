import PeerModel
import PeerTLS
import PeerWire
import Testing

@testable import PeerProtocol

@Suite("Machines that talk to each other")
struct NodeMachineTests {
    struct Line: Equatable {
        let seq: UInt64
        let from: PeerID
        let text: String
    }

    /// A chat of node 0 with all others.
    func chat(_ count: Int, seed: UInt64) throws -> MachineNetwork {
        let network = MachineNetwork(count, seed: seed) { $0.invitations = .all }
        network.scheduleInvite(from: 0, to: Array(1..<count))
        try network.settle()
        for node in network.nodes {
            let view = try #require(node.machine.currentView)
            try #require(view.host == network.nodes[0].peer)
            try #require(view.members.count == count - 1)
        }
        return network
    }

    func lines(_ node: MachineNetwork.Node) -> [Line] {
        node.events.compactMap {
            if case .message(let message) = $0 {
                Line(seq: message.seq, from: message.from.id, text: message.text)
            } else {
                nil
            }
        }
    }

    func deliveries(_ node: MachineNetwork.Node) -> [[Peer]] {
        node.events.compactMap { if case .messageDelivered(_, _, _, let missing, _) = $0 { missing } else { nil } }
    }

    func warnings(_ node: MachineNetwork.Node) -> [WarningCode] {
        node.events.compactMap { if case .warning(let code, _, _) = $0 { code } else { nil } }
    }

    func ends(_ node: MachineNetwork.Node) -> [ChatEndReason] {
        node.events.compactMap { if case .chatEnded(_, let reason, _) = $0 { reason } else { nil } }
    }

    // MARK: Invitations

    @Test(
        "Two peers that invite each other are in one chat, and the smaller one hosts it",
        arguments: 0..<200 as Range<UInt64>)
    func mutual(seed: UInt64) throws {
        let network = MachineNetwork(2, seed: seed)
        network.scheduleInvite(from: 0, to: [1])
        network.scheduleInvite(from: 1, to: [0])
        try network.settle()
        let views = network.nodes.map(\.machine.currentView)
        #expect(views[0] != nil && views[0]?.chat == views[1]?.chat)
        for (node, view) in zip(network.nodes, views) {
            #expect(view?.host == network.nodes[0].peer)
            #expect(view?.members == [network.nodes[1].peer])
            #expect(node.machine.slots.count == 1)
            #expect(node.machine.questions.isEmpty && node.machine.held.isEmpty)
        }
    }

    @Test("Three peers that invite each other are in one chat", arguments: 0..<200 as Range<UInt64>)
    func threeWay(seed: UInt64) throws {
        let network = MachineNetwork(3, seed: seed)
        for node in 0..<3 { network.scheduleInvite(from: node, to: (0..<3).filter { $0 != node }) }
        try network.settle()
        for _ in 0..<4 { try network.advance(Limits.answer + 1) }
        let views = try network.nodes.map { try #require($0.machine.currentView, "\($0.peer.name) is in no chat") }
        #expect(Set(views.map(\.chat)).count == 1)
        for (node, view) in zip(network.nodes, views) {
            #expect(view.members.count == 2)
            #expect(node.machine.questions.isEmpty && node.machine.held.isEmpty)
            #expect(node.machine.slots.count == 1)
        }
    }

    @Test(
        "After a chat that came of crossing invitations, the next ones are asked about",
        arguments: 0..<50 as Range<UInt64>)
    func askedAgain(seed: UInt64) throws {
        let network = MachineNetwork(3, seed: seed)
        for node in 0..<3 { network.scheduleInvite(from: node, to: (0..<3).filter { $0 != node }) }
        try network.settle()
        network.schedule(0) { _ = $0.end(at: $1) }
        try network.settle()
        network.scheduleInvite(from: 1, to: [2])
        network.scheduleInvite(from: 0, to: [2])
        try network.settle()
        #expect(network.nodes[2].machine.questions.count == 2)
        #expect(network.nodes[2].machine.currentView == nil)
    }

    // MARK: A host that lies

    /// Shows member 3 another event in the place of each line.
    func change(
        _ network: MachineNetwork, _ change: @escaping (Statement) -> Statement
    ) {
        network.tamper = { from, to, message in
            guard from == 0, to == 3, case .event(let n, let bytes) = message,
                let event = try? ChatEvent(parsing: bytes), case .said(let signed) = event.body,
                let statement = try? Statement(parsing: signed.bytes)
            else { return [message] }
            let changed = SignedBytes(bytes: change(statement).bytes(), signature: signed.signature)
            return [.event(n: n, bytes: ChatEvent(time: event.time, body: .said(changed)).bytes())]
        }
    }

    func copy(_ statement: Statement, author: PeerID? = nil, text: String? = nil) -> Statement {
        Statement(
            chat: statement.chat, host: statement.host, author: author ?? statement.author,
            counter: statement.counter, seen: statement.seen, sent: statement.sent,
            body: text.map { .say(text: $0) } ?? statement.body)
    }

    func expectDistrust(_ network: MachineNetwork, _ code: WarningCode) {
        #expect(warnings(network.nodes[3]) == [code])
        #expect(ends(network.nodes[3]) == [.hostLost])
        #expect(network.nodes[3].machine.isIdle)
        for node in 0..<3 {
            #expect(warnings(network.nodes[node]).isEmpty)
            #expect(network.nodes[node].machine.currentView?.members.count == 2)
        }
    }

    @Test("A member notices that the host changed a line's text")
    func changedText() throws {
        let network = try chat(4, seed: 1)
        change(network) { copy($0, text: "pay Eve") }
        network.scheduleLine("pay Bob", by: 1)
        try network.settle()
        #expect(lines(network.nodes[3]).isEmpty)
        expectDistrust(network, .badSignature)
    }

    @Test("A member notices that the host shows a line under another name")
    func changedAuthor() throws {
        let network = try chat(4, seed: 2)
        let other = network.id(2)
        change(network) { copy($0, author: other) }
        network.scheduleLine("it was me", by: 1)
        try network.settle()
        #expect(lines(network.nodes[3]).isEmpty)
        expectDistrust(network, .badSignature)
    }

    @Test("A member notices that the host shows it another order, by the next line of someone else")
    func changedOrder() throws {
        let network = try chat(4, seed: 3)
        var first: [UInt8]?
        var isDone = false
        network.tamper = { from, to, message in
            guard from == 0, to == 3, !isDone, case .event(let n, let bytes) = message else { return [message] }
            guard let held = first else {
                first = bytes
                return []
            }
            isDone = true
            return [.event(n: n - 1, bytes: bytes), .event(n: n, bytes: held)]
        }
        network.scheduleLine("yes", by: 0)
        network.scheduleLine("no", by: 1)
        try network.settle()
        network.scheduleLine("agreed", by: 1)
        try network.settle()
        expectDistrust(network, .splitView)
    }

    // MARK: Lines

    @Test("Lines that four members and the host say at once have one order for all", arguments: 0..<20 as Range<UInt64>)
    func oneOrder(seed: UInt64) throws {
        let network = try chat(5, seed: seed)
        for line in 0..<5 { for node in 0..<5 { network.scheduleLine("\(line) of \(node)", by: node) } }
        try network.settle()
        let shown = lines(network.nodes[0])
        #expect(shown.count == 25)
        #expect(Set(shown.map(\.text)).count == 25)
        for node in network.nodes {
            #expect(lines(node) == shown)
            #expect(warnings(node).isEmpty)
        }
        try network.advance(1)
        for node in network.nodes { #expect(deliveries(node) == [[Peer]](repeating: [], count: 5)) }
    }

    @Test("A line is delivered only when all others have acknowledged it", arguments: [0, 1])
    func delivered(author: Int) throws {
        let network = try chat(4, seed: 4)
        network.scheduleLine("hi", by: author)
        try network.settle()
        #expect(deliveries(network.nodes[author]).isEmpty)
        try network.advance(0.1, at: [author, 2])
        #expect(deliveries(network.nodes[author]).isEmpty)
        try network.advance(0.1)
        #expect(deliveries(network.nodes[author]) == [[]])
        for node in 0..<4 where node != author { #expect(deliveries(network.nodes[node]).isEmpty) }
    }

    @Test("After 15 s the author hears who has not acknowledged, and later that all have", arguments: [0, 1])
    func late(author: Int) throws {
        let network = try chat(4, seed: 5)
        network.scheduleLine("hi", by: author)
        try network.settle()
        try network.advance(1, at: [1, 2])
        try network.advance(Limits.undeliveredAfter, at: [0])
        #expect(deliveries(network.nodes[author]) == [[network.nodes[3].peer]])
        try network.advance(1, at: [0, 3])
        #expect(deliveries(network.nodes[author]) == [[network.nodes[3].peer], []])
    }
}
