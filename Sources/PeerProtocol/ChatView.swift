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
    }

    /// An own statement that was sent and not yet ordered.
    struct Pending: Sendable {
        let ref: Int
        let line: Int?
        let isOffer: Bool
    }

    package let chat: ChatID
    package let me: Peer
    package let host: Peer
    /// In the order they joined, the host left out.
    package private(set) var members: [Peer] = []
    private(set) var participants: [PeerID: Participant] = [:]
    /// Everyone who ever was in, since transfers and late checks name those who left.
    private var names: [PeerID: Peer] = [:]

    /// Of each author's last statement that was ordered; kept when they leave, so that no old line can be shown again.
    private(set) var counters: [PeerID: UInt64] = [:]

    /// This peer's own *joined* event, 0 for the host: what refers to one before it may be an old line, shown again.
    private(set) var entered: UInt64 = 0

    // Own statements.
    private var counter: UInt64 = 0
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

    /// Whether someone may still join: everyone who was ever in may have stated something.
    func hasRoom(for id: PeerID) -> Bool { names[id] != nil || names.count < Limits.authors }

    /// How many own lines may be under way: with a fair share for each, the host can tell of all of them.
    var linesOnTheirWay: Int { max(16, Limits.linesOnTheirWay / (members.count + 1)) }

    mutating func remove(_ id: PeerID) {
        members.removeAll { $0.id == id }
        participants[id] = nil
    }

    /// Goes on where the chat is, for who joins it late or again.
    mutating func resume(_ counters: [PeerID: UInt64]) {
        self.counters = counters
        counter = counters[me.id] ?? 0
    }

    mutating func enter(at event: UInt64) { entered = event }

    /// The number of the next own statement; it is remembered until the host has ordered it.
    mutating func claimCounter(ref: Int, line: Int?, isOffer: Bool) -> UInt64 {
        counter += 1
        pending[counter] = Pending(ref: ref, line: line, isOffer: isOffer)
        return counter
    }

    /// Own offers that have not ended, those that wait to be ordered too.
    var openOwnOffers: Int { openOffers(of: me.id) + pending.values.count(where: \.isOffer) }

    private func openOffers(of author: PeerID) -> Int {
        transfers.values.count { $0.offer.from.id == author && !$0.isDone }
    }

    mutating func settle(_ counter: UInt64) -> Pending? { pending.removeValue(forKey: counter) }

    mutating func advance(_ author: PeerID, to counter: UInt64) { counters[author] = counter }

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

    /// What happened, for people.
    var sentence: String {
        switch self {
        case .malformed(let text), .badSignature(let text), .splitView(let text): text
        }
    }
}

extension ChatView {
    /// Checks a statement before it is ordered (by the host) or believed (by a member).
    ///
    /// What it refers to is checked if it is still known; a member may have joined after that.
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
        guard statement.counter == (counters[statement.author] ?? 0) + 1 else {
            throw .badSignature("a line of \(author.peer.id.short) was left out, repeated or moved")
        }
        if chain.compare(statement.seen) == .differs {
            throw .splitView("\(author.peer.id.short) was shown another order of this chat")
        }
        if case .offer(let body) = statement.body { try check(body, by: statement.author, environment) }
        return statement
    }

    private func check(_ offer: OfferBody, by author: PeerID, _ environment: Environment) throws(Violation) {
        let id = environment.hash(
            TransferLayout.identity(sender: author, nonce: offer.nonce, manifestHash: offer.manifestHash))
        guard TransferID(id) == offer.transfer else { throw .badSignature("an offer under another transfer's ID") }
        guard transfers[offer.transfer]?.isDone != false else { throw .malformed("an offer that is open already") }
        guard offer.recipients.contains(where: { $0 != author }) else { throw .malformed("an offer to nobody") }
        guard openOffers(of: author) < Limits.openOffers else {
            throw .malformed("too many offers of \(author.short) are open")
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
