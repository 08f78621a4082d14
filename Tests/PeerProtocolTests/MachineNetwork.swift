import PeerModel
import PeerTLS
import PeerWire
import TestSupport
import Testing

@testable import PeerProtocol

extension NodeMachine {
    /// The chat that began first, as everyone in it sees it.
    var currentView: ChatView? { chats.first.flatMap(view(of:)) }

    /// What this peer sees of a chat that began for a file.
    var deliveryView: ChatView? { slots.keys.filter { !chats.contains($0) }.compactMap(view(of:)).first }

    /// The chat this peer is a member of.
    var memberChat: MemberChat? {
        for case .member(let chat) in slots.values { return chat }
        return nil
    }
}

/// Machines joined in memory: frames of one connection stay in order, everything else happens in a seeded order.
final class MachineNetwork {
    struct Node {
        let key: SigningKey
        let peer: Peer
        var machine: NodeMachine
        var events: [NodeEvent] = []
        /// What its file side was told to do.
        var orders: [TransferOrder] = []
    }

    private enum Item {
        case frame(ControlMessage)
        case close
    }

    private struct Way: Hashable {
        let connection: ConnectionID
        let to: Int
    }

    private enum Step {
        case dial(node: Int, DialID, DialTarget)
        case deliver(Way)
        case act(Int)
    }

    /// Ordered by ID.
    private(set) var nodes: [Node] = []
    private var ends: [ConnectionID: (Int, Int)] = [:]
    private var closed: Set<Way> = []
    private var dials: [(node: Int, id: DialID, target: DialTarget)] = []
    private var queues: [(way: Way, items: [Item])] = []
    private var actions: [(node: Int, act: (inout NodeMachine, Moment) -> Void)] = []
    private var generator: SeededGenerator
    private(set) var moment = Moment(now: Instant(nanoseconds: 0), wall: 0)
    /// Where a node's connections come from, as limits on strangers see it.
    var sources: [Int: [UInt8]] = [:]
    /// What a lying host makes of a frame: sender, receiver, frame.
    var tamper: (Int, Int, ControlMessage) -> [ControlMessage] = { _, _, message in [message] }

    init(_ count: Int, seed: UInt64, _ change: (inout Policy) -> Void = { _ in }) {
        generator = SeededGenerator(seed: seed)
        var policy = Policy()
        change(&policy)
        let keys = (0..<count).map { _ in SigningKey.generate() }.sorted { $0.publicKey.peerID < $1.publicKey.peerID }
        for (index, key) in keys.enumerated() {
            let peer = Peer(id: key.publicKey.peerID, name: "Peer \(index)")
            let environment = Environment(
                hash: { SHA256.hash($0) }, sign: { key.sign($0) },
                isValid: { PublicKey(spki: $2)?.isValid(signature: $0, for: $1) ?? false },
                random: { count in (0..<count).map { _ in UInt8.random(in: 0...255) } })
            let local = LocalPeer(peer: peer, key: key.publicKey.spki)
            nodes.append(
                Node(
                    key: key, peer: peer, machine: NodeMachine(me: local, settings: policy, environment: environment)))
        }
    }

    /// Node 0 hosts the first `count` of all nodes, which accept every invitation.
    static func chat(of count: Int, among all: Int? = nil, seed: UInt64) throws -> MachineNetwork {
        let network = MachineNetwork(all ?? count, seed: seed) { $0.invitations = .all }
        network.scheduleInvite(from: 0, to: Array(1..<count))
        try network.settle()
        try #require(network.nodes[0].machine.currentView?.members.count == count - 1)
        return network
    }

    func id(_ node: Int) -> PeerID { nodes[node].peer.id }

    /// Something a user does, at any time from now on.
    func schedule(_ node: Int, _ act: @escaping (inout NodeMachine, Moment) -> Void) { actions.append((node, act)) }

    func scheduleInvite(from node: Int, to others: [Int]) {
        let all = others.map { other in
            NodeMachine.Invitation(target: .peer(id(other), addresses: []), label: "\(other)", peer: nodes[other].peer)
        }
        schedule(node) { _ = $0.invite(all, line: nil, at: $1) }
    }

    /// Something that does not follow the protocol, put on the connection between two nodes.
    func inject(_ message: ControlMessage, from node: Int, to other: Int) throws {
        let connection = try #require(
            ends.keys.sorted { $0.value < $1.value }.last { connection in
                let ends = ends[connection].map { [$0.0, $0.1] } ?? []
                return ends.contains(node) && ends.contains(other) && way(connection, from: node) != nil
            })
        put(.frame(message), on: Way(connection: connection, to: other))
        try settle()
    }

    /// The connection between two nodes breaks: each hears of it, the first as a silence.
    func lose(_ node: Int, _ other: Int) throws {
        let connection = try #require(
            ends.first { _, ends in ends == (node, other) || ends == (other, node) }?.key)
        for end in [node, other] { closed.insert(Way(connection: connection, to: end)) }
        for end in [node, other] {
            nodes[end].machine.closed(connection, isSilent: end == node, at: moment)
            carryOut(end)
        }
        try settle()
    }

    /// Whether anything at `node` depends on a connection with another.
    func hasUse(_ node: Int, of other: Int) -> Bool {
        ends.contains { connection, ends in
            (ends == (node, other) || ends == (other, node)) && nodes[node].machine.hasUse(for: connection)
        }
    }

    func scheduleLine(_ text: String, by node: Int) { schedule(node) { _ = $0.say(text, line: nil, at: $1) } }

    /// An offer of one file, as `node` makes it.
    func offer(_ number: UInt8, by node: Int, to recipients: [Int]) -> OfferBody {
        let nonce = [UInt8](repeating: number, count: OfferBody.nonceSize), hash = SHA256.hash([number])
        let identity = TransferLayout.identity(sender: id(node), nonce: nonce, manifestHash: hash)
        return OfferBody(
            transfer: TransferID(SHA256.hash(identity)), nonce: nonce, size: 10, entries: 1, files: 1,
            manifestLength: 40, manifestHash: hash, recipients: recipients.map(id), names: ["f"])
    }

    /// Lets everything happen that needs no time.
    func settle() throws {
        var steps = 0
        while let step = nextStep() {
            steps += 1
            try #require(steps < 20_000, "the machines talk without end")
            take(step)
        }
    }

    /// Lets time pass at these nodes, or at all, and then everything happen that follows.
    func advance(_ seconds: Double, at some: [Int]? = nil) throws {
        moment = Moment(now: moment.now + seconds, wall: moment.wall + Int64(seconds * 1000))
        for node in (some ?? Array(nodes.indices)).shuffled(using: &generator) {
            nodes[node].machine.timerFired(at: moment)
            carryOut(node)
        }
        try settle()
    }

    private func nextStep() -> Step? {
        let all =
            dials.map { Step.dial(node: $0.node, $0.id, $0.target) } + queues.map { .deliver($0.way) }
            + actions.indices.map { .act($0) }
        return all.randomElement(using: &generator)
    }

    private func take(_ step: Step) {
        switch step {
        case .dial(let node, let dial, let target):
            dials.removeAll { $0.node == node && $0.id == dial }
            guard case .peer(let id, _) = target, let other = nodes.firstIndex(where: { $0.peer.id == id }) else {
                nodes[node].machine.dialFailed(dial, DialFailure(.unreachable, "nobody there"), at: moment)
                return carryOut(node)
            }
            let connection = ConnectionID(UInt64(ends.count))
            ends[connection] = (node, other)
            var caller = remote(node)
            caller.source = sources[node] ?? []
            nodes[other].machine.opened(connection, caller)
            nodes[node].machine.opened(connection, remote(other), by: dial, at: moment)
            carryOut(node)
        case .deliver(let way):
            guard let index = queues.firstIndex(where: { $0.way == way }) else { return }
            let item = queues[index].items.removeFirst()
            if queues[index].items.isEmpty { queues.remove(at: index) }
            guard !closed.contains(way) else { return }
            switch item {
            case .frame(let message): nodes[way.to].machine.receive(message, on: way.connection, at: moment)
            case .close:
                closed.insert(way)
                nodes[way.to].machine.closed(way.connection, isSilent: false, at: moment)
            }
            carryOut(way.to)
        case .act(let index):
            let action = actions.remove(at: index)
            action.act(&nodes[action.node].machine, moment)
            carryOut(action.node)
        }
    }

    private func remote(_ node: Int) -> RemotePeer {
        RemotePeer(peer: nodes[node].peer, key: nodes[node].key.publicKey.spki)
    }

    private func carryOut(_ node: Int) {
        for effect in nodes[node].machine.takeEffects() {
            switch effect {
            case .dial(let id, let target): dials.append((node, id, target))
            case .abandon(let id): dials.removeAll { $0.node == node && $0.id == id }
            case .send(let connection, let message):
                guard let way = way(connection, from: node) else { continue }
                for message in tamper(node, way.to, message) { put(.frame(message), on: way) }
            case .close(let connection):
                guard let way = way(connection, from: node) else { continue }
                put(.close, on: way)
                closed.insert(Way(connection: connection, to: node))
            case .emit(let event): nodes[node].events.append(event)
            case .transfer(let order): nodes[node].orders.append(order)
            }
        }
    }

    /// The way to the other side, while the own one is open.
    private func way(_ connection: ConnectionID, from node: Int) -> Way? {
        guard let (one, other) = ends[connection], !closed.contains(Way(connection: connection, to: node)) else {
            return nil
        }
        return Way(connection: connection, to: one == node ? other : one)
    }

    private func put(_ item: Item, on way: Way) {
        if let index = queues.firstIndex(where: { $0.way == way }) {
            queues[index].items.append(item)
        } else {
            queues.append((way, [item]))
        }
    }
}
