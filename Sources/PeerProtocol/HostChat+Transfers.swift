internal import PeerModel
internal import PeerWire

/// The host's side of transfers: who asked for the bytes, who serves them, how it went for each.
extension HostChat {
    /// A recipient's answer, its own included.
    mutating func respond(
        _ transfer: TransferID, by id: PeerID, accepted: Bool, automatic: Bool, at moment: Moment,
        numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let record = view.transfers[transfer], record.mayAnswer(accepted, of: id) else { return [] }
        let event = ChatEvent.Body.answered(transfer, by: id, accepted: accepted, automatic: automatic)
        var effects = order(event, at: moment, numbers: &numbers)
        moves[id]?.at = moment.now
        if accepted { effects += fetch(transfer, by: id) }
        return effects
    }

    /// The first acceptance makes the host ask the sender for the bytes; its own acceptance makes it keep the files.
    private mutating func fetch(_ transfer: TransferID, by id: PeerID) -> [Effect] {
        guard let record = view.transfers[transfer], !record.offer.isMine else { return [] }
        let connection = links[record.offer.from.id]?.connection
        // Who has given everything may have gone.
        guard connection != nil || record.isStored else { return [] }
        let source = RemoteSource(connection: connection, key: record.senderKey, sender: record.offer.from)
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
        let isSender = record.offer.from.id == id
        let ids = isSender ? record.unfinished : record.unfinished.filter { $0 == id }
        return ids.flatMap {
            result(transfer, of: $0, .cancelled, isSender ? .withdrawn : nil, at: moment, numbers: &numbers)
        }
    }

    /// The sender, or this host, cannot give the bytes any more.
    mutating func sourceFailed(
        _ transfer: TransferID, _ reason: TransferReason, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        guard let record = view.transfers[transfer] else { return [] }
        return record.unfinished.flatMap {
            // That there is no room here is nothing that happened to the others.
            let isOurs = reason.isOfOneMachine && $0 != view.me.id
            return result(transfer, of: $0, .failed, isOurs ? .lost : reason, at: moment, numbers: &numbers)
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
    mutating func serve(_ get: Get, to id: PeerID, at moment: Moment) -> [Effect] {
        guard let link = links[id], let record = view.transfers[get.transfer], record.standing(of: id) == .accepted
        else { return [] }
        moves[id]?.asked(at: moment.now)
        let pieces = (record.streamLength &- 1) / UInt64(Limits.pieceSize) + 1
        let news =
            record.offer.isMine && get.piece > 0 && get.piece <= pieces
            ? view.continues(get.transfer, of: id, at: get.piece * UInt64(Limits.pieceSize), at: moment) : []
        return [.transfer(.serve(get, to: link.connection))] + news
    }

    /// Passes a recipient's progress on to the sender.
    mutating func progress(_ transfer: TransferID, of id: PeerID, bytes: UInt64, at moment: Moment) -> [Effect] {
        guard let record = view.transfers[transfer], record.standing(of: id) == .accepted else { return [] }
        moves[id]?.reached(bytes, of: record.streamLength, at: moment.now)
        if record.offer.isMine { return view.progress(transfer, of: id, bytes: bytes, at: moment) }
        guard let link = links[record.offer.from.id] else { return [] }
        return [.send(link.connection, .progress(transfer: transfer, peer: id, bytes: bytes))]
    }

    /// The own receiving: told here, and to the sender.
    mutating func received(_ bytes: UInt64, of transfer: TransferID, at moment: Moment) -> [Effect] {
        view.progress(transfer, of: view.me.id, bytes: bytes, at: moment)
            + progress(transfer, of: view.me.id, bytes: bytes, at: moment)
    }

    /// The own receiving goes on where an earlier one was interrupted.
    mutating func continues(_ transfer: TransferID, at bytes: UInt64, at moment: Moment) -> [Effect] {
        view.continues(transfer, of: view.me.id, at: bytes, at: moment)
            + progress(transfer, of: view.me.id, bytes: bytes, at: moment)
    }

    mutating func dropFromTransfers(
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

    // MARK: Patience

    /// The recipients that have to do something.
    private var awaited: [(TransferID, PeerID)] {
        view.transfers.values.flatMap { record in record.unfinished.map { (record.offer.transfer, $0) } }
    }

    /// When the first of them has kept the others waiting too long.
    var stallDeadline: Instant? {
        guard let patience, !isOver else { return nil }
        return awaited.compactMap { moves[$0.1].map { $0.at + patience } }.min()
    }

    mutating func endStalled(at moment: Moment, numbers: inout ItemNumbers) -> [Effect] {
        guard let patience, !isOver else { return [] }
        return awaited.flatMap { (transfer, id) -> [Effect] in
            guard let last = moves[id]?.at, moment.now >= last + patience else { return [] }
            let isOpen = view.transfers[transfer]?.standing(of: id) == .open
            return result(transfer, of: id, .failed, isOpen ? .timeout : .stalled, at: moment, numbers: &numbers)
        }
    }
}

extension TransferReason {
    /// Whether it tells of the machine that ran into it, and of no other.
    fileprivate var isOfOneMachine: Bool {
        switch self {
        case .diskFull, .tooLarge, .unwritable: true
        default: false
        }
    }
}

extension HostChat {
    /// When a recipient last did something for its files; the same words again are nothing done.
    struct Move {
        var at: Instant
        private var bytes: UInt64 = 0
        private var hasAsked = false

        init(at: Instant) { self.at = at }

        mutating func asked(at now: Instant) {
            guard !hasAsked else { return }
            hasAsked = true
            at = now
        }

        mutating func reached(_ bytes: UInt64, of length: UInt64, at now: Instant) {
            let bytes = min(bytes, length)
            guard bytes > self.bytes else { return }
            self.bytes = bytes
            // What is all there may take its time to be written.
            at = bytes == length ? now + Limits.landing : now
        }
    }
}
