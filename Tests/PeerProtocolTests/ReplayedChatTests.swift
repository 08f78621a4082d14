import PeerModel
import PeerTLS
import PeerWire
import Testing

@testable import PeerProtocol

/// A host that shows a chat of the past, with everybody's real signatures, as one of today.
@Suite("A chat that is shown again")
struct ReplayedChatTests {
    /// What node 2 was shown by the host in a chat that is over: the invitation to it, the welcome, and what node 1 said.
    private struct Past {
        var invite: Invite?
        var welcome: Welcome?
        var events: [(n: UInt64, bytes: [UInt8])] = []
    }

    private func replay(seed: UInt64) throws -> (MachineNetwork, Past) {
        let network = MachineNetwork(3, seed: seed) { $0.invitations = .all }
        var past = Past()
        network.tamper = { from, to, message in
            guard from == 0, to == 2 else { return [message] }
            switch message {
            case .invite(let invite): past.invite = invite
            case .welcome(let welcome): past.welcome = welcome
            case .event(let n, let bytes): past.events.append((n, bytes))
            default: break
            }
            return [message]
        }
        network.scheduleInvite(from: 0, to: [1, 2])
        try network.settle()
        for text in ["yes", "I agree"] {
            network.scheduleLine(text, by: 1)
            try network.settle()
        }
        network.schedule(0) { _ = $0.end(at: $1) }
        try network.settle()
        // The same chat again, for node 2 alone.
        let invite = try #require(past.invite)
        network.tamper = { from, _, message in
            if from == 0, case .invite = message { [.invite(invite)] } else { [message] }
        }
        network.scheduleInvite(from: 0, to: [2])
        try network.settle()
        return (network, past)
    }

    private func shownAsNew(_ node: MachineNetwork.Node) -> [String] {
        node.events.compactMap {
            if case .message(let message) = $0, !message.isEarlier { message.text } else { nil }
        }
    }

    @Test("The welcome and the lines of an old chat are not taken for those of a new one with its ID")
    func wholeChat() throws {
        let (network, past) = try replay(seed: 1)
        let before = shownAsNew(network.nodes[2])
        #expect(before == ["yes", "I agree"])
        try network.inject(.welcome(try #require(past.welcome)), from: 0, to: 2)
        for event in past.events where network.nodes[2].machine.memberChat != nil {
            try network.inject(.event(n: event.n, bytes: event.bytes), from: 0, to: 2)
        }
        #expect(shownAsNew(network.nodes[2]) == before)
    }

    /// A welcome that is right in itself: the join that was just signed behind event `n` with this hash.
    private func enter(_ network: MachineNetwork, behind before: EventReference, _ past: Past) throws {
        let chat = try #require(past.welcome).chat
        guard case .joining(let joining)? = network.nodes[2].machine.slots[chat] else {
            Issue.record("it did not accept")
            return
        }
        let signed = SignedBytes(bytes: joining.join, signature: network.nodes[2].key.sign(joining.join))
        let joined = ChatEvent(time: 0, body: .joined(signed)).bytes()
        let other = try #require(past.welcome).joined.compactMap { bytes -> SignedBytes? in
            guard case .joined(let signed)? = (try? ChatEvent(parsing: bytes))?.body,
                let join = try? Join(parsing: signed.bytes), join.name.description == "Peer 1"
            else { return nil }
            return signed
        }
        let welcome = Welcome(chat: chat, before: before, members: other, joined: [joined])
        try network.inject(.welcome(welcome), from: 0, to: 2)
        #expect(network.nodes[2].machine.memberChat?.view.members.count == 2)
    }

    @Test(
        "Old lines behind the own join of today do not fit its hash, or are shown as earlier", arguments: [true, false])
    func oldLines(isFarOn: Bool) throws {
        let (network, past) = try replay(seed: 2)
        let before = shownAsNew(network.nodes[2])
        let n: UInt64 = isFarOn ? 100 : 1
        let hash = try #require(Digest([UInt8](repeating: 7, count: Digest.size)))
        try enter(network, behind: EventReference(n: n, hash: hash), past)
        try network.inject(.event(n: n + 2, bytes: try #require(past.events.first).bytes), from: 0, to: 2)
        #expect(shownAsNew(network.nodes[2]) == before)
        let warnings = network.nodes[2].events.compactMap {
            if case .warning(let code, _, _) = $0 { code } else { nil }
        }
        #expect(warnings == (isFarOn ? [] : [.splitView]))
    }

    @Test("An offer from before the own join is declined unasked, even where everything is taken")
    func oldOffer() throws {
        let network = MachineNetwork(3, seed: 3) { ($0.invitations, $0.files) = (.all, .all) }
        var held: SignedBytes?
        network.scheduleInvite(from: 0, to: [1, 2])
        try network.settle()
        network.tamper = { from, _, message in
            guard from == 1, case .say(let signed) = message else { return [message] }
            held = signed
            return []
        }
        let body = network.offer(1, by: 1, to: [2])
        network.schedule(1) { _ = $0.offer(body, line: nil, at: $1) }
        try network.settle()
        network.schedule(2) { _ = $0.leave(at: $1) }
        try network.settle()
        network.scheduleInvite(from: 0, to: [2])
        try network.settle()
        try network.inject(.say(try #require(held)), from: 1, to: 0)
        #expect(network.nodes[2].machine.currentView?.transfers[body.transfer]?.answer == false)
        let isReceiving = network.nodes[2].orders.contains { if case .receive = $0 { true } else { false } }
        #expect(!isReceiving)
    }
}
