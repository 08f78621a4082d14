package import PeerModel
internal import PeerWire

/// How an own invitation ends: in a chat, in nothing, or taken back.
extension NodeMachine {
    /// Time is up for some who were asked, or for all who wait for the chat to start.
    mutating func expire(_ chat: ChatID, at moment: Moment) {
        guard var round = round(in: chat) else { return }
        effects += round.expire(at: moment.now)
        put(round, in: chat)
        proceed(chat, at: moment)
        reconsiderHeld(at: moment)
    }

    /// Admits at once into a running chat; starts a new one when all have answered, or enough time has been waited.
    mutating func proceed(_ chat: ChatID, at moment: Moment) {
        guard let round = round(in: chat) else { return }
        if round.isComplete { return finishRound(chat, at: moment) }
        if case .inviting = slots[chat], round.startBy == nil, !round.accepted.isEmpty { startChat(chat, round) }
        guard case .hosting = slots[chat] else { return }
        admit(round, to: chat, at: moment)
        busyForAll(at: moment)
        reconsiderHeld(at: moment)
    }

    /// The chat starts; its round goes on with those who have not answered.
    private mutating func startChat(_ chat: ChatID, _ round: InvitationRound) {
        let host = HostChat(
            chat: chat, me: me, purpose: round.purpose, line: round.lines.first ?? nil, patience: round.patience,
            environment: environment)
        begin(.hosting(host, round), in: chat)
        crossed = [:]
    }

    /// The round is over: those who accepted are in, the others are told that it is too late.
    mutating func finishRound(_ chat: ChatID, at moment: Moment) {
        guard var round = round(in: chat) else { return }
        effects += round.withdraw(.timeout, all: false)
        put(round, in: chat)
        if case .inviting = slots[chat], !round.accepted.isEmpty { startChat(chat, round) }
        guard case .hosting = slots[chat] else {
            slots[chat] = nil
            finish(round)
            reconsiderHeld(at: moment)
            return
        }
        admit(round, to: chat, at: moment)
        put(nil, in: chat)
        effects += round.done(in: chat)
        busyForAll(at: moment)
        reconsiderHeld(at: moment)
        if let offer = round.offer { sendOffer(offer, in: chat, line: round.lines.first ?? nil, at: moment) }
    }

    private mutating func sendOffer(_ offer: OfferBody, in chat: ChatID, line: Int?, at moment: Moment) {
        let ref = nextRef()
        let to = view(of: chat)?.members.map(\.id) ?? []
        let offer = OfferBody(
            transfer: offer.transfer, nonce: offer.nonce, size: offer.size, entries: offer.entries, files: offer.files,
            manifestLength: offer.manifestLength, manifestHash: offer.manifestHash, recipients: to, names: offer.names)
        withHost(chat) { $0.state(.offer(offer), ref: ref, line: line, at: moment, numbers: &$1) }
    }

    /// Takes back the invitation, or ends the chat for its files, that the command with this line began.
    package mutating func withdraw(line: Int, at moment: Moment) {
        for (id, slot) in slots {
            switch slot {
            case .inviting(let round) where round.lines.contains(line):
                withdraw(round, in: id)
                reconsiderHeld(at: moment)
            case .hosting(let chat, _) where chat.line == line: withHost(id) { chat, _ in chat.end() }
            default: continue
            }
        }
    }

    /// Starts now with those who accepted, or takes everything back.
    package mutating func start(at moment: Moment) -> Reply {
        guard let (id, round) = openRound() else { return .failed(Self.notInviting) }
        guard !round.accepted.isEmpty else {
            return .failed(PeerConnectError(.noChat, "Nobody has accepted yet.", hint: "Wait, or withdraw with /end."))
        }
        finishRound(id, at: moment)
        return .done
    }

    /// The one whose chat has not started, or else one into a running chat.
    func openRound() -> (ChatID, InvitationRound)? {
        let open = slots.keys.compactMap { id in round(in: id).map { (id, $0) } }
        return open.first { !chats.contains($0.0) } ?? open.first
    }

    static let notInviting = PeerConnectError(
        .noChat, "You are not inviting anyone.", hint: "Invite with /invite PEER…; /peers lists who is here.")

    /// Takes all own invitations back, for the user; false when there are none.
    mutating func withdrawRounds() -> Bool {
        var isDone = false
        for case (let id, .inviting(let round)) in slots {
            withdraw(round, in: id)
            isDone = true
        }
        return isDone
    }

    /// Another invitation has won: what becomes of the own ones is told when its chat starts, or does not.
    mutating func giveWay(to winner: ChatID, at moment: Moment) {
        // What they gave way to before was given up for this one.
        for index in yielded.indices where !isJoining(yielded[index].to) { yielded[index].to = winner }
        for id in slots.keys {
            // What brings files is nothing that another chat could take the place of.
            guard case .inviting(let round) = slots[id], round.purpose == .chat else { continue }
            for peer in round.invitees.filter({ $0.answer == nil }).compactMap(\.known) {
                crossed[peer] = moment.now + Limits.answer
            }
            slots[id] = nil
            effects += round.giveWay()
            yielded.append((winner, round))
        }
    }

    /// What became of the rounds that gave way to a chat: who of them is in it.
    mutating func settleYielded(in view: ChatView) {
        let present = Set([view.host.id] + view.members.map(\.id))
        for (to, round) in yielded where to == view.chat {
            var round = round
            effects += round.settle(present: present)
            effects += round.done(in: view.chat)
        }
        yielded.removeAll { $0.to == view.chat }
    }

    /// What became of those whose chat did not come about, once nothing can take its place any more.
    mutating func settleStranded() {
        guard settleAt == nil else { return }
        for (to, round) in yielded where !isJoining(to) {
            var round = round
            effects += round.settle(present: [])
            effects += round.done(in: nil)
        }
        yielded = yielded.filter { isJoining($0.to) }
    }

    func isJoining(_ chat: ChatID) -> Bool { if case .joining = slots[chat] { true } else { false } }

    private mutating func withdraw(_ round: InvitationRound, in id: ChatID) {
        var round = round
        slots[id] = nil
        effects += round.withdraw(.withdrawn, all: true)
        finish(round)
    }

    /// A round that led to no chat is over, and with it what it was to bring.
    private mutating func finish(_ round: InvitationRound) {
        effects += round.done(in: nil)
        if let offer = round.offer { effects.append(.transfer(.finished(offer.transfer))) }
    }
}
