package import PeerModel
internal import PeerWire

/// One chat as everyone in it sees it: who is there, what was said and offered.
///
/// Built from the host's events alone, so that
/// host and members run the same code and agree.
package struct ChatView: Sendable {
    /// Someone in the chat and what is needed to check their statements.
    package struct Participant: Sendable {
        package let peer: Peer
        package let key: [UInt8]
        /// Of the last statement that was ordered.
        package var counter: UInt64 = 0
    }

    /// An own statement that was sent and not yet ordered.
    struct Pending: Sendable {
        let ref: Int
        let line: Int?
    }

    package let chat: ChatID
    package let me: Peer
    package let host: Peer
    /// In the order they joined, the host left out.
    package private(set) var members: [Peer] = []
    private(set) var participants: [PeerID: Participant] = [:]
    /// Everyone who ever was in, since transfers and late checks name those who left.
    private var names: [PeerID: Peer] = [:]

    // Own statements.
    private(set) var counter: UInt64 = 0
    private(set) var pending: [UInt64: Pending] = [:]

    var transfers: [TransferID: TransferRecord] = [:]
    var transferOrder: [TransferID] = []

    package init(chat: ChatID, me: Peer, host: Peer, hostKey: [UInt8]) {
        self.chat = chat
        self.me = me
        self.host = host
        participants[host.id] = Participant(peer: host, key: hostKey)
        names[host.id] = host
    }

    var isHost: Bool { me.id == host.id }

    func peer(_ id: PeerID) -> Peer { names[id] ?? Peer(id: id, name: id.short) }

    mutating func admit(_ join: Join, as id: PeerID) {
        let peer = Peer(id: id, name: join.name.description)
        members.append(peer)
        participants[id] = Participant(peer: peer, key: join.key)
        names[id] = peer
    }

    mutating func remove(_ id: PeerID) {
        members.removeAll { $0.id == id }
        participants[id] = nil
    }

    /// The number of the next own statement; it is remembered until the host has ordered it.
    mutating func claimCounter(ref: Int, line: Int?) -> UInt64 {
        counter += 1
        pending[counter] = Pending(ref: ref, line: line)
        return counter
    }

    mutating func settle(_ counter: UInt64) -> Pending? { pending.removeValue(forKey: counter) }

    mutating func advance(_ author: PeerID, to counter: UInt64) { participants[author]?.counter = counter }

    /// Own statements that will never be ordered, oldest first.
    mutating func takePending() -> [Pending] {
        defer { pending = [:] }
        return pending.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// What is wrong with an event or a statement.
enum Violation: Error, Equatable, Sendable {
    case malformed(String)
    case badSignature(String)
    case splitView(String)
    /// The reference is too old to be checked; only the host minds.
    case stale
}

extension ChatView {
    /// Checks a statement before it is ordered (by the host) or believed (by a member, who may have joined after the event
    /// it refers to and so cannot check that).
    func check(
        _ signed: SignedBytes, against chain: EventChain, by environment: Environment
    ) throws(Violation) -> Statement {
        guard let statement = try? Statement(parsing: signed.bytes) else {
            throw .malformed("a statement cannot be read")
        }
        guard statement.chat == chat, statement.host == host.id else {
            throw .badSignature("a line of another chat was shown as one of this")
        }
        guard let author = participants[statement.author] else {
            throw .badSignature("a line of someone who is not in the chat")
        }
        guard environment.isValid(signed.signature, signed.bytes, author.key) else {
            throw .badSignature("a line under the name of \(author.peer.id.short) that is not signed by them")
        }
        guard statement.counter == author.counter + 1 else {
            throw .badSignature("a line of \(author.peer.id.short) was left out, repeated or moved")
        }
        switch chain.compare(statement.seen) {
        case .matches: break
        case .unknown where isHost: throw .stale
        case .unknown: break
        case .differs: throw .splitView("\(author.peer.id.short) was shown another order of this chat")
        }
        if case .offer(let body) = statement.body { try check(body, by: statement.author, environment) }
        return statement
    }

    private func check(_ offer: OfferBody, by author: PeerID, _ environment: Environment) throws(Violation) {
        let id = environment.hash(
            TransferLayout.identity(sender: author, nonce: offer.nonce, manifestHash: offer.manifestHash))
        guard TransferID(id) == offer.transfer else { throw .badSignature("an offer under another transfer's ID") }
        guard transfers[offer.transfer] == nil else { throw .malformed("an offer that is open already") }
        guard transfers.values.count(where: { !$0.isDone }) < Limits.openOffers else {
            throw .malformed("too many offers are open")
        }
    }

    /// Checks a join that the host shows: it names this chat and this host, and its key signed it.
    func check(_ signed: SignedBytes, by environment: Environment) throws(Violation) -> (Join, PeerID) {
        guard let join = try? Join(parsing: signed.bytes) else { throw .malformed("a join cannot be read") }
        guard join.chat == chat, join.host == host.id else { throw .badSignature("a join to another chat") }
        guard environment.isValid(signed.signature, signed.bytes, join.key) else {
            throw .badSignature("a join that is not signed by its key")
        }
        let id = PeerID(environment.hash(join.key))
        guard participants[id] == nil else { throw .malformed("\(id.short) joined twice") }
        return (join, id)
    }
}
