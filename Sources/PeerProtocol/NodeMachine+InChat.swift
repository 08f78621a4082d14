package import PeerModel
internal import PeerWire

/// Frames inside a chat, and what the user does there.
extension NodeMachine {
    mutating func receiveInChat(
        _ message: ControlMessage, from remote: RemotePeer, on connection: ConnectionID, at moment: Moment
    ) {
        for (id, slot) in slots {
            switch slot {
            case .member(let chat) where chat.connection == connection:
                return receiveAsMember(message, in: id, at: moment)
            case .hosting(let chat, _) where chat.connections[remote.peer.id] == connection:
                return receiveAsHost(message, from: remote.peer.id, in: id, at: moment)
            case .inviting(let round), .hosting(_, let round?):
                // Accepted, and then gone before the chat started: its user left, or another invitation won there.
                guard case .leave = message, let index = round.index(of: connection) else { continue }
                effects.append(.close(connection))
                peers[connection] = nil
                return settle(id, index, .busy, "it accepted, and took that back", at: moment)
            default: continue
            }
        }
    }

    private mutating func receiveAsHost(
        _ message: ControlMessage, from peer: PeerID, in id: ChatID, at moment: Moment
    ) {
        withHost(id) { chat, numbers in
            switch message {
            case .say(let signed): chat.receive(signed, from: peer, at: moment, numbers: &numbers)
            case .seen(let n): chat.seen(n, by: peer, at: moment)
            case .leave: chat.remove(peer, .left, at: moment, numbers: &numbers)
            case .respond(let transfer, let accepted, let automatic):
                chat.respond(
                    transfer, by: peer, accepted: accepted, automatic: automatic, at: moment, numbers: &numbers)
            case .get(let get): chat.serve(get, to: peer, at: moment)
            case .progress(let transfer, _, let bytes): chat.progress(transfer, of: peer, bytes: bytes, at: moment)
            case .result(let transfer, let status, let reason):
                chat.result(transfer, of: peer, status, reason, at: moment, numbers: &numbers)
            case .cancel(let transfer): chat.cancel(transfer, by: peer, at: moment, numbers: &numbers)
            case .failed(let transfer, let reason) where chat.view.transfers[transfer]?.offer.from.id == peer:
                chat.sourceFailed(transfer, reason, at: moment, numbers: &numbers)
            default: []
            }
        }
        settleOffers(in: id, at: moment)
    }

    private mutating func receiveAsMember(_ message: ControlMessage, in id: ChatID, at moment: Moment) {
        withMember(id) { chat, numbers in
            switch message {
            case .event(let n, let bytes): chat.receive(n, bytes, at: moment, numbers: &numbers)
            case .delivered(let n, let missing): chat.delivered(n, missing: missing)
            case .rejected(let counter, let reason): chat.rejected(counter, reason)
            case .end(let reason): [.close(chat.connection)] + chat.ended(reason == .kicked ? .kicked : .ended)
            case .get(let get): chat.serve(get)
            case .progress(let transfer, let peer?, let bytes):
                chat.progress(transfer, of: peer, bytes: bytes, at: moment)
            case .failed(let transfer, let reason): [.transfer(.sourceLost(transfer, reason))]
            default: []
            }
        }
        settleOffers(in: id, at: moment)
    }

    /// Answers new offers that need no question, and ends a chat that was only for its file.
    mutating func settleOffers(in id: ChatID, at moment: Moment) {
        guard let view = view(of: id) else { return }
        for transfer in view.transferOrder {
            guard let record = view.transfers[transfer], record.standing(of: me.peer.id) == .open, record.answer == nil
            else { continue }
            let isCovered = if case .member(let chat) = slots[id] { chat.isPromised(record) } else { false }
            let decision = settings.decision(on: record.streamLength, from: record.offer.from.id)
            guard let accepted = isCovered ? true : record.isEarlier ? false : decision else { continue }
            respond(transfer, in: id, accepted: accepted, automatic: true, at: moment)
        }
    }

    func view(of id: ChatID) -> ChatView? {
        switch slots[id] {
        case .hosting(let chat, _): chat.view
        case .member(let chat): chat.view
        default: nil
        }
    }

    mutating func respond(
        _ transfer: TransferID, in id: ChatID, accepted: Bool, automatic: Bool, at moment: Moment
    ) {
        let me = me.peer.id
        withMember(id) { chat, _ in chat.respond(transfer, accepted: accepted, automatic: automatic) }
        withHost(id) {
            $0.respond(transfer, by: me, accepted: accepted, automatic: automatic, at: moment, numbers: &$1)
        }
    }

    // MARK: News of the file side

    package mutating func transfer(_ news: TransferNews, at moment: Moment) {
        let me = me.peer.id
        switch news {
        case .received(let transfer, let status, let reason):
            guard let id = chat(of: transfer) else { return }
            withMember(id) { chat, _ in chat.report(transfer, status, reason) }
            withHost(id) { $0.result(transfer, of: me, status, reason, at: moment, numbers: &$1) }
        case .notBegun(let transfer, let reason):
            guard let id = chat(of: transfer) else { return }
            withMember(id) { chat, _ in chat.report(transfer, .failed, reason) }
            withHost(id) { $0.notBegun(transfer, reason, at: moment, numbers: &$1) }
        case .stored(let transfer):
            guard let id = chat(of: transfer) else { return }
            withHost(id) { chat, _ in
                chat.stored(transfer)
                return []
            }
        case .sourceFailed(let transfer, let reason):
            guard let id = chat(of: transfer) else { return }
            withMember(id) { chat, _ in chat.sourceFailed(transfer, reason) }
            withHost(id) { $0.sourceFailed(transfer, reason, at: moment, numbers: &$1) }
        case .progress(let transfer, let bytes):
            guard let id = chat(of: transfer) else { return }
            withMember(id) { chat, _ in chat.received(bytes, of: transfer, at: moment) }
            withHost(id) { chat, _ in chat.received(bytes, of: transfer, at: moment) }
        case .continues(let transfer, let bytes):
            guard let id = chat(of: transfer) else { return }
            withMember(id) { chat, _ in chat.continues(transfer, at: bytes, at: moment) }
            withHost(id) { chat, _ in chat.continues(transfer, at: bytes, at: moment) }
        }
    }

    /// Whether others still need the bytes that this host keeps.
    package func isRelaying(_ transfer: TransferID) -> Bool {
        guard let id = chat(of: transfer), case .hosting(let chat, _) = slots[id],
            let record = chat.view.transfers[transfer]
        else { return false }
        return record.unfinished.contains { $0 != me.peer.id }
    }

    /// Whether the transfer is under way in some chat, or has arrived at all these recipients in this one.
    package func isUsed(_ transfer: TransferID, in chat: ChatID?, to recipients: [PeerID]) -> Bool {
        if isAwaited(transfer, onlyHere: false) { return true }
        guard let record = chat.flatMap({ view(of: $0)?.transfers[transfer] }) else { return false }
        return recipients.allSatisfy {
            if case .ended(.verified, _) = record.standing(of: $0) { true } else { false }
        }
    }

    /// Whether somebody is owed these bytes, or `onlyHere` this peer itself, in whatever chat they were offered last.
    package func isAwaited(_ transfer: TransferID, onlyHere: Bool) -> Bool {
        guard let record = chat(of: transfer).flatMap({ view(of: $0)?.transfers[transfer] }) else { return false }
        return onlyHere ? record.standing(of: me.peer.id) == .accepted : !record.isDone
    }

    /// The chat in which it was offered last: an interrupted one may be offered anew before its former chat has noticed.
    private func chat(of transfer: TransferID) -> ChatID? {
        slots.keys.compactMap { id in view(of: id)?.transfers[transfer].map { (id, $0.offer.number) } }
            .max { $0.1 < $1.1 }?.0
    }
}
