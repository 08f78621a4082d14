import PeerModel
import PeerTLS
import PeerWire
import TestSupport
import Testing

@testable import PeerProtocol

/// A peer in more than one chat at once.
@Suite("Several chats at once")
struct SeveralChatsTests {
    private func network(_ count: Int, seed: UInt64, chats: Int = 2) -> MachineNetwork {
        MachineNetwork(count, seed: seed) {
            $0.invitations = .all
            $0.maximumChats = chats
        }
    }

    /// Node 0 hosts 1 and 2, and node 1 hosts 3.
    private func twoChats(seed: UInt64) throws -> (MachineNetwork, first: ChatID, second: ChatID) {
        let network = network(4, seed: seed)
        network.scheduleInvite(from: 0, to: [1, 2])
        try network.settle()
        network.scheduleInvite(from: 1, to: [3])
        try network.settle()
        let chats = network.nodes[1].machine.chats
        try #require(chats.count == 2)
        return (network, chats[0], chats[1])
    }

    private func texts(_ node: MachineNetwork.Node, in chat: ChatID? = nil) -> [String] {
        node.events.compactMap { event in
            guard case .message(let message) = event, chat ?? message.chat == message.chat else { return nil }
            return message.text
        }
    }

    private func lines(_ node: MachineNetwork.Node, in chat: ChatID) -> [UInt64: String] {
        var lines: [UInt64: String] = [:]
        for case .message(let message) in node.events where message.chat == chat { lines[message.seq] = message.text }
        return lines
    }

    /// The code of a refusal, `nil` when it was done.
    private func refusal(
        _ node: Int, in network: MachineNetwork, _ act: @escaping (inout NodeMachine, Moment) -> Reply
    ) throws -> PeerConnectError.Code? {
        var code: PeerConnectError.Code?
        network.schedule(node) { machine, moment in
            if case .failed(let error) = act(&machine, moment) { code = error.code }
        }
        try network.settle()
        return code
    }

    private func invitation(_ node: Int, in network: MachineNetwork) -> NodeMachine.Invitation {
        .init(target: .peer(network.id(node), addresses: []), label: "\(node)", peer: network.nodes[node].peer)
    }

    @Test(
        "What is said in one is heard there alone; where it is meant must be said", arguments: 0..<10 as Range<UInt64>)
    func apart(seed: UInt64) throws {
        let (network, first, second) = try twoChats(seed: seed)
        for number in 0..<5 {
            network.schedule(1) { _ = $0.say("first \(number)", in: first, line: nil, at: $1) }
            network.schedule(1) { _ = $0.say("second \(number)", in: second, line: nil, at: $1) }
            network.scheduleLine("from 2 \(number)", by: 2)
            network.scheduleLine("from 3 \(number)", by: 3)
        }
        try network.settle()
        #expect(try refusal(1, in: network) { $0.say("whom?", line: nil, at: $1) } == .ambiguous)
        let inFirst = texts(network.nodes[0])
        #expect(Set(inFirst) == Set((0..<5).flatMap { ["first \($0)", "from 2 \($0)"] }) && inFirst.count == 10)
        #expect(texts(network.nodes[2]) == inFirst && texts(network.nodes[1], in: first) == inFirst)
        let inSecond = texts(network.nodes[3])
        #expect(Set(inSecond) == Set((0..<5).flatMap { ["second \($0)", "from 3 \($0)"] }) && inSecond.count == 10)
        #expect(texts(network.nodes[1], in: second) == inSecond)
        let snapshot = network.nodes[1].machine.snapshot()
        #expect(snapshot.chats.map(\.id) == [first, second] && snapshot.chats.map(\.role) == [.member, .host])
    }

    @Test("Leaving or ending one leaves the other as it is, and makes room for a further one")
    func endings() throws {
        let (network, first, second) = try twoChats(seed: 3)
        let other = invitation(2, in: network)
        #expect(network.nodes[1].machine.isBusy)
        #expect(try refusal(1, in: network) { $0.leave(second, at: $1) } == .usage)
        #expect(try refusal(1, in: network) { $0.end(first, at: $1) } == .notHost)
        #expect(try refusal(1, in: network) { $0.leave(at: $1) } == .ambiguous)
        #expect(try refusal(1, in: network) { $0.end(at: $1) } == .ambiguous)
        for chat in [first, nil] as [ChatID?] {
            #expect(try refusal(1, in: network) { $0.invite([other], into: chat, line: nil, at: $1) } == .busy)
        }
        #expect(try refusal(1, in: network) { $0.invite([other], into: second, line: nil, at: $1) } == nil)
        #expect(network.nodes[1].machine.everyone(in: second).map(\.id) == [1, 3, 2].map(network.id))

        #expect(try refusal(1, in: network) { $0.leave(first, at: $1) } == nil)
        #expect(network.nodes[1].machine.chats == [second] && !network.nodes[1].machine.isBusy)
        #expect(try refusal(1, in: network) { $0.say("late", in: first, line: nil, at: $1) } == .noChat)
        #expect(try refusal(1, in: network) { $0.say("on", line: nil, at: $1) } == nil)
        #expect(texts(network.nodes[3]) == ["on"] && texts(network.nodes[2]) == ["on"])
        #expect(try refusal(1, in: network) { $0.end(second, at: $1) } == nil)
        #expect(network.nodes[1].machine.chats.isEmpty && network.nodes[3].machine.chats.isEmpty)
        #expect(network.nodes[0].machine.chats == [first], "the first goes on without it")
    }

    @Test("A host with room for another chat begins one, unless it names its chat; without room it is its only one")
    func inviting() throws {
        for (chats, isNamed, expected) in [(2, false, 2), (2, true, 1), (1, false, 1), (1, true, 1)] {
            let network = network(3, seed: 5, chats: chats)
            network.scheduleInvite(from: 0, to: [1])
            try network.settle()
            let chat = isNamed ? network.nodes[0].machine.chats.first : nil, other = invitation(2, in: network)
            #expect(try refusal(0, in: network) { $0.invite([other], into: chat, line: nil, at: $1) } == nil)
            #expect(network.nodes[0].machine.chats.count == expected, "\(chats) \(isNamed)")
            #expect(network.nodes[2].machine.currentView?.members.count == (expected == 2 ? 1 : 2))
        }
    }

    @Test(
        "Who has room accepts an invitation without taking back its own; who has not gives them up", arguments: [1, 2])
    func acceptsWhileInviting(chats: Int) throws {
        let network = MachineNetwork(3, seed: 7) { $0.maximumChats = chats }
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        network.scheduleInvite(from: 1, to: [2])
        try network.settle()
        for node in 1...2 {
            network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) }
            try network.settle()
        }
        #expect(network.nodes[1].machine.chats.count == chats)
        #expect(network.nodes[2].machine.chats.count == chats - 1)
    }

    @Test("Inviting and accepting are given up without touching a chat that runs")
    func givesUp() throws {
        let network = MachineNetwork(4, seed: 11) { $0.maximumChats = 3 }
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        let chat = try #require(network.nodes[1].machine.chats.first), third = network.id(3)
        for end in 0..<2 {
            // Own invitations of the host, and an acceptance of the member, whose chats do not start.
            network.scheduleInvite(from: 0, to: [2])
            network.scheduleInvite(from: 3, to: [1, 2])
            try network.settle()
            network.schedule(1) { _ = $0.accept(.peer(third), line: nil, at: $1) }
            try network.settle()
            #expect(network.nodes[0].machine.slots.count == 2 && network.nodes[1].machine.slots.count == 2)
            #expect(try refusal(0, in: network) { end == 0 ? $0.giveUp(at: $1) : $0.end(at: $1) } == nil)
            #expect(try refusal(1, in: network) { end == 0 ? $0.giveUp(at: $1) : $0.leave(at: $1) } == nil)
            #expect(network.nodes[0].machine.chats == [chat] && network.nodes[0].machine.slots.count == 1)
            #expect(network.nodes[1].machine.chats == [chat] && network.nodes[1].machine.slots.count == 1)
            network.schedule(3) { _ = $0.giveUp(at: $1) }
            try network.settle()
        }
        #expect(try refusal(0, in: network) { $0.giveUp(at: $1) } == .noChat)
        #expect(try refusal(3, in: network) { $0.end(chat, at: $1) } == .noChat)
    }

    @Test("Whoever is wanted in a chat that runs is invited there, though it has invited itself", arguments: [0, 2])
    func wantedHere(asker: Int) throws {
        let network = MachineNetwork(4, seed: 13) { $0.maximumChats = 3 }
        network.scheduleInvite(from: 1, to: [3])
        try network.settle()
        network.schedule(3) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        let chat = try #require(network.nodes[1].machine.chats.first), other = invitation(asker, in: network)
        network.scheduleInvite(from: asker, to: [1])
        try network.settle()
        #expect(try refusal(1, in: network) { $0.invite([other], into: chat, line: nil, at: $1) } == nil)
        // The larger one's own invitation gives way, and it comes in; the smaller one's is asked about.
        #expect(network.nodes[1].machine.questions.count == (asker == 0 ? 1 : 0))
        #expect(network.nodes[1].machine.everyone(in: chat).count == (asker == 0 ? 2 : 3))
        #expect(network.nodes[1].machine.slots.count == 1, "nothing was accepted unasked")
    }

    @Test(
        "Three who invite each other meet in one chat, whatever other chats they are in",
        arguments: 0..<50 as Range<UInt64>)
    func crossing(seed: UInt64) throws {
        let network = MachineNetwork(6, seed: seed) { $0.maximumChats = 3 }
        for node in 0..<3 { network.scheduleInvite(from: node, to: [node + 3]) }
        try network.settle()
        for node in 3..<6 { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        #expect(network.nodes.allSatisfy { $0.machine.chats.count == 1 })
        for node in 0..<3 { network.scheduleInvite(from: node, to: (0..<3).filter { $0 != node }) }
        try network.settle()
        for node in network.nodes[0..<3] {
            #expect(node.machine.chats.count == 2 && node.machine.slots.count == 2 && node.machine.questions.isEmpty)
            #expect(node.machine.held.isEmpty && node.machine.yielded.isEmpty)
            let view = try #require(node.machine.chats.last.flatMap(node.machine.view(of:)))
            #expect(view.host.id == network.id(0) && view.members.count == 2)
        }
    }

    @Test("Numbers of offers are of all chats, and an offer is stopped in the chat it was made in")
    func offers() throws {
        let (network, first, second) = try twoChats(seed: 9)
        let bodies = [network.offer(1, by: 1, to: [0, 2]), network.offer(2, by: 1, to: [3])]
        for (body, chat) in zip(bodies, [first, second]) {
            network.schedule(1) { _ = $0.offer(body, in: chat, line: nil, at: $1) }
            try network.settle()
        }
        let offers = network.nodes[1].machine.snapshot().transfers.map(\.offer)
        #expect(offers.map(\.chat) == [first, second] && Set(offers.map(\.number)).count == 2)
        let number = try #require(offers.last?.number)
        #expect(try refusal(1, in: network) { $0.cancel(.number(number), at: $1) } == nil)
        #expect(network.nodes[3].machine.snapshot().transfers.allSatisfy { !$0.isRunning })
        #expect(network.nodes[2].machine.snapshot().transfers.allSatisfy { $0.isRunning })
    }

    @Test(
        "Whatever five peers do in up to three chats each, all in a chat agree on it",
        arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) throws {
        let network = MachineNetwork(5, seed: seed) { $0.maximumChats = 3 }
        var generator = SeededGenerator(seed: seed &+ 1000), said = 0
        for _ in 0..<80 {
            let node = Int.random(in: 0..<5, using: &generator), pick = Int.random(in: 0..<15, using: &generator)
            let others = (0..<5).filter { $0 != node }.shuffled(using: &generator).prefix(2)
            let invitations = others.map { invitation($0, in: network) }
            said += 1
            network.schedule(node) { [said] machine, moment in
                let number = machine.questions.map(\.number).randomElement(using: &generator) ?? 0
                let chat = machine.chats.isEmpty ? nil : machine.chats[pick % machine.chats.count]
                switch pick {
                case 0..<3: _ = machine.invite(invitations, into: pick == 0 ? chat : nil, line: nil, at: moment)
                case 3: _ = machine.leave(chat, at: moment)
                case 4: _ = machine.end(chat, at: moment)
                case 5: _ = machine.decline(.number(number), line: nil, at: moment)
                case 6..<10: _ = machine.accept(.number(number), line: nil, at: moment)
                default: _ = machine.say("\(said)", in: chat, line: nil, at: moment)
                }
            }
            if pick % 3 == 0 { try network.settle() }
        }
        try network.settle()
        for _ in 0..<4 { try network.advance(31) }
        for node in network.nodes {
            #expect(node.machine.questions.isEmpty && node.machine.held.isEmpty && node.machine.yielded.isEmpty)
            #expect(node.machine.chats.count <= 3 && node.machine.slots.count == node.machine.chats.count)
            for chat in node.machine.chats {
                let view = try #require(node.machine.view(of: chat))
                let host = try #require(network.nodes.first { $0.peer.id == view.host.id })
                #expect(host.machine.view(of: chat)?.members.map(\.id) == view.members.map(\.id))
                // Who was not there all the time has heard less, and nothing else.
                let told = lines(host, in: chat)
                for (seq, text) in lines(node, in: chat) { #expect(told[seq] == text) }
            }
            for case .warning(_, _, let message) in node.events { Issue.record("\(message)") }
        }
    }
}
