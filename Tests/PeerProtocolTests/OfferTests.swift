import PeerModel
import PeerTLS
import PeerWire
import Testing

@testable import PeerProtocol

/// What members answer to offers, and who is told what of it.
@Suite("Offers in a chat")
struct OfferTests {
    private func offer(_ body: OfferBody, by node: Int, in network: MachineNetwork) throws {
        network.schedule(node) { _ = $0.offer(body, line: nil, at: $1) }
        try network.settle()
    }

    /// What a command is answered, `done` when it did something.
    private func reply(
        _ node: Int, in network: MachineNetwork, _ act: @escaping (inout NodeMachine, Moment) -> Reply
    ) throws -> String {
        var text = "none"
        network.schedule(node) { machine, moment in
            switch act(&machine, moment) {
            case .done: text = "done"
            case .failed(let error): text = error.code.rawValue
            default: text = "other"
            }
        }
        try network.settle()
        return text
    }

    private func results(_ node: MachineNetwork.Node) -> [String] {
        node.events.compactMap {
            guard case .fileDelivered(_, let result) = $0 else { return nil }
            return "\(result.peer.name) \(result.status.rawValue) \(result.reason?.rawValue ?? "-")"
        }
    }

    @Test("A host that accepts after the sender has given everything and gone still takes the files")
    func senderGone() throws {
        let network = try MachineNetwork.chat(of: 4, seed: 1)
        let body = network.offer(1, by: 1, to: [0, 2, 3])
        try offer(body, by: 1, in: network)
        network.schedule(2) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        network.schedule(0) { $0.transfer(.stored(body.transfer), at: $1) }
        try network.settle()
        network.schedule(1) { _ = $0.leave(at: $1) }
        try network.settle()
        network.schedule(0) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        #expect(
            network.nodes[0].orders.contains {
                if case .receive(body.transfer, _, _, let source) = $0 { source.connection == nil } else { false }
            })
    }

    @Test("What happened at the host's disk is the host's result; the others only have lost their source")
    func hostsTrouble() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 2)
        let body = network.offer(1, by: 1, to: [0, 2])
        try offer(body, by: 1, in: network)
        for node in [0, 2] { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        network.schedule(0) { $0.transfer(.sourceFailed(body.transfer, .diskFull), at: $1) }
        try network.settle()
        #expect(Set(results(network.nodes[2])) == ["Peer 0 failed disk-full", "Peer 2 failed lost"])
        let other = network.offer(2, by: 1, to: [0, 2])
        try offer(other, by: 1, in: network)
        network.schedule(0) { $0.transfer(.sourceFailed(other.transfer, .corrupt), at: $1) }
        try network.settle()
        #expect(Set(results(network.nodes[2]).suffix(2)) == ["Peer 0 failed corrupt", "Peer 2 failed corrupt"])
    }

    @Test("An answer that changes nothing is said to have failed, and is not told to anyone")
    func answeredAlready() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 3)
        var isHeld = false
        network.tamper = { from, to, message in
            if isHeld, from == 0, to == 2, case .event = message { [] } else { [message] }
        }
        let body = network.offer(1, by: 1, to: [0, 2])
        try offer(body, by: 1, in: network)
        let number = try #require(network.nodes[2].machine.currentView?.transfers[body.transfer]?.offer.number)
        isHeld = true
        #expect(try reply(2, in: network) { $0.decline(.number(number), line: nil, at: $1) } == "done")
        #expect(try reply(2, in: network) { $0.decline(.number(number), line: nil, at: $1) } == "no-such-number")
        #expect(try reply(2, in: network) { $0.accept(.number(number), line: nil, at: $1) } == "no-such-number")
        #expect(try reply(1, in: network) { $0.accept(.number(1), line: nil, at: $1) } == "no-such-number")
        let before = network.nodes[1].events.count
        for _ in 0..<3 {
            try network.inject(.respond(transfer: body.transfer, accept: false, automatic: false), from: 2, to: 0)
        }
        #expect(network.nodes[1].events.count == before)
    }

    @Test("Who leaves says what became of its own copy, and nothing of those who go on")
    func leftBehind() throws {
        let network = try MachineNetwork.chat(of: 4, seed: 7)
        let body = network.offer(1, by: 0, to: [1, 2])
        try offer(body, by: 0, in: network)
        for node in [1, 2] { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        network.schedule(1) { _ = $0.leave(at: $1) }
        network.schedule(3) { _ = $0.leave(at: $1) }
        try network.settle()
        #expect(results(network.nodes[1]) == ["Peer 1 failed left"])
        #expect(results(network.nodes[3]).filter { $0.hasPrefix("Peer 2") }.isEmpty)
        network.schedule(0) { _ = $0.end(at: $1) }
        try network.settle()
        #expect(Set(results(network.nodes[2])) == ["Peer 1 failed left", "Peer 2 failed left"])
    }

    @Test("Only who sends or receives files can stop them")
    func cancelOfOthers() throws {
        let network = try MachineNetwork.chat(of: 4, seed: 4)
        let body = network.offer(1, by: 1, to: [2])
        try offer(body, by: 1, in: network)
        #expect(try reply(3, in: network) { $0.cancel(.number(1), at: $1) } == "no-such-number")
        #expect(try reply(0, in: network) { $0.cancel(.number(1), at: $1) } == "no-such-number")
        #expect(network.nodes[1].machine.currentView?.transfers[body.transfer]?.isDone == false)
        #expect(try reply(2, in: network) { $0.cancel(.number(1), at: $1) } == "done")
        #expect(network.nodes[1].machine.currentView?.transfers[body.transfer]?.isDone == true)
    }

    @Test("Saying the same again is no progress: a recipient that does nothing is given up, whatever it says")
    func idleWords() throws {
        let network = MachineNetwork(2, seed: 5)
        let body = network.offer(1, by: 0, to: [1])
        let invitation = NodeMachine.Invitation(
            target: .peer(network.id(1), addresses: []), label: "1", peer: network.nodes[1].peer)
        network.schedule(0) {
            _ = $0.invite([invitation], purpose: .file, offer: body, stallAfter: 60, line: 1, at: $1)
        }
        try network.settle()
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        let ticket = [UInt8](repeating: 1, count: 16)
        for _ in 0..<5 {
            try network.advance(10)
            try network.inject(.progress(transfer: body.transfer, peer: nil, bytes: 5), from: 1, to: 0)
            try network.inject(.get(Get(transfer: body.transfer, ticket: ticket, piece: 0)), from: 1, to: 0)
        }
        #expect(network.nodes[0].machine.deliveryView != nil)
        try network.advance(21)
        #expect(results(network.nodes[0]) == ["Peer 1 failed stalled"])
    }

    @Test("Who offers the same files again after they have ended is not thrown out, and all follow the new offer")
    func offeredAgain() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 9)
        let body = network.offer(1, by: 1, to: [0, 2])
        for round in 1...3 {
            try offer(body, by: 1, in: network)
            network.schedule(2) { _ = $0.accept(nil, line: nil, at: $1) }
            try network.settle()
            network.schedule(0) { $0.transfer(.sourceFailed(body.transfer, .lost), at: $1) }
            try network.settle()
            for node in network.nodes {
                let view = try #require(node.machine.currentView)
                #expect(view.transferOrder == [body.transfer] && view.transfers[body.transfer]?.isDone == true)
                #expect(view.members.count == 2)
            }
            #expect(results(network.nodes[1]).count == 2 * round)
        }
    }

    @Test("A sender that came back may offer again what is still passed on: the former offer ends first")
    func passedOnStill() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 10)
        let body = network.offer(1, by: 1, to: [0, 2])
        try offer(body, by: 1, in: network)
        network.schedule(2) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        try offer(body, by: 1, in: network)
        for node in network.nodes {
            let view = try #require(node.machine.currentView)
            #expect(view.members.count == 2 && view.transfers[body.transfer]?.isDone == false)
        }
        #expect(Set(results(network.nodes[2])) == ["Peer 0 failed lost", "Peer 2 failed lost"])
    }

    @Test("A transfer is another one only while it is under way, or when all have it")
    func used() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 11)
        let body = network.offer(1, by: 0, to: [1, 2]), both = [network.id(1), network.id(2)]
        func isUsed(_ recipients: [PeerID]) throws -> Bool {
            let machine = network.nodes[0].machine
            return machine.isUsed(body.transfer, in: machine.chats.first, to: recipients)
        }
        try #expect(!isUsed(both))
        try offer(body, by: 0, in: network)
        try #expect(isUsed(both))
        for node in [1, 2] { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        network.schedule(1) { $0.transfer(.received(body.transfer, .verified, nil), at: $1) }
        network.schedule(2) { $0.transfer(.received(body.transfer, .failed, .lost), at: $1) }
        try network.settle()
        try #expect(!isUsed(both) && isUsed([network.id(1)]) && !isUsed([network.id(2)]))
    }

    @Test("Where nobody can be is not where a recipient continues")
    func continuesBeyond() throws {
        let network = try MachineNetwork.chat(of: 2, seed: 12)
        let body = network.offer(1, by: 0, to: [1])
        try offer(body, by: 0, in: network)
        network.schedule(1) { _ = $0.accept(nil, line: nil, at: $1) }
        try network.settle()
        let ticket = [UInt8](repeating: 1, count: 16)
        try network.inject(.get(Get(transfer: body.transfer, ticket: ticket, piece: 1 << 30)), from: 1, to: 0)
        #expect(
            !network.nodes[0].events.contains {
                if case .fileProgress(let progress) = $0 { progress.from != nil } else { false }
            })
    }

    @Test("Offers to people who are not there leave nothing behind that grows")
    func inventedRecipients() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 6)
        for number in 0..<40 as Range<UInt8> {
            let body = network.offer(number, by: 1, to: [])
            let strangers = (0..<8 as Range<UInt8>).map { PeerID(SHA256.hash([number, $0])) }.sorted()
            let invented = OfferBody(
                transfer: body.transfer, nonce: body.nonce, size: body.size, entries: body.entries, files: body.files,
                manifestLength: body.manifestLength, manifestHash: body.manifestHash, recipients: strangers,
                names: body.names)
            try offer(invented, by: 1, in: network)
        }
        guard case .hosting(let host, _)? = network.nodes[0].machine.slots.values.first else {
            Issue.record("the chat is over")
            return
        }
        #expect(host.view.transfers.count == 40)
        #expect(host.moves.count <= 2)
    }

    @Test("A host that shows another answer behind the end of a transfer changes nothing of it")
    func secondAnswer() throws {
        let network = try MachineNetwork.chat(of: 3, seed: 8)
        let body = network.offer(1, by: 0, to: [1, 2])
        try offer(body, by: 0, in: network)
        for node in [1, 2] { network.schedule(node) { _ = $0.accept(nil, line: nil, at: $1) } }
        try network.settle()
        for node in [1, 2] { network.schedule(node) { $0.transfer(.received(body.transfer, .verified, nil), at: $1) } }
        try network.settle()
        let before = results(network.nodes[2])
        #expect(Set(before) == ["Peer 1 verified -", "Peer 2 verified -"])
        let events: [ChatEvent.Body] = [
            .answered(body.transfer, by: network.id(1), accepted: true, automatic: false),
            .result(body.transfer, of: network.id(1), .failed, .corrupt),
        ]
        for event in events {
            let last = try #require(network.nodes[2].machine.memberChat?.last)
            let bytes = ChatEvent(time: 0, body: event).bytes()
            try network.inject(.event(n: last.n + 1, bytes: bytes), from: 0, to: 2)
        }
        #expect(results(network.nodes[2]) == before)
    }
}
