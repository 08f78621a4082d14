import PeerModel
import PeerTLS
import PeerWire
import Testing

@testable import PeerProtocol

/// Who comes, goes and offers while a chat runs.
@Suite("A running chat")
struct RunningChatTests {
    private func texts(_ node: MachineNetwork.Node) -> [String] {
        node.events.compactMap { if case .message(let message) = $0 { message.text } else { nil } }
    }

    private func isDistrusted(_ node: MachineNetwork.Node) -> Bool {
        node.events.contains { if case .warning = $0 { true } else { false } }
    }

    private func say(_ text: String, by node: Int, in network: MachineNetwork) throws {
        network.scheduleLine(text, by: node)
        try network.settle()
    }

    @Test("Who joins late hears what follows of everyone who spoke before", arguments: 0..<10 as Range<UInt64>)
    func lateJoiner(seed: UInt64) throws {
        let network = try MachineNetwork.chat(of: 3, among: 4, seed: seed)
        for node in 0..<3 { try say("early \(node)", by: node, in: network) }
        network.scheduleInvite(from: 0, to: [3])
        try network.settle()
        for node in 0..<4 { network.scheduleLine("late \(node)", by: node) }
        try network.settle()
        let late = Set((0..<4).map { "late \($0)" })
        #expect(Set(texts(network.nodes[3])) == late)
        for node in network.nodes {
            #expect(Set(texts(node)).isSuperset(of: late))
            #expect(!isDistrusted(node))
            #expect(node.machine.currentView?.members.count == 3)
        }
    }

    @Test("Who leaves and is invited again goes on speaking, and its old lines cannot be shown again")
    func rejoin() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 1)
        var old: [UInt8]?
        network.tamper = { from, to, message in
            if from == 0, to == 2, case .event(_, let bytes) = message, old == nil,
                case .said? = (try? ChatEvent(parsing: bytes))?.body
            {
                old = bytes
            }
            return [message]
        }
        try say("first", by: 1, in: network)
        network.schedule(1) { _ = $0.leave(at: $1) }
        try network.settle()
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        try say("second", by: 1, in: network)
        for node in network.nodes {
            #expect(texts(node) == ["first", "second"])
            #expect(!isDistrusted(node))
        }
        let bytes = try #require(old)
        let n = try #require(network.nodes[2].machine.currentView?.counters.isEmpty == false ? 6 : nil) as UInt64
        try network.inject(.event(n: n, bytes: bytes), from: 0, to: 2)
        #expect(isDistrusted(network.nodes[2]))
    }

    @Test("A statement that cannot be checked costs its author the membership, and nobody else anything")
    func badStatement() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 2)
        let forged = SignedBytes(bytes: [1, 2, 3], signature: [UInt8](repeating: 0, count: 64))
        try network.inject(.say(forged), from: 1, to: 0)
        #expect(network.nodes[1].machine.isIdle)
        #expect(network.nodes[0].machine.currentView?.members.map(\.id) == [network.id(2)])
        try say("still here", by: 2, in: network)
        #expect(texts(network.nodes[0]) == ["still here"])
    }

    @Test("An invitation on the connection of a chat ends that connection, and no chat is left behind")
    func inviteInChat() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 3)
        let other = try #require(ChatID(bytes: [UInt8](repeating: 7, count: ChatID.size)))
        let invite = Invite(
            chat: other, nonce: [UInt8](repeating: 1, count: Join.nonceSize), purpose: .chat, offer: nil)
        try network.inject(.invite(invite), from: 0, to: 1)
        #expect(network.nodes[1].machine.isIdle)
        #expect(network.nodes[0].machine.currentView?.members.map(\.id) == [network.id(2)])
        try network.inject(.invite(invite), from: 2, to: 0)
        #expect(network.nodes[0].machine.isIdle && network.nodes[2].machine.isIdle)
    }

    @Test("A line that was lost with a member's connection is told to its author, and one that was left behind is not")
    func lostWithMember() throws {
        let network = try MachineNetwork.chat(of: 4, seed: 7)
        try say("hi", by: 1, in: network)
        try network.advance(0.2, at: [0, 2])
        try network.lose(0, 3)
        let told = network.nodes[1].events.compactMap {
            if case .messageDelivered(_, _, _, let missing, _) = $0 { missing.map(\.id) } else { nil }
        }
        #expect(told == [[network.id(3)]])
        try say("and now?", by: 1, in: network)
        network.schedule(2) { _ = $0.leave(at: $1) }
        try network.settle()
        let both = network.nodes[1].events.compactMap {
            if case .messageDelivered(_, _, _, let missing, _) = $0 { missing.map(\.id) } else { nil }
        }
        #expect(both == [[network.id(3)], []])
    }

    @Test("Who declined can be invited again while the others are still asked, and each command hears of its own")
    func invitedAgain() throws {
        let network = MachineNetwork(3, seed: 8)
        network.scheduleInvite(from: 0, to: [1, 2])
        try network.settle()
        network.schedule(1) { _ = $0.decline(nil, line: nil, at: $1) }
        try network.settle()
        let again = NodeMachine.Invitation(
            target: .peer(network.id(1), addresses: []), label: "1", peer: network.nodes[1].peer)
        network.schedule(0) { _ = $0.invite([again], line: 9, at: $1) }
        try network.settle()
        for node in [1, 2] { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        #expect(network.nodes[0].machine.currentView?.members.count == 2)
        let done = network.nodes[0].events.compactMap {
            if case .inviteDone(_, let answers, let line) = $0 {
                "\(line ?? 0): \(answers.map(\.1.rawValue))"
            } else {
                nil
            }
        }
        #expect(done == [#"0: ["declined", "accepted"]"#, #"9: ["accepted"]"#])
    }

    private func told(_ node: MachineNetwork.Node) -> Set<Int> {
        Set(node.events.compactMap { if case .messageDelivered(_, _, let ref, _, _) = $0 { ref } else { nil } })
    }

    @Test("Whoever says thousands of lines hears of each what became of it", arguments: [0, 1])
    func manyLines(author: Int) throws {
        let network = try MachineNetwork.chat(of: 2, among: 3, seed: 9)
        network.scheduleInvite(from: 0, to: [2])
        try network.settle()
        let id = try #require(network.nodes[0].machine.chats.first)
        var room = 0
        for number in 0..<4200 {
            if network.nodes[author].machine.hasRoom(in: id) { room += 1 }
            network.scheduleLine("\(number)", by: author)
            try network.settle()
        }
        #expect(room == Limits.linesOnTheirWay / 3)
        try network.advance(1)
        try network.advance(1)
        #expect(told(network.nodes[author]).count == 4200)
        #expect(network.nodes[author].machine.hasRoom(in: id))
    }

    // MARK: Offers

    private func results(_ node: MachineNetwork.Node) -> [[String]] {
        node.events.compactMap {
            guard case .fileDone(_, let results, _) = $0 else { return nil }
            return results.map { "\($0.peer.name) \($0.status.rawValue) \($0.reason?.rawValue ?? "-")" }
        }
    }

    @Test("A recipient that has left before the offer was ordered is told as such, and the transfer ends")
    func goneRecipient() throws {
        let network = try MachineNetwork.chat(of: 4, seed: 4)
        let body = network.offer(1, by: 1, to: [2, 3])
        network.schedule(2) { _ = $0.leave(at: $1) }
        try network.settle()
        network.schedule(1) { _ = $0.offer(body, line: nil, at: $1) }
        try network.settle()
        network.schedule(3) { _ = $0.decline(nil, line: nil, at: $1) }
        try network.settle()
        for node in [0, 1, 3] {
            #expect(results(network.nodes[node]).map(Set.init) == [["Peer 2 failed left", "Peer 3 declined -"]])
        }
    }

    @Test("A host that has no room for the files passes them on all the same")
    func hostWithoutRoom() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 5)
        let body = network.offer(2, by: 1, to: [0, 2])
        network.schedule(1) { _ = $0.offer(body, line: nil, at: $1) }
        try network.settle()
        for node in [0, 2] { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        let before = network.nodes[0].orders.count
        network.schedule(0) { $0.transfer(.notBegun(body.transfer, .diskFull), at: $1) }
        try network.settle()
        let orders = network.nodes[0].orders[before...]
        #expect(orders.contains { if case .relay(body.transfer, _, _, _) = $0 { true } else { false } })
        let delivered = network.nodes[1].events.compactMap {
            if case .fileDelivered(_, let result) = $0 { "\(result.peer.name) \(result.status.rawValue)" } else { nil }
        }
        #expect(delivered == ["Peer 0 failed"])
    }

    @Test("Nobody can have more than 64 offers open; the next one is refused before it is sent")
    func tooManyOffers() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 6)
        var last: Reply?
        for number in 0...UInt8(Limits.openOffers) {
            let body = network.offer(number, by: 0, to: [1, 2])
            network.schedule(0) { last = $0.offer(body, line: nil, at: $1) }
            try network.settle()
        }
        guard case .failed(let error)? = last else {
            Issue.record("the last one was taken")
            return
        }
        #expect(error.code == .tooMany)
        for node in network.nodes {
            #expect(!isDistrusted(node))
            #expect(node.machine.currentView?.transfers.count == Limits.openOffers)
        }
    }
}
