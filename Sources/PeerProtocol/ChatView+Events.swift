internal import PeerModel
internal import PeerWire

/// What an ordered event means, the same at the host and at every member.
extension ChatView {
    /// Applies event `n`, already checked, and gives what to do and to tell.
    mutating func apply(
        _ event: CheckedEvent, n: UInt64, at moment: Moment, numbers: inout ItemNumbers
    ) -> [Effect] {
        switch event {
        case .joined(let join, let id):
            admit(join, as: id)
            return [.emit(.memberJoined(chat: chat, member: peer(id)))]
        case .left(let id, let reason):
            let member = peer(id)
            remove(id)
            return [.emit(.memberLeft(chat: chat, member: member, reason: reason))]
        case .stated(let statement):
            advance(statement.author, to: statement.counter)
            let own = statement.author == me.id ? settle(statement.counter) : nil
            let isEarlier = statement.author != me.id && statement.seen.n < entered
            switch statement.body {
            case .say(let text):
                let message = ChatMessage(
                    chat: chat, seq: n, from: peer(statement.author), text: text, sent: statement.sent,
                    isEarlier: isEarlier, ref: own?.ref, line: own?.line)
                return [.emit(.message(message))]
            case .offer(let body):
                return open(body, by: statement.author, isEarlier: isEarlier, line: own?.line, numbers: &numbers)
            }
        case .answered(let transfer, let id, let accepted, let automatic):
            return answered(transfer, id, accepted: accepted, automatic: automatic)
        case .result(let transfer, let id, let status, let reason):
            return ended(transfer, id, status, reason)
        case .ignored: return []
        }
    }

    private mutating func open(
        _ body: OfferBody, by author: PeerID, isEarlier: Bool, line: Int?, numbers: inout ItemNumbers
    ) -> [Effect] {
        let offer = FileOffer(
            number: numbers.next(), chat: chat, transfer: body.transfer, from: peer(author),
            to: body.recipients.filter { $0 != author }.map(peer), isMine: author == me.id, summary: body.summary,
            line: line)
        let key = participants[author]?.key ?? []
        forgetEnded()
        // Offered again after it had ended: from here on the new offer is meant.
        transferOrder.removeAll { $0 == body.transfer }
        transfers[body.transfer] = TransferRecord(offer: offer, body: body, senderKey: key, isEarlier: isEarlier)
        transferOrder.append(body.transfer)
        return [.emit(.fileOffered(offer))]
    }

    private mutating func forgetEnded() {
        let ended = transferOrder.filter { transfers[$0]?.isDone ?? true }
        guard ended.count > Limits.endedTransfers else { return }
        for id in ended.dropLast(Limits.endedTransfers) { transfers[id] = nil }
        transferOrder.removeAll { transfers[$0] == nil }
    }

    private mutating func answered(
        _ transfer: TransferID, _ id: PeerID, accepted: Bool, automatic: Bool
    ) -> [Effect] {
        guard var record = transfers[transfer], record.isUndecided(for: id, accepted) else { return [] }
        record.set(id, accepted ? .accepted : .ended(.declined, nil))
        transfers[transfer] = record
        let event = NodeEvent.fileAnswered(
            transfer: transfer, peer: peer(id), accepted: accepted, automatic: automatic)
        return [.emit(event)] + (accepted ? [] : delivered(record, to: id))
    }

    private mutating func ended(
        _ transfer: TransferID, _ id: PeerID, _ status: TransferStatus, _ reason: TransferReason?
    ) -> [Effect] {
        guard var record = transfers[transfer], let standing = record.standing(of: id) else { return [] }
        if case .ended = standing { return [] }
        record.set(id, .ended(status, reason))
        transfers[transfer] = record
        let stops = id == me.id && status != .verified && status != .partial
        let isContinuable = status == .failed && reason?.isContinuable == true
        return (stops ? [.transfer(.abandon(transfer, isContinuable: isContinuable))] : []) + delivered(record, to: id)
    }

    private func delivered(_ record: TransferRecord, to id: PeerID) -> [Effect] {
        guard case .ended(let status, let reason) = record.standing(of: id) else { return [] }
        let result = TransferResult(peer: peer(id), status: status, reason: reason)
        var effects: [Effect] = [.emit(.fileDelivered(transfer: record.offer.transfer, result: result))]
        if record.isDone { effects += done(record) }
        return effects
    }

    private func done(_ record: TransferRecord) -> [Effect] {
        let event = NodeEvent.fileDone(
            transfer: record.offer.transfer, results: record.results, line: record.offer.line)
        return [.emit(event), .transfer(.finished(record.offer.transfer))]
    }

    /// How far a recipient is; the own progress is without a name.
    mutating func progress(_ transfer: TransferID, of id: PeerID, bytes: UInt64, at moment: Moment) -> [Effect] {
        let named = id == me.id ? nil : peer(id)
        return transfers[transfer]?.progress(bytes, of: id, named: named, at: moment.now) ?? []
    }

    /// A recipient has so many bytes from an earlier attempt.
    mutating func continues(_ transfer: TransferID, of id: PeerID, at bytes: UInt64, at moment: Moment) -> [Effect] {
        let named = id == me.id ? nil : peer(id)
        return transfers[transfer]?.progress(bytes, of: id, named: named, continues: true, at: moment.now) ?? []
    }

    /// Ends what is unfinished when the chat is over here: nothing more can arrive.
    ///
    /// What becomes of others who go on without this peer is not known, and so nothing is said of it.
    private mutating func closeTransfers(_ reason: TransferReason, goesOn: Bool) -> [Effect] {
        var effects: [Effect] = []
        for id in transferOrder {
            guard var record = transfers[id], !record.isDone else { continue }
            for peer in record.unfinished where peer == me.id || record.offer.isMine || !goesOn {
                record.set(peer, .ended(.failed, reason))
                if peer == me.id { effects.append(.transfer(.abandon(id, isContinuable: reason.isContinuable))) }
                let result = TransferResult(peer: self.peer(peer), status: .failed, reason: reason)
                effects.append(.emit(.fileDelivered(transfer: id, result: result)))
            }
            transfers[id] = record
            effects += done(record)
        }
        return effects
    }

    /// What is told of an own line or offer that was not ordered.
    func failed(_ own: Pending, _ reason: String) -> Effect {
        guard own.isOffer else {
            return .emit(.messageFailed(chat: chat, ref: own.ref, reason: reason, line: own.line))
        }
        return .emit(
            .failure(
                PeerConnectError(
                    .noChat, "The files were not offered: \(reason).", hint: "Send them again in another chat.")))
    }

    /// What everyone says when the chat is over: failed lines and transfers first, the end last.
    mutating func close(_ reason: ChatEndReason, cause: DepartureReason? = nil) -> [Effect] {
        var effects = takePending().map { failed($0, "the chat ended") }
        let goesOn = me.id != host.id && reason != .ended && reason != .empty
        effects += closeTransfers(reason == .hostLost ? .lost : .left, goesOn: goesOn)
        return effects + [.emit(.chatEnded(chat: chat, reason: reason, cause: cause))]
    }
}

/// An event whose signatures and references were checked.
enum CheckedEvent: Sendable {
    case joined(Join, PeerID)
    case left(PeerID, DepartureReason)
    case stated(Statement)
    case answered(TransferID, PeerID, accepted: Bool, automatic: Bool)
    case result(TransferID, PeerID, TransferStatus, TransferReason?)
    case ignored
}
