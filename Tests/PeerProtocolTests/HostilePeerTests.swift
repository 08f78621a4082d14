import PeerModel
import PeerTLS
import PeerWire
import Testing

@testable import PeerProtocol

/// Peers that follow the layout of frames and nothing else.
@Suite("Hostile peers")
struct HostilePeerTests {
    private func warnings(_ node: MachineNetwork.Node) -> [WarningCode] {
        node.events.compactMap { if case .warning(let code, _, _) = $0 { code } else { nil } }
    }

    /// The next event of the host for one member, whatever it says.
    private func show(_ body: ChatEvent.Body, to member: Int, in network: MachineNetwork) throws {
        let last = try #require(network.nodes[member].machine.memberChat?.last)
        try network.inject(.event(n: last.n + 1, bytes: ChatEvent(time: 0, body: body).bytes()), from: 0, to: member)
    }

    // MARK: Files that nobody accepted

    private func invite(_ other: Int, toTake body: OfferBody, in network: MachineNetwork) throws {
        let invitation = NodeMachine.Invitation(
            target: .peer(network.id(other), addresses: []), label: "\(other)", peer: network.nodes[other].peer)
        network.schedule(0) {
            _ = $0.invite([invitation], purpose: .file, offer: body, stallAfter: 60, line: 1, at: $1)
        }
        try network.settle()
    }

    @Test("Accepting an invitation for a file accepts that file, and nothing that comes after it")
    func onlyThePromised() throws {
        let network = MachineNetwork(2, seed: 1)
        let body = network.offer(1, by: 0, to: [1]), other = network.offer(2, by: 0, to: [1])
        try invite(1, toTake: body, in: network)
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        network.schedule(0) { machine, moment in
            for id in machine.slots.keys {
                machine.withHost(id) { $0.state(.offer(other), ref: 9, line: nil, at: moment, numbers: &$1) }
            }
        }
        try network.settle()
        let transfers = try #require(network.nodes[1].machine.deliveryView?.transfers)
        #expect(transfers[body.transfer]?.standing(of: network.id(1)) == .accepted)
        #expect(transfers[other.transfer]?.standing(of: network.id(1)) == .open)
    }

    @Test("An offer that is not what the invitation promised is asked about")
    func anotherThanPromised() throws {
        let network = MachineNetwork(2, seed: 2)
        network.tamper = { _, _, message in
            guard case .invite(let invite) = message else { return [message] }
            let small = OfferSummary(name: "f", size: 1, files: 1)
            return [.invite(Invite(chat: invite.chat, nonce: invite.nonce, purpose: .file, offer: small))]
        }
        let body = network.offer(1, by: 0, to: [1])
        try invite(1, toTake: body, in: network)
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        let record = network.nodes[1].machine.deliveryView?.transfers[body.transfer]
        #expect(record?.standing(of: network.id(1)) == .open)
    }

    @Test("Who invites someone to chat is not taken to want their files")
    func filesDoNotCross() throws {
        let network = MachineNetwork(2, seed: 3)
        let body = network.offer(1, by: 0, to: [1])
        network.scheduleInvite(from: 1, to: [0])
        try network.settle()
        try invite(1, toTake: body, in: network)
        #expect(network.nodes[1].machine.deliveryView == nil)
        #expect(network.nodes[1].orders.isEmpty)
    }

    // MARK: Answers and results

    @Test("A host that says a peer has taken files it has not is left")
    func forgedResult() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 4)
        let body = network.offer(1, by: 0, to: [1, 2])
        network.schedule(0) { _ = $0.offer(body, line: nil, at: $1) }
        try network.settle()
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        try show(.result(body.transfer, of: network.id(1), .verified, nil), to: 1, in: network)
        #expect(warnings(network.nodes[1]) == [.badSignature])
        #expect(network.nodes[1].machine.isIdle)
    }

    @Test("A host that answers an offer in a peer's name is left")
    func forgedAnswer() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 5)
        let body = network.offer(1, by: 0, to: [1, 2])
        network.schedule(0) { _ = $0.offer(body, line: nil, at: $1) }
        try network.settle()
        try show(.answered(body.transfer, by: network.id(1), accepted: true, automatic: true), to: 1, in: network)
        #expect(warnings(network.nodes[1]) == [.badSignature])
        let isReceiving = network.nodes[1].orders.contains { if case .receive = $0 { true } else { false } }
        #expect(!isReceiving)
    }

    @Test("A host that promises files and brings none is left after a while, and its place is free")
    func bringsNone() throws {
        let network = MachineNetwork(2, seed: 6)
        network.tamper = { from, _, message in
            if from == 0, case .event = message { [] } else { [message] }
        }
        try invite(1, toTake: network.offer(1, by: 0, to: [1]), in: network)
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        #expect(network.nodes[1].machine.deliveryView != nil && network.nodes[1].machine.isBusy)
        try network.advance(29)
        #expect(network.nodes[1].machine.isBusy)
        try network.advance(2)
        #expect(network.nodes[1].machine.slots.isEmpty && !network.nodes[1].machine.isBusy)
    }

    @Test("A recipient that accepts and then asks for nothing is given up after a while")
    func stalls() throws {
        let network = MachineNetwork(2, seed: 6)
        network.tamper = { from, _, message in
            if from == 1, case .get = message { [] } else { [message] }
        }
        let body = network.offer(1, by: 0, to: [1])
        try invite(1, toTake: body, in: network)
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        try network.advance(59)
        #expect(network.nodes[0].machine.deliveryView != nil)
        try network.advance(2)
        let results = network.nodes[0].events.compactMap {
            if case .fileDone(_, let results, _) = $0 { results.first?.reason } else { nil }
        }
        #expect(results == [.stalled])
        #expect(network.nodes[0].machine.isIdle && network.nodes[1].machine.isIdle)
    }

    // MARK: Frames where they do not belong

    @Test("A withdrawal in a running chat ends that connection at both ends, and leaves nobody behind")
    func withdrawal() throws {
        let network = try MachineNetwork.chat(of: 4, seed: 7)
        let chat = try #require(network.nodes[0].machine.chats.first)
        try network.inject(.withdraw(chat: chat, reason: .crossed), from: 1, to: 0)
        #expect(network.nodes[0].machine.currentView?.members.map(\.id) == [network.id(2), network.id(3)])
        #expect(network.nodes[1].machine.isIdle)
        let other = try #require(ChatID(bytes: [UInt8](repeating: 9, count: ChatID.size)))
        try network.inject(.withdraw(chat: other, reason: .withdrawn), from: 0, to: 2)
        #expect(network.nodes[2].machine.isIdle)
        #expect(network.nodes[0].machine.currentView?.members.map(\.id) == [network.id(3)])
    }

    @Test("One peer has one question open, whatever it sends; others are still asked about")
    func oneQuestionEach() throws {
        let network = MachineNetwork(4, seed: 8) { $0.maximumChats = 20 }
        for number in 0..<12 { try invite(3, toTake: network.offer(UInt8(number), by: 0, to: [3]), in: network) }
        network.scheduleInvite(from: 1, to: [3])
        try network.settle()
        #expect(Set(network.nodes[3].machine.questions.map(\.from.peer.id)) == [network.id(0), network.id(1)])
        #expect(network.nodes[3].machine.questions.count == 2)
        let told = network.nodes[3].events.count { if case .inviteRefused = $0 { true } else { false } }
        #expect(told == 1)
    }

    @Test("Another chat's ID in an invitation does not keep the real host out")
    func plantedChatID() throws {
        let network = MachineNetwork(3, seed: 9)
        network.scheduleInvite(from: 0, to: [2])
        try network.settle()
        let chat = try #require(network.nodes[2].machine.questions.first?.invite.chat)
        network.tamper = { from, _, message in
            guard from == 1, case .invite(let invite) = message else { return [message] }
            return [.invite(Invite(chat: chat, nonce: invite.nonce, purpose: .chat, offer: nil))]
        }
        network.scheduleInvite(from: 1, to: [2])
        try network.settle()
        let real = try #require(network.nodes[2].machine.questions.first { $0.from.peer.id == network.id(0) }).number
        network.schedule(2) { _ = $0.accept(.number(real), line: nil, at: $1) }
        try network.settle()
        #expect(network.nodes[2].machine.currentView?.host.id == network.id(0))
    }

    @Test("A line that may be from before the own time in the chat is shown as earlier")
    func earlier() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 10)
        network.schedule(2) { _ = $0.leave(at: $1) }
        try network.settle()
        network.scheduleLine("meanwhile", by: 1)
        try network.settle()
        var old: [UInt8]?
        network.tamper = { _, to, message in
            if to == 1, case .event(_, let bytes) = message { old = old ?? bytes }
            return [message]
        }
        network.scheduleInvite(from: 0, to: [2])
        try network.settle()
        network.scheduleLine("now", by: 1)
        try network.settle()
        let shown = network.nodes[2].events.compactMap {
            if case .message(let message) = $0 { message.isEarlier } else { nil }
        }
        #expect(shown == [false])
    }

    @Test("A host that shows more members than a chat may have is left", arguments: [true, false])
    func inventedMembers(areLeaving: Bool) throws {
        let network = try MachineNetwork.chat(of: 2, seed: 11)
        let chat = try #require(network.nodes[1].machine.chats.first)
        var count = 1
        while count <= Limits.authors, network.nodes[1].machine.memberChat != nil {
            let key = SigningKey.generate()
            let join = Join(
                chat: chat, host: network.id(0), nonce: [UInt8](repeating: 1, count: Join.nonceSize),
                memberNonce: [UInt8](repeating: 2, count: Join.nonceSize), key: key.publicKey.spki,
                name: try DisplayName("nobody"))
            let bytes = join.bytes()
            try show(.joined(SignedBytes(bytes: bytes, signature: key.sign(bytes))), to: 1, in: network)
            guard network.nodes[1].machine.memberChat != nil else { break }
            if areLeaving { try show(.left(key.publicKey.peerID, .left), to: 1, in: network) }
            count += 1
        }
        #expect(warnings(network.nodes[1]) == [.badSignature])
        #expect(count == (areLeaving ? Limits.authors - 1 : Limits.peersAtMost))
    }
}
