package import PeerModel
package import PeerWire

/// What the user does, apart from inviting.
extension NodeMachine {
    /// An open question or a transfer, named by its number or its peer.
    package enum Item: Hashable, Sendable {
        case number(Int)
        case peer(PeerID)
    }

    private enum Open {
        case question(Question)
        case offer(TransferRecord, ChatID)
    }

    private var open: [(number: Int, peer: PeerID, item: Open)] {
        var all: [(Int, PeerID, Open)] = questions.map { ($0.number, $0.from.peer.id, .question($0)) }
        for (id, record) in records() where !record.isDone && record.answer == nil {
            switch record.standing(of: me.peer.id) {
            case .open: all.append((record.offer.number, record.offer.from.id, .offer(record, id)))
            default: continue
            }
        }
        return all.sorted { $0.0 < $1.0 }
    }

    func records() -> [(ChatID, TransferRecord)] {
        slots.keys.flatMap { id in
            (view(of: id)?.transfers.values).map { $0.map { (id, $0) } } ?? []
        }
    }

    package mutating func accept(_ item: Item?, line: Int?, at moment: Moment) -> Reply {
        decide(item, accepted: true, at: moment)
    }

    package mutating func decline(_ item: Item?, line: Int?, at moment: Moment) -> Reply {
        decide(item, accepted: false, at: moment)
    }

    private mutating func decide(_ item: Item?, accepted: Bool, at moment: Moment) -> Reply {
        switch find(item, in: open) {
        case .failure(let error):
            guard case .number(let number)? = item,
                let (id, record) = records().first(where: { $0.1.offer.number == number })
            else { return .failed(error) }
            // A declined offer may be accepted as long as its transfer runs.
            guard record.mayAnswer(accepted, of: me.peer.id) else { return .failed(settled(record)) }
            respond(record.offer.transfer, in: id, accepted: accepted, automatic: false, at: moment)
        case .success(.question(let question)):
            if accepted { return take(question, at: moment) }
            answer(question, .declined, at: moment)
        case .success(.offer(let record, let id)):
            respond(record.offer.transfer, in: id, accepted: accepted, automatic: false, at: moment)
        }
        return .done
    }

    private mutating func take(_ question: Question, at moment: Moment) -> Reply {
        // Files are no chat that what was invited to could give way to.
        guard question.invite.purpose != .file || slots.count < settings.maximumChats else {
            return .failed(
                PeerConnectError(
                    .busy, "You are inviting, and can be in one chat only.",
                    hint: "Take your invitation back with /end, and accept then."))
        }
        let chat = question.invite.chat
        accept(question, isCrossing: false, at: moment)
        guard case .joining(let joining) = slots[chat], joining.connection == question.connection else {
            return .failed(Self.isOver)
        }
        return .joining(number: question.number, chat: chat, purpose: question.invite.purpose)
    }

    /// What to say of a transfer that takes no answer.
    private func settled(_ record: TransferRecord) -> PeerConnectError {
        let number = record.offer.number, sender = record.offer.from.name
        if record.offer.isMine {
            return PeerConnectError(.noSuchNumber, "#\(number) is your own.", hint: "/cancel \(number) takes it back.")
        }
        if record.isDone {
            return PeerConnectError(.noSuchNumber, "#\(number) is over.", hint: "Ask \(sender) to send it again.")
        }
        let text = record.isFor(me.peer.id) ? "#\(number) is answered already." : "#\(number) is not for you."
        return PeerConnectError(.noSuchNumber, text, hint: "/transfers shows how it stands.")
    }

    private func find<T>(
        _ item: Item?, in open: [(number: Int, peer: PeerID, item: T)]
    ) -> Result<T, PeerConnectError> {
        let matches = open.filter {
            switch item {
            case .number(let number): $0.number == number
            case .peer(let peer): $0.peer == peer
            case nil: true
            }
        }
        if matches.count == 1, let match = matches.first { return .success(match.item) }
        guard matches.isEmpty else {
            let list = matches.map { "#\($0.number)" }.joined(separator: ", ")
            return .failure(PeerConnectError(.ambiguous, "Several are open: \(list).", hint: "Name one by its number."))
        }
        let text = if case .number(let number) = item { "There is no open #\(number)." } else { "Nothing is open." }
        return .failure(PeerConnectError(.noSuchNumber, text, hint: "/transfers lists what was offered in the chat."))
    }

    /// Everyone whose invitation or offer waits for an answer.
    package var askers: [Peer] {
        open.map { entry in
            switch entry.item {
            case .question(let question): question.from.peer
            case .offer(let record, _): record.offer.from
            }
        }
    }

    /// The offer that `item` means, if it is one: by its number, which means no other one later, and its bytes.
    ///
    /// The transfer is not known while it is only an invitation.
    package func offered(_ item: Item?) -> (item: Item, size: UInt64, transfer: TransferID?)? {
        switch find(item, in: open) {
        case .success(.question(let question)):
            question.invite.offer?.size.map { (.number(question.number), $0, nil) }
        case .success(.offer(let record, _)):
            (.number(record.offer.number), record.body.size, record.offer.transfer)
        case .failure: nil
        }
    }

    /// Says a line in the chat.
    package mutating func say(_ text: String, in chat: ChatID? = nil, line: Int?, at moment: Moment) -> Reply {
        let size = text.utf8.count
        guard size > 0 else {
            return .failed(PeerConnectError(.usage, "An empty line says nothing.", hint: "Give it a text."))
        }
        guard size <= Limits.text else {
            let message = "The line has \(size) bytes; at most \(Limits.text) can be sent."
            return .failed(PeerConnectError(.tooLong, message, hint: "Send it as a file: /send PATH."))
        }
        return state(.say(text: text), in: chat, line: line, at: moment)
    }

    /// Offers files to the chat; the body names its recipients.
    package mutating func offer(
        _ body: OfferBody, in chat: ChatID? = nil, line: Int?, at moment: Moment
    ) -> Reply {
        let view = (try? self.chat(chat).get()).flatMap(view(of:))
        guard view.map({ $0.openOwnOffers < Limits.openOffers }) ?? true else {
            return .failed(
                PeerConnectError(
                    .tooMany, "\(Limits.openOffers) of your offers are open.", hint: "Cancel one: /cancel N."))
        }
        if case .failed(let error) = state(.offer(body), in: chat, line: line, at: moment) { return .failed(error) }
        return .offered(body.transfer)
    }

    private mutating func state(
        _ body: Statement.Body, in chat: ChatID?, line: Int?, at moment: Moment
    ) -> Reply {
        switch self.chat(chat) {
        case .failure(let error): return .failed(error)
        case .success(let id):
            let ref = nextRef()
            withMember(id) { chat, _ in chat.state(body, ref: ref, line: line, at: moment) }
            withHost(id) { $0.state(body, ref: ref, line: line, at: moment, numbers: &$1) }
            return .message(ref: ref)
        }
    }

    /// The chat that is meant: the named one, if it runs, or the only one.
    package func chat(_ named: ChatID?) -> Result<ChatID, PeerConnectError> {
        guard let chat = named ?? chats.first else { return .failure(Self.notInChat) }
        guard chats.contains(chat) else { return .failure(Self.isOver) }
        guard named != nil || chats.count == 1 else {
            return .failure(
                PeerConnectError(
                    .ambiguous, "You are in \(chats.count) chats.",
                    hint: "Say which: /switch N; /chats lists them."))
        }
        return .success(chat)
    }

    package static let notInChat = PeerConnectError(
        .noChat, "You are not in a chat.", hint: "Invite someone: /invite PEER…; /peers lists who is here.")

    package static let isOver = PeerConnectError(
        .noChat, "That chat is over.", hint: "Invite its people again: /invite PEER…")

    package mutating func cancel(_ item: Item?, at moment: Moment) -> Reply {
        let running = records().filter { !$0.1.isDone }.map { ($0.1.offer.number, $0.1.offer.from.id, $0) }
        switch find(item, in: running.map { (number: $0.0, peer: $0.1, item: $0.2) }) {
        case .failure(let error): return .failed(error)
        case .success(let (id, record)):
            let (transfer, me) = (record.offer.transfer, me.peer.id)
            guard record.offer.isMine || record.unfinished.contains(me) else {
                return .failed(
                    PeerConnectError(
                        .noSuchNumber, "#\(record.offer.number) is between others.",
                        hint: "Ask \(record.offer.from.name), who sends it, to stop it."))
            }
            withMember(id) { chat, _ in chat.cancel(transfer) }
            withHost(id) { $0.cancel(transfer, by: me, at: moment, numbers: &$1) }
            return .done
        }
    }

    /// Leaves the chat as a member; without a name it is an acceptance that is taken back, if there is one.
    package mutating func leave(_ named: ChatID? = nil, at moment: Moment) -> Reply {
        if named == nil, withdrawAcceptances(at: moment) { return .done }
        switch chat(named) {
        case .failure(let error): return .failed(error)
        case .success(let id):
            guard case .member = slots[id] else {
                return .failed(
                    PeerConnectError(
                        .usage, "You host this chat, so leaving would end it.", hint: "End it for all with /end."))
            }
            withMember(id) { chat, _ in chat.leave() }
            return .done
        }
    }

    /// Ends the chat as its host; without a name the own invitations are taken back, if there are any.
    ///
    /// A member's `/end` means the latter too.
    package mutating func end(_ named: ChatID? = nil, at moment: Moment) -> Reply {
        // What gave way to another's chat is given up with it.
        if named == nil, withdrawInvitations(at: moment) || hasGivenWay && withdrawAcceptances(at: moment) {
            return .done
        }
        switch chat(named) {
        case .failure(let error):
            return .failed(chats.isEmpty && named == nil ? Self.notInviting : error)
        case .success(let id):
            guard case .hosting = slots[id] else {
                if withdrawInvitations(at: moment) { return .done }
                return .failed(
                    PeerConnectError(.notHost, "Only the host can end the chat.", hint: "Leave it with /leave."))
            }
            withHost(id) { chat, _ in chat.end() }
            return .done
        }
    }

    /// Takes back invitations and acceptances of chats that have not started; no chat that runs is touched.
    package mutating func giveUp(at moment: Moment) -> Reply {
        // In this order, as what was held for an invitation may be accepted when it has ended.
        let hasAccepted = withdrawAcceptances(at: moment), hasInvited = withdrawInvitations(at: moment)
        return hasInvited || hasAccepted ? .done : .failed(Self.notInviting)
    }

    private mutating func withdrawInvitations(at moment: Moment) -> Bool {
        guard withdrawRounds() else { return false }
        reconsiderHeld(at: moment)
        return true
    }

    private mutating func withdrawAcceptances(at moment: Moment) -> Bool {
        var isDone = false
        for case (let id, .joining(let joining)) in slots {
            effects += [.send(joining.connection, .leave), .close(joining.connection)]
            leaveJoining(id, joining, reason: "withdrawn", at: moment)
            isDone = true
        }
        return isDone
    }

    /// The program stops: everyone is told.
    package mutating func stop(at moment: Moment) {
        for question in questions + held { answer(question, .declined, at: moment) }
        (held, settleAt) = ([], nil)
        _ = giveUp(at: moment)
        for id in slots.keys {
            withMember(id) { chat, _ in chat.leave() }
            withHost(id) { chat, _ in chat.end() }
        }
    }
}
