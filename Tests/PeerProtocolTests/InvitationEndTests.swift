import PeerModel
import PeerTLS
import PeerWire
import Testing

@testable import PeerProtocol

/// How invitations end: in time, in another chat, and for each command once.
@Suite("The end of an invitation")
struct InvitationEndTests {
    private func invitation(_ node: Int, in network: MachineNetwork) -> NodeMachine.Invitation {
        NodeMachine.Invitation(
            target: .peer(network.id(node), addresses: []), label: "\(node)", peer: network.nodes[node].peer)
    }

    private func invite(_ others: [Int], by node: Int, line: Int, in network: MachineNetwork) {
        let all = others.map { invitation($0, in: network) }
        network.schedule(node) { _ = $0.invite(all, line: line, at: $1) }
    }

    private func accept(_ node: Int, in network: MachineNetwork) throws {
        network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
    }

    /// What `invite.done` said, with the chat as `chat` or `-`.
    private func done(_ node: MachineNetwork.Node) -> [String] {
        node.events.compactMap {
            guard case .inviteDone(let chat, let answers, let line) = $0 else { return nil }
            let list = answers.map { "\($0.0.label) \($0.1.rawValue)" }.joined(separator: ", ")
            return "\(line ?? 0) \(chat == nil ? "-" : "chat"): \(list)"
        }
    }

    @Test("Nothing depends on a connection that only shook hands, or whose chat has been left")
    func use() throws {
        let network = MachineNetwork(2, seed: 1) { $0.invitations = .all }
        network.nodes.indices.forEach { #expect(!network.hasUse($0, of: 1 - $0)) }
        network.scheduleInvite(from: 0, to: [1])
        try network.settle()
        network.nodes.indices.forEach { #expect(network.hasUse($0, of: 1 - $0)) }
        network.schedule(1) { _ = $0.leave(at: $1) }
        try network.settle()
        network.nodes.indices.forEach { #expect(!network.hasUse($0, of: 1 - $0)) }
        var machine = network.nodes[0].machine
        let remote = RemotePeer(peer: network.nodes[1].peer, key: network.nodes[1].key.publicKey.spki)
        machine.opened(ConnectionID(99), remote)
        #expect(!machine.hasUse(for: ConnectionID(99)))
    }

    @Test(
        "An invitation that gives way to another's chat is told of once, with that chat and who is in it",
        arguments: 0..<20 as Range<UInt64>)
    func givenWay(seed: UInt64) throws {
        let network = MachineNetwork(4, seed: seed)
        invite([0, 1, 3], by: 2, line: 7, in: network)
        invite([2, 1], by: 0, line: 1, in: network)
        try network.settle()
        #expect(done(network.nodes[2]).isEmpty)
        let host = network.id(0)
        network.schedule(1) { machine, moment in
            for question in machine.questions where question.from.peer.id == host {
                _ = machine.accept(.number(question.number), line: nil, at: moment)
            }
        }
        try network.settle()
        try network.advance(Limits.answer + 1)
        #expect(network.nodes[2].machine.currentView?.host.id == network.id(0))
        let isIn = network.nodes[0].machine.currentView?.members.contains(network.nodes[1].peer) == true
        #expect(done(network.nodes[2]) == ["7 chat: 0 accepted, 1 \(isIn ? "accepted" : "timeout"), 3 timeout"])
    }

    @Test("An invitation answered by accepting theirs names everyone once, when their chat has come to nothing too")
    func theirsIsTaken() throws {
        let network = MachineNetwork(3, seed: 3)
        invite([2], by: 0, line: 1, in: network)
        try network.settle()
        invite([0, 1], by: 2, line: 5, in: network)
        try network.settle()
        #expect(done(network.nodes[2]) == ["5 chat: 0 accepted, 1 timeout"])

        let other = MachineNetwork(3, seed: 4)
        other.tamper = { _, _, message in if case .welcome = message { [] } else { [message] } }
        invite([2], by: 0, line: 1, in: other)
        try other.settle()
        invite([0, 1], by: 2, line: 5, in: other)
        try other.settle()
        #expect(done(other.nodes[2]).isEmpty)
        try other.lose(0, 2)
        #expect(done(other.nodes[2]) == ["5 -: 0 timeout, 1 timeout"])
    }

    @Test("Who invites one more gives them their whole time, and those who accepted first do not wait for it")
    func oneMore() throws {
        let network = MachineNetwork(4, seed: 5)
        invite([1, 2], by: 0, line: 1, in: network)
        try network.settle()
        try accept(1, in: network)
        try network.advance(Limits.answer - 1)
        invite([3], by: 0, line: 2, in: network)
        try network.settle()
        try network.advance(2)
        #expect(network.nodes[0].machine.currentView?.members.map(\.id) == [network.id(1)])
        #expect(network.nodes[1].machine.currentView != nil)
        #expect(network.nodes[2].machine.questions.isEmpty)
        try network.advance(Limits.answer - 5)
        #expect(network.nodes[3].machine.questions.count == 1)
        try accept(3, in: network)
        #expect(Set(network.nodes[0].machine.currentView?.members.map(\.id) ?? []) == [network.id(1), network.id(3)])
        #expect(done(network.nodes[0]) == ["1 chat: 1 accepted, 2 timeout", "2 chat: 3 accepted"])
    }

    @Test("When nobody has accepted in time, the first who does starts the chat")
    func lateStart() throws {
        let network = MachineNetwork(4, seed: 6)
        invite([1], by: 0, line: 1, in: network)
        try network.settle()
        try network.advance(Limits.answer - 1)
        invite([2, 3], by: 0, line: 2, in: network)
        try network.settle()
        try network.advance(2)
        #expect(network.nodes[0].machine.currentView == nil)
        try accept(3, in: network)
        #expect(network.nodes[0].machine.currentView?.members.map(\.id) == [network.id(3)])
        try network.advance(Limits.answer)
        #expect(done(network.nodes[0]) == ["1 chat: 1 timeout", "2 chat: 2 timeout, 3 accepted"])
        #expect(network.nodes[0].machine.deadline == nil)
    }

    @Test("Who is held back while an own invitation is under way is answered as soon as that has failed")
    func heldBack() throws {
        let network = MachineNetwork(2, seed: 7)
        network.tamper = { from, _, message in
            guard from == 1, case .answer(let answer) = message, let join = answer.join else { return [message] }
            let forged = SignedBytes(bytes: join.bytes, signature: [UInt8](repeating: 0, count: 64))
            return [.answer(InviteAnswer(chat: answer.chat, accepting: forged))]
        }
        network.scheduleInvite(from: 0, to: [1])
        network.scheduleInvite(from: 1, to: [0])
        try network.settle()
        for node in network.nodes { #expect(node.machine.held.isEmpty) }
    }

    @Test("Sending files to someone who has invited is no answer to that invitation", arguments: [0, 1])
    func filesAreNoAnswer(sender: Int) throws {
        let network = MachineNetwork(2, seed: 8)
        let body = network.offer(1, by: sender, to: [1 - sender])
        network.scheduleInvite(from: 1 - sender, to: [sender])
        try network.settle()
        let other = invitation(1 - sender, in: network)
        network.schedule(sender) {
            $0.settings.maximumChats = 2
            _ = $0.invite([other], purpose: .file, offer: body, stallAfter: 60, line: 1, at: $1)
        }
        try network.settle()
        #expect(network.nodes[sender].machine.currentView == nil)
        #expect(network.nodes[sender].machine.questions.map(\.from.peer.id) == [network.id(1 - sender)])
    }

    @Test(
        "Strangers with many keys at one address leave room for questions from elsewhere, and from those who are known")
    func manyKeys() throws {
        let network = MachineNetwork(12, seed: 9)
        for node in 0..<9 {
            network.sources[node] = [10, 0, 0, 66]
            network.scheduleInvite(from: node, to: [11])
        }
        try network.settle()
        #expect(network.nodes[11].machine.questions.count == Limits.questionsPerSource)
        network.sources[9] = [10, 0, 0, 7]
        network.scheduleInvite(from: 9, to: [11])
        try network.settle()
        network.sources[10] = [10, 0, 0, 66]
        let friend = KnownPeer(peer: network.nodes[10].peer, firstSeen: nil, lastSeen: nil, trust: .neutral)
        network.schedule(11) { machine, _ in machine.settings.acquaintances = Acquaintances([friend]) }
        try network.settle()
        network.scheduleInvite(from: 10, to: [11])
        try network.settle()
        let askers = Set(network.nodes[11].machine.questions.map(\.from.peer.id))
        #expect(askers.isSuperset(of: [network.id(9), network.id(10)]) && askers.count == 4)
    }

    @Test("Strangers from many addresses leave room for someone who is known")
    func manyAddresses() throws {
        let network = MachineNetwork(12, seed: 10)
        let friend = KnownPeer(peer: network.nodes[10].peer, firstSeen: nil, lastSeen: nil, trust: .trusted)
        network.schedule(11) { machine, _ in machine.settings.acquaintances = Acquaintances([friend]) }
        try network.settle()
        for node in 0..<10 {
            network.sources[node] = [10, 0, 0, UInt8(node)]
            network.scheduleInvite(from: node, to: [11])
        }
        try network.settle()
        #expect(network.nodes[11].machine.questions.count == Limits.strangersQuestions)
        network.scheduleInvite(from: 10, to: [11])
        try network.settle()
        let friendID = network.id(10)
        #expect(network.nodes[11].machine.questions.contains { $0.from.peer.id == friendID })
    }
}
