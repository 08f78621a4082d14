package import PeerModel
internal import PeerWire

/// The host's side of one chat: it orders every event, shows it to all, and knows who has seen what.
package struct HostChat: Sendable {
    /// A member's connection and how far its acknowledgements are.
    struct Link {
        let connection: ConnectionID
        var seen: UInt64
    }

    var view: ChatView
    private var chain: EventChain
    private(set) var links: [PeerID: Link] = [:]
    private var joins: [PeerID: SignedBytes] = [:]
    private var deliveries = Deliveries()
    /// In a chat for files: what each recipient last did for them.
    var moves: [PeerID: Move] = [:]
    private let environment: Environment
    private(set) var isOver = false

    /// A chat for a file is over when the file is.
    let purpose: Purpose
    /// Of the command that began it.
    let line: Int?
    /// In a chat for files: how long a recipient may do nothing for them.
    let patience: Double?

    package init(
        chat: ChatID, me: LocalPeer, purpose: Purpose = .chat, line: Int? = nil, patience: Double? = nil,
        environment: Environment
    ) {
        view = ChatView(chat: chat, me: me.peer, host: me.peer, hostKey: me.key)
        chain = EventChain(chat: chat, host: me.peer.id, hash: environment.hash)
        self.environment = environment
        self.purpose = purpose
        self.line = line
        self.patience = patience
    }

    /// Whether all it was made for is done.
    var isFulfilled: Bool {
        purpose == .file && !view.transfers.isEmpty && view.transfers.values.allSatisfy(\.isDone)
    }

    // MARK: Members

    /// Takes those who accepted: orders their joins, then welcomes each.
    mutating func admit(
        _ joiners: [(signed: SignedBytes, connection: ConnectionID)], at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        var effects: [Effect] = []
        var welcomed: [PeerID: ConnectionID] = [:], joined: [[UInt8]] = []
        let isStart = view.members.isEmpty && chain.last.n == 0
        let before = chain.last, roster = view.members.compactMap { joins[$0.id] }
        for joiner in joiners {
            guard let (_, id) = try? view.check(joiner.signed, by: environment) else {
                effects.append(.close(joiner.connection))
                continue
            }
            guard view.hasRoom(for: id) else {
                effects += [
                    .send(joiner.connection, .withdraw(chat: view.chat, reason: .withdrawn)), .close(joiner.connection),
                ]
                continue
            }
            let event = ChatEvent(time: moment.wall, body: .joined(joiner.signed))
            let told = order(event, at: moment, numbers: &numbers)
            if !isStart { effects += told }
            joined.append(event.bytes())
            joins[id] = joiner.signed
            welcomed[id] = joiner.connection
        }
        for (id, connection) in welcomed { links[id] = Link(connection: connection, seen: chain.last.n) }
        let welcome = Welcome(
            chat: view.chat, before: before, members: roster, joined: joined, counters: view.counters)
        effects += welcomed.values.map { .send($0, .welcome(welcome)) }
        if isStart, !welcomed.isEmpty {
            let event = NodeEvent.chatStarted(
                chat: view.chat, role: .host, host: view.host, members: view.members, purpose: purpose)
            effects.insert(.emit(event), at: 0)
        }
        return effects
    }

    /// A member is gone; when it was the last, so is the chat.
    mutating func remove(
        _ id: PeerID, _ reason: DepartureReason, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard !isOver, let link = links.removeValue(forKey: id) else { return [] }
        joins[id] = nil
        moves[id] = nil
        var effects: [Effect] = [.close(link.connection)]
        effects += order(.left(id, reason), at: moment, numbers: &numbers)
        effects += dropFromTransfers(id, reason == .left ? .left : .lost, at: moment, numbers: &numbers)
        effects += deliveries.remove(id, isLost: reason != .left).flatMap(told)
        if links.isEmpty { effects += finish(.empty) }
        return effects
    }

    /// Ends the chat for all.
    mutating func end() -> [Effect] {
        guard !isOver else { return [] }
        let told = links.values.flatMap { [Effect.send($0.connection, .end(reason: .ended)), .close($0.connection)] }
        return told + finish(.ended)
    }

    private mutating func finish(_ reason: ChatEndReason) -> [Effect] {
        isOver = true
        links = [:]
        return view.close(reason)
    }

    package var connections: [PeerID: ConnectionID] { links.mapValues(\.connection) }

    // MARK: Statements

    /// Orders an own line or offer.
    mutating func state(
        _ body: Statement.Body, ref: Int, line: Int?, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        let counter = view.claimCounter(ref: ref, line: line, isOffer: body.isOffer)
        let statement = Statement(
            chat: view.chat, host: view.host.id, author: view.me.id, counter: counter, seen: chain.last,
            sent: moment.wall, body: body)
        let bytes = statement.bytes()
        let signed = SignedBytes(bytes: bytes, signature: environment.sign(bytes))
        return order(signed, statement, at: moment, numbers: &numbers)
    }

    /// Takes a member's line or offer.
    mutating func receive(
        _ signed: SignedBytes, from id: PeerID, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let link = links[id] else { return [] }
        guard let statement = try? Statement(parsing: signed.bytes), statement.author == id else {
            return remove(id, .crashed, at: moment, numbers: &numbers)
        }
        let ends = endFormer(statement, at: moment, numbers: &numbers)
        do {
            return ends
                + order(
                    signed, try view.check(signed, against: chain, by: environment), at: moment, numbers: &numbers)
        } catch {
            // Its counter is used up and cannot be ordered, so nothing that follows could be either.
            return ends + [.send(link.connection, .rejected(counter: statement.counter, reason: error.sentence))]
                + remove(id, .crashed, at: moment, numbers: &numbers)
        }
    }

    /// A sender that came back does not know what is still passed on of what it had offered: its new offer continues that.
    private mutating func endFormer(
        _ statement: Statement, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard case .offer(let body) = statement.body,
            view.transfers[body.transfer]?.offer.from.id == statement.author
        else { return [] }
        return sourceFailed(body.transfer, .lost, at: moment, numbers: &numbers)
    }

    private mutating func order(
        _ signed: SignedBytes, _ statement: Statement, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        let own = statement.author == view.me.id ? view.pending[statement.counter] : nil
        guard case .offer(let body) = statement.body else {
            let effects = order(.said(signed), at: moment, numbers: &numbers)
            let delivery = Deliveries.Delivery(
                n: chain.last.n, author: statement.author, own: own,
                missing: Set(links.keys.filter { $0 != statement.author }),
                deadline: moment.now + Limits.undeliveredAfter)
            return effects + deliveries.add(delivery).flatMap(told)
        }
        // Someone may have left while the offer was on its way.
        for id in body.recipients where links[id] != nil { moves[id] = Move(at: moment.now) }
        let gone = body.recipients.filter { links[$0] == nil && $0 != view.me.id && $0 != statement.author }
        return order(.offered(signed), at: moment, numbers: &numbers)
            + gone.flatMap { result(body.transfer, of: $0, .failed, .left, at: moment, numbers: &numbers) }
    }

    /// Gives an event its place and shows it to everyone.
    mutating func order(_ body: ChatEvent.Body, at moment: Moment, numbers: inout ItemNumbers) -> [Effect] {
        order(ChatEvent(time: moment.wall, body: body), at: moment, numbers: &numbers)
    }

    private mutating func order(
        _ event: ChatEvent, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        let bytes = event.bytes()
        let n = chain.append(bytes)
        let message = ControlMessage.event(n: n, bytes: bytes)
        var effects: [Effect] = links.values.map { .send($0.connection, message) }
        guard let checked = checkedOwn(event.body) else { return effects }
        effects += view.apply(checked, n: n, at: moment, numbers: &numbers)
        return effects
    }

    /// The event as the view takes it; everything was checked before it was ordered.
    private func checkedOwn(_ event: ChatEvent.Body) -> CheckedEvent? {
        switch event {
        case .joined(let signed):
            guard let join = try? Join(parsing: signed.bytes) else { return nil }
            return .joined(join, PeerID(environment.hash(join.key)))
        case .left(let id, let reason): return .left(id, reason)
        case .said(let signed), .offered(let signed):
            return (try? Statement(parsing: signed.bytes)).map { .stated($0) }
        case .answered(let transfer, let id, let accepted, let automatic):
            return .answered(transfer, id, accepted: accepted, automatic: automatic)
        case .result(let transfer, let id, let status, let reason): return .result(transfer, id, status, reason)
        case .unknown: return nil
        }
    }

    // MARK: Delivery

    mutating func seen(_ n: UInt64, by id: PeerID, at moment: Moment) -> [Effect] {
        guard let link = links[id], n > link.seen, n <= chain.last.n else { return [] }
        links[id]?.seen = n
        return deliveries.seen(after: link.seen, upTo: n, by: id).flatMap(told)
    }

    /// Whether an own line may be said before more of those on their way have arrived.
    var hasRoom: Bool { deliveries.untoldOwn < view.linesOnTheirWay }

    /// Tells an author that all have a line, or all but these.
    private func told(_ delivery: Deliveries.Delivery) -> [Effect] {
        let missing = delivery.missing.union(delivery.lost).sorted()
        if let own = delivery.own {
            return [
                .emit(
                    .messageDelivered(
                        chat: view.chat, seq: delivery.n, ref: own.ref, missing: missing.map(view.peer), line: own.line)
                )
            ]
        }
        return links[delivery.author].map { [.send($0.connection, .delivered(n: delivery.n, missing: missing))] } ?? []
    }

    package var deadline: Instant? { [deliveries.deadline, stallDeadline].compactMap { $0 }.min() }

    mutating func timerFired(at moment: Moment, numbers: inout ItemNumbers) -> [Effect] {
        deliveries.late(at: moment.now).flatMap(told) + endStalled(at: moment, numbers: &numbers)
    }
}
