package import PeerModel
internal import PeerWire

/// The host's side of one chat: it orders every event, shows it to all, and knows who has seen what.
package struct HostChat: Sendable {
    /// A member's connection and how far its acknowledgements are.
    private struct Link {
        let connection: ConnectionID
        var seen: UInt64
    }

    /// An event whose author waits to hear that all have it.
    private struct Delivery {
        let n: UInt64
        let author: PeerID
        let own: ChatView.Pending?
        var waiting: Set<PeerID>
        let deadline: Instant
        var isReported = false
    }

    private(set) var view: ChatView
    private var chain: EventChain
    private var links: [PeerID: Link] = [:]
    private var joins: [PeerID: SignedBytes] = [:]
    private var deliveries: [Delivery] = []
    private let environment: Environment
    private(set) var isOver = false

    /// A chat for a file is over when the file is.
    private let purpose: Purpose
    /// Of the command that began it.
    let line: Int?

    package init(
        chat: ChatID, me: LocalPeer, purpose: Purpose = .chat, line: Int? = nil, environment: Environment
    ) {
        view = ChatView(chat: chat, me: me.peer, host: me.peer, hostKey: me.key)
        chain = EventChain(chat: chat, host: me.peer.id, hash: environment.hash)
        self.environment = environment
        self.purpose = purpose
        self.line = line
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
        var welcomed: [PeerID: ConnectionID] = [:]
        let isStart = view.members.isEmpty && chain.last.n == 0
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
            let told = order(.joined(joiner.signed), at: moment, numbers: &numbers)
            if !isStart { effects += told }
            joins[id] = joiner.signed
            welcomed[id] = joiner.connection
        }
        for (id, connection) in welcomed { links[id] = Link(connection: connection, seen: chain.last.n) }
        let roster = view.members.compactMap { joins[$0.id] }
        let welcome = Welcome(chat: view.chat, last: chain.last, members: roster, counters: view.counters)
        effects += welcomed.values.map { .send($0, .welcome(welcome)) }
        if isStart, !welcomed.isEmpty {
            let event = NodeEvent.chatStarted(
                chat: view.chat, role: .host, host: view.host, members: view.members)
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
        var effects: [Effect] = [.close(link.connection)]
        effects += order(.left(id, reason), at: moment, numbers: &numbers)
        effects += dropFromTransfers(id, reason == .left ? .left : .lost, at: moment, numbers: &numbers)
        for index in deliveries.indices { deliveries[index].waiting.remove(id) }
        effects += reportDeliveries(at: moment)
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
        do {
            return order(
                signed, try view.check(signed, against: chain, by: environment), at: moment, numbers: &numbers)
        } catch {
            // Its counter is used up and cannot be ordered, so nothing that follows could be either.
            return [.send(link.connection, .rejected(counter: statement.counter, reason: error.sentence))]
                + remove(id, .crashed, at: moment, numbers: &numbers)
        }
    }

    private mutating func order(
        _ signed: SignedBytes, _ statement: Statement, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        let own = statement.author == view.me.id ? view.pending[statement.counter] : nil
        guard case .offer(let body) = statement.body else {
            var effects = order(.said(signed), at: moment, numbers: &numbers)
            let waiting = Set(links.keys.filter { $0 != statement.author })
            let deadline = moment.now + Limits.undeliveredAfter
            deliveries.append(
                Delivery(n: chain.last.n, author: statement.author, own: own, waiting: waiting, deadline: deadline))
            effects += reportDeliveries(at: moment)
            return effects
        }
        // Someone may have left while the offer was on its way.
        let gone = body.recipients.filter { links[$0] == nil && $0 != view.me.id && $0 != statement.author }
        return order(.offered(signed), at: moment, numbers: &numbers)
            + gone.flatMap { result(body.transfer, of: $0, .failed, .left, at: moment, numbers: &numbers) }
    }

    /// Gives an event its place and shows it to everyone.
    private mutating func order(_ event: ChatEvent.Body, at moment: Moment, numbers: inout ItemNumbers) -> [Effect] {
        let bytes = ChatEvent(time: moment.wall, body: event).bytes()
        let n = chain.append(bytes)
        let message = ControlMessage.event(n: n, bytes: bytes)
        var effects: [Effect] = links.values.map { .send($0.connection, message) }
        guard let checked = checkedOwn(event) else { return effects }
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
        guard var link = links[id], n > link.seen, n <= chain.last.n else { return [] }
        link.seen = n
        links[id] = link
        for index in deliveries.indices where deliveries[index].n <= n { deliveries[index].waiting.remove(id) }
        return reportDeliveries(at: moment)
    }

    /// Tells authors what all have, and after 15 s what some have not.
    private mutating func reportDeliveries(at moment: Moment) -> [Effect] {
        var effects: [Effect] = []
        for index in deliveries.indices {
            let delivery = deliveries[index]
            let isLate = !delivery.isReported && moment.now >= delivery.deadline
            guard delivery.waiting.isEmpty || isLate else { continue }
            deliveries[index].isReported = true
            let missing = delivery.waiting.sorted()
            if let own = delivery.own {
                let event = NodeEvent.messageDelivered(
                    chat: view.chat, seq: delivery.n, ref: own.ref, missing: missing.map(view.peer), line: own.line)
                effects.append(.emit(event))
            } else if let link = links[delivery.author] {
                effects.append(.send(link.connection, .delivered(n: delivery.n, missing: missing)))
            }
        }
        deliveries.removeAll { $0.waiting.isEmpty }
        return effects
    }

    package var deadline: Instant? { deliveries.filter { !$0.isReported }.map(\.deadline).min() }

    mutating func timerFired(at moment: Moment) -> [Effect] { reportDeliveries(at: moment) }
}

extension HostChat {
    // MARK: Transfers

    /// A recipient's answer, its own included.
    mutating func respond(
        _ transfer: TransferID, by id: PeerID, accepted: Bool, automatic: Bool, at moment: Moment,
        numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let record = view.transfers[transfer], !record.isDone else { return [] }
        switch record.standing(of: id) {
        case .open, .ended(.declined, _): break
        default: return []
        }
        let event = ChatEvent.Body.answered(transfer, by: id, accepted: accepted, automatic: automatic)
        var effects = order(event, at: moment, numbers: &numbers)
        if accepted { effects += fetch(transfer, by: id) }
        return effects
    }

    /// The first acceptance makes the host ask the sender for the bytes; its own acceptance makes it keep the files.
    private mutating func fetch(_ transfer: TransferID, by id: PeerID) -> [Effect] {
        guard let record = view.transfers[transfer], !record.offer.isMine,
            let link = links[record.offer.from.id]
        else { return [] }
        let source = RemoteSource(connection: link.connection, key: record.senderKey, sender: record.offer.from)
        if id == view.me.id {
            view.transfers[transfer]?.isFetched = true
            return [.transfer(.receive(transfer, record.body, chat: view.chat, from: source))]
        }
        guard !record.isFetched else { return [] }
        view.transfers[transfer]?.isFetched = true
        return [.transfer(.relay(transfer, record.body, chat: view.chat, from: source))]
    }

    mutating func result(
        _ transfer: TransferID, of id: PeerID, _ status: TransferStatus, _ reason: TransferReason?, at moment: Moment,
        numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let record = view.transfers[transfer], let standing = record.standing(of: id) else { return [] }
        if case .ended = standing { return [] }
        return order(.result(transfer, of: id, status, reason), at: moment, numbers: &numbers)
    }

    /// Stops a transfer for all if its sender asks, for one recipient if that one does.
    mutating func cancel(
        _ transfer: TransferID, by id: PeerID, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let record = view.transfers[transfer] else { return [] }
        let ids = record.offer.from.id == id ? record.unfinished : record.unfinished.filter { $0 == id }
        return ids.flatMap { result(transfer, of: $0, .cancelled, nil, at: moment, numbers: &numbers) }
    }

    /// The sender, or this host, cannot give the bytes any more.
    mutating func sourceFailed(
        _ transfer: TransferID, _ reason: TransferReason, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let record = view.transfers[transfer] else { return [] }
        return record.unfinished.flatMap {
            result(transfer, of: $0, .failed, reason, at: moment, numbers: &numbers)
        }
    }

    /// This host cannot keep the files; those who accepted still get them, through a spool.
    mutating func notBegun(
        _ transfer: TransferID, _ reason: TransferReason, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        view.transfers[transfer]?.isFetched = false
        var effects = result(transfer, of: view.me.id, .failed, reason, at: moment, numbers: &numbers)
        let waiting = view.transfers[transfer]?.unfinished.first {
            view.transfers[transfer]?.standing(of: $0) == .accepted
        }
        if let waiting { effects += fetch(transfer, by: waiting) }
        return effects
    }

    mutating func stored(_ transfer: TransferID) { view.transfers[transfer]?.isStored = true }

    /// A recipient asks for bytes: only who accepted gets them.
    func serve(_ get: Get, to id: PeerID) -> [Effect] {
        guard let link = links[id], let record = view.transfers[get.transfer], record.standing(of: id) == .accepted
        else { return [] }
        return [.transfer(.serve(get.transfer, to: link.connection, ticket: get.ticket, piece: get.piece))]
    }

    /// Passes a recipient's progress on to the sender.
    mutating func progress(_ transfer: TransferID, of id: PeerID, bytes: UInt64, at moment: Moment) -> [Effect] {
        guard let record = view.transfers[transfer], record.standing(of: id) == .accepted else { return [] }
        if record.offer.isMine { return view.progress(transfer, of: id, bytes: bytes, at: moment) }
        guard let link = links[record.offer.from.id] else { return [] }
        return [.send(link.connection, .progress(transfer: transfer, peer: id, bytes: bytes))]
    }

    /// The own receiving: told here, and to the sender.
    mutating func received(_ bytes: UInt64, of transfer: TransferID, at moment: Moment) -> [Effect] {
        view.progress(transfer, of: view.me.id, bytes: bytes, at: moment)
            + progress(transfer, of: view.me.id, bytes: bytes, at: moment)
    }

    private mutating func dropFromTransfers(
        _ id: PeerID, _ reason: TransferReason, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        var effects: [Effect] = []
        for transfer in view.transferOrder {
            guard let record = view.transfers[transfer], !record.isDone else { continue }
            if record.offer.from.id == id, !record.isStored {
                effects += sourceFailed(transfer, reason, at: moment, numbers: &numbers)
            } else {
                effects += result(transfer, of: id, .failed, reason, at: moment, numbers: &numbers)
            }
        }
        return effects
    }
}
