package import PeerModel
internal import PeerWire

/// A member's side of one chat: it believes nothing of the host that is not signed by its author and in one order for all.
package struct MemberChat: Sendable {
    private(set) var view: ChatView
    private var chain: EventChain
    package let connection: ConnectionID
    /// What was accepted: in a chat for files, these.
    let invite: Invite
    private let environment: Environment
    private var acknowledged: UInt64
    private var acknowledgeAt: Instant?
    /// In a chat for files: when to look whether any are still on their way here; where none are, it is left.
    private var lookAt: Instant?
    /// For `message.delivered`: which own line event n was, for the lines whose delivery is not known yet.
    private var undelivered: [UInt64: ChatView.Pending] = [:]
    /// Those of them of which nothing was told yet.
    private var untold: Set<UInt64> = []
    private(set) var isOver = false

    /// Enters the chat with the host's welcome; throws when its roster is not what its members signed.
    ///
    /// The own *joined* event must hold the join that was signed for this acceptance: nobody could know that one before, so
    /// whatever refers to a hash from there on was said after it.
    init(
        _ welcome: Welcome, me: LocalPeer, joining: Joining, at moment: Moment, environment: Environment
    ) throws(Violation) {
        view = ChatView(chat: welcome.chat, me: me.peer, host: joining.from.peer, hostKey: joining.from.key)
        chain = EventChain(at: welcome.before, hash: environment.hash)
        acknowledged = welcome.before.n + UInt64(welcome.joined.count)
        connection = joining.connection
        invite = joining.invite
        lookAt = invite.purpose == .file ? moment.now + Limits.answer : nil
        self.environment = environment
        view.resume(welcome.counters)
        for signed in welcome.members {
            let (join, id) = try view.check(signed, by: environment)
            view.admit(join, as: id)
        }
        for bytes in welcome.joined {
            guard case .joined(let signed)? = (try? ChatEvent(parsing: bytes))?.body else {
                throw .malformed("something else than joins was shown as such")
            }
            let (join, id) = try view.check(signed, by: environment)
            chain.append(bytes)
            if id == me.peer.id {
                guard signed.bytes == joining.join else { throw .badSignature("an old join of this peer was shown") }
                view.enter(at: chain.last.n)
            }
            view.admit(join, as: id)
        }
        guard view.entered > 0 else { throw .malformed("the host's list leaves this peer out") }
    }

    /// Whether an own line may be said before more of those on their way have arrived.
    var hasRoom: Bool { view.pending.count + untold.count < view.linesOnTheirWay }

    /// The last event that was taken.
    var last: EventReference { chain.last }

    var started: Effect {
        .emit(
            .chatStarted(
                chat: view.chat, role: .member, host: view.host, members: view.members, purpose: invite.purpose))
    }

    // MARK: From the host

    /// Takes the next event of the host.
    mutating func receive(
        _ n: UInt64, _ bytes: [UInt8], at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard !isOver else { return [] }
        do throws(Violation) {
            guard n == chain.last.n + 1 else { throw .splitView("an event was left out or repeated") }
            guard let event = try? ChatEvent(parsing: bytes) else { throw .malformed("an event cannot be read") }
            let checked = try check(event.body)
            chain.append(bytes)
            if acknowledgeAt == nil { acknowledgeAt = moment.now + Limits.acknowledgeWithin / 2 }
            if case .stated(let statement) = checked, statement.author == view.me.id,
                case .say = statement.body, let own = view.pending[statement.counter]
            {
                undelivered[n] = own
                untold.insert(n)
            }
            return view.apply(checked, n: n, at: moment, numbers: &numbers)
        } catch {
            return distrust(error)
        }
    }

    private func check(_ event: ChatEvent.Body) throws(Violation) -> CheckedEvent {
        switch event {
        case .joined(let signed):
            let (join, id) = try view.check(signed, by: environment)
            guard view.members.count < Limits.peersAtMost, view.hasRoom(for: id) else {
                throw .badSignature("more members were shown than a chat may have")
            }
            return .joined(join, id)
        case .left(let id, let reason):
            guard id != view.me.id, view.members.contains(where: { $0.id == id }) else {
                throw .malformed("someone left who was not there")
            }
            return .left(id, reason)
        case .said(let signed):
            let statement = try view.check(signed, against: chain, by: environment)
            guard case .say = statement.body else { throw .malformed("an offer was shown as a line") }
            return .stated(statement)
        case .offered(let signed):
            let statement = try view.check(signed, against: chain, by: environment)
            guard case .offer = statement.body else { throw .malformed("a line was shown as an offer") }
            return .stated(statement)
        case .answered(let transfer, let id, let accepted, let automatic):
            guard id != view.me.id || view.transfers[transfer]?.answer == accepted else {
                throw .badSignature("an answer to an offer that this peer did not give was shown as its own")
            }
            return .answered(transfer, id, accepted: accepted, automatic: automatic)
        case .result(let transfer, let id, let status, let reason):
            let isGood = status == .verified || status == .partial
            guard id != view.me.id || !isGood || view.transfers[transfer]?.reported == status else {
                throw .badSignature("files that did not arrive here were called \(status.rawValue)")
            }
            return .result(transfer, id, status, reason)
        case .unknown: return .ignored
        }
    }

    /// The host showed something nobody said, or an order others were not shown: the chat ends here, saying so.
    private mutating func distrust(_ violation: Violation) -> [Effect] {
        let code: WarningCode = if case .splitView = violation { .splitView } else { .badSignature }
        let warning = Effect.emit(.warning(code: code, peer: view.host, message: violation.sentence))
        return [warning, .send(connection, .leave), .close(connection)] + finish(.hostLost)
    }

    mutating func delivered(_ n: UInt64, missing: [PeerID]) -> [Effect] {
        guard let own = undelivered[n] else { return [] }
        untold.remove(n)
        if missing.isEmpty { undelivered[n] = nil }
        let event = NodeEvent.messageDelivered(
            chat: view.chat, seq: n, ref: own.ref, missing: missing.map(view.peer), line: own.line)
        return [.emit(event)]
    }

    mutating func rejected(_ counter: UInt64, _ reason: String) -> [Effect] {
        view.settle(counter).map { [view.failed($0, reason)] } ?? []
    }

    /// The host ended the chat, or its connection broke.
    mutating func ended(_ reason: ChatEndReason, cause: DepartureReason? = nil) -> [Effect] {
        isOver ? [] : finish(reason, cause: cause)
    }

    mutating func leave() -> [Effect] {
        isOver ? [] : [.send(connection, .leave), .close(connection)] + finish(.left)
    }

    private mutating func finish(_ reason: ChatEndReason, cause: DepartureReason? = nil) -> [Effect] {
        isOver = true
        return view.close(reason, cause: cause)
    }

    // MARK: To the host

    mutating func state(_ body: Statement.Body, ref: Int, line: Int?, at moment: Moment) -> [Effect] {
        let counter = view.claimCounter(ref: ref, line: line, isOffer: body.isOffer)
        let statement = Statement(
            chat: view.chat, host: view.host.id, author: view.me.id, counter: counter, seen: chain.last,
            sent: moment.wall, body: body)
        let bytes = statement.bytes()
        return [.send(connection, .say(SignedBytes(bytes: bytes, signature: environment.sign(bytes))))]
    }

    package var deadline: Instant? { [acknowledgeAt, lookAt].compactMap { $0 }.min() }

    mutating func timerFired(at moment: Moment) -> [Effect] {
        if let due = lookAt, moment.now >= due {
            // A host that promises files and brings none would take the place of a chat for good.
            guard hasFilesToCome else { return leave() }
            lookAt = moment.now + Limits.answer
        }
        guard let due = acknowledgeAt, moment.now >= due else { return [] }
        acknowledgeAt = nil
        guard chain.last.n > acknowledged else { return [] }
        acknowledged = chain.last.n
        return [.send(connection, .seen(n: acknowledged))]
    }
}

extension MemberChat {
    // MARK: Transfers

    private var hasFilesToCome: Bool {
        view.transfers.values.contains { record in
            switch record.standing(of: view.me.id) {
            case .open, .accepted: !record.isDone
            default: false
            }
        }
    }

    /// This peer's answer to an offer; accepting starts the receiving.
    mutating func respond(_ transfer: TransferID, accepted: Bool, automatic: Bool) -> [Effect] {
        guard var record = view.transfers[transfer], record.mayAnswer(accepted, of: view.me.id) else { return [] }
        record.answer = accepted
        view.transfers[transfer] = record
        let answer = Effect.send(
            connection, .respond(transfer: transfer, accept: accepted, automatic: automatic))
        guard accepted else { return [answer] }
        let source = RemoteSource(connection: connection, key: record.senderKey, sender: record.offer.from)
        return [answer, .transfer(.receive(transfer, record.body, chat: view.chat, from: source))]
    }

    /// Whether an offer is what the invitation promised, so that accepting that was accepting this.
    func isPromised(_ record: TransferRecord) -> Bool {
        invite.purpose == .file && record.offer.from.id == view.host.id && record.offer.summary == invite.offer
            && view.transfers.count == 1 && !record.isEarlier
    }

    /// How the own receiving went.
    mutating func report(
        _ transfer: TransferID, _ status: TransferStatus, _ reason: TransferReason?
    ) -> [Effect] {
        view.transfers[transfer]?.reported = status
        return [.send(connection, .result(transfer: transfer, status: status, reason: reason))]
    }

    /// The host asks for the bytes of an own transfer.
    func serve(_ get: Get) -> [Effect] {
        guard let record = view.transfers[get.transfer], record.offer.isMine, !record.isDone else { return [] }
        return [.transfer(.serve(get, to: connection))]
    }

    mutating func progress(_ transfer: TransferID, of id: PeerID, bytes: UInt64, at moment: Moment) -> [Effect] {
        guard view.transfers[transfer]?.offer.isMine == true else { return [] }
        return view.progress(transfer, of: id, bytes: bytes, at: moment)
    }

    /// The own receiving: told here, and to the host for the sender.
    mutating func received(_ bytes: UInt64, of transfer: TransferID, at moment: Moment) -> [Effect] {
        view.progress(transfer, of: view.me.id, bytes: bytes, at: moment)
            + [.send(connection, .progress(transfer: transfer, peer: nil, bytes: bytes))]
    }

    /// The own receiving goes on where an earlier one was interrupted.
    mutating func continues(_ transfer: TransferID, at bytes: UInt64, at moment: Moment) -> [Effect] {
        view.continues(transfer, of: view.me.id, at: bytes, at: moment)
            + [.send(connection, .progress(transfer: transfer, peer: nil, bytes: bytes))]
    }

    func sourceFailed(_ transfer: TransferID, _ reason: TransferReason) -> [Effect] {
        [.send(connection, .failed(transfer: transfer, reason: reason))]
    }

    func cancel(_ transfer: TransferID) -> [Effect] { [.send(connection, .cancel(transfer: transfer))] }
}
