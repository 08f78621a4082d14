package import PeerModel
package import PeerWire

/// Own invitations: dialling, asking, collecting answers, starting the chat.
extension NodeMachine {
    /// One to invite, as far as it is known.
    package struct Invitation: Sendable {
        let target: DialTarget
        let label: String
        let peer: Peer?

        package init(target: DialTarget, label: String, peer: Peer?) {
            self.target = target
            self.label = label
            self.peer = peer
        }

        /// Whom it is for, as far as that is known: the same text each time that it is asked for in the same way.
        package var aim: String { id?.description ?? label }

        var id: PeerID? {
            switch target {
            case .peer(let id, _): id
            case .address(_, let id): id
            }
        }
    }

    /// What those who are invited together are asked, and for how long.
    private struct Terms {
        let purpose: Purpose
        let offer: OfferBody?
        /// Seconds they have for an answer.
        let answerWithin: Double
        let stallAfter: Double?
        let line: Int?
    }

    /// Invites peers into the named chat, if this peer hosts it, else into the one about to start or a new one.
    ///
    /// A peer that may be in one chat only invites into that one.
    package mutating func invite(
        _ all: [Invitation], purpose: Purpose = .chat, offer: OfferBody? = nil,
        answerWithin seconds: Double = Limits.answer, stallAfter patience: Double? = nil,
        into hosted: ChatID? = nil, line: Int?, at moment: Moment
    ) -> Reply {
        let terms = Terms(
            purpose: purpose, offer: offer, answerWithin: seconds, stallAfter: patience, line: line)
        if let hosted, !chats.contains(hosted) { return .failed(Self.isOver) }
        let chat = openSlot(for: purpose, hosted)
        // Whoever is wanted in a chat that runs is invited there, whatever it asks itself.
        if chat.map({ !isHosting($0) }) ?? true, let question = winningQuestion(against: all, for: purpose) {
            giveWay(to: question, with: all, terms, at: moment)
            return .done
        }
        if chat == nil, slots.count >= settings.maximumChats { return .failed(busyError) }
        do throws(PeerConnectError) {
            ask(try newcomers(among: all, in: chat), in: chat, terms, at: moment)
            return .done
        } catch {
            return .failed(error)
        }
    }

    /// The invitation that wins over inviting those who sent it: of peers that invite each other the smaller ID is the host.
    private func winningQuestion(against all: [Invitation], for purpose: Purpose) -> Question? {
        // An offer of files is no chat that theirs could take the place of.
        guard purpose == .chat else { return nil }
        let invited = Set(all.compactMap(\.id))
        return questions.filter { question in
            let from = question.from.peer.id
            return question.invite.purpose == .chat && from < me.peer.id && invited.contains(from)
        }.min { $0.from.peer.id < $1.from.peer.id }
    }

    /// Accepts that invitation in place of sending own ones.
    private mutating func giveWay(
        to question: Question, with all: [Invitation], _ terms: Terms, at moment: Moment
    ) {
        // The others invited here may invite too; theirs crosses this one, as if it had gone out.
        for id in all.compactMap(\.id) where id != question.from.peer.id { crossed[id] = moment.now + Limits.answer }
        yielded.append((question.invite.chat, round(inviting: all, in: nil, terms, at: moment)))
        accept(question, isCrossing: true, at: moment)
    }

    /// Those who are not in the chat or invited to it already, each once.
    private func newcomers(
        among all: [Invitation], in chat: ChatID?
    ) throws(PeerConnectError) -> [Invitation] {
        var present: Set<PeerID> = [me.peer.id]
        if let chat, case .hosting(let host, _) = slots[chat] { present.formUnion(host.view.members.map(\.id)) }
        let invited = chat.flatMap { round(in: $0) }?.invitees.filter(\.isOpen) ?? []
        present.formUnion(invited.compactMap(\.known))
        var seen = present
        let wanted = all.filter { $0.id.map { seen.insert($0).inserted } ?? true }
        guard !wanted.isEmpty else {
            throw PeerConnectError(
                .noSuchPeer, "Everyone you named is invited or in the chat already.",
                hint: "/who lists the members, /peers whom else you can invite.")
        }
        let count = present.count - 1 + invited.count { $0.known == nil } + wanted.count
        guard count <= settings.maximumPeers else {
            let text = "That would be \(count) peers; a chat takes \(settings.maximumPeers) besides its host."
            throw PeerConnectError(.tooMany, text, hint: "Start with --max-peers N for more, up to 64.")
        }
        return wanted
    }

    /// Dials them; what they are asked follows once they are reached.
    private mutating func ask(_ wanted: [Invitation], in chat: ChatID?, _ terms: Terms, at moment: Moment) {
        let round = round(inviting: wanted, in: chat, terms, at: moment)
        for (invitation, invitee) in zip(wanted, round.invitees.suffix(wanted.count)) {
            if case .dialling(let dial) = invitee.state { effects.append(.dial(dial, invitation.target)) }
        }
        if case .hosting(let host, _) = slots[round.chat] {
            slots[round.chat] = .hosting(host, round)
        } else {
            slots[round.chat] = .inviting(round)
        }
    }

    /// Those already invited to the chat and these, as one round.
    private mutating func round(
        inviting wanted: [Invitation], in chat: ChatID?, _ terms: Terms, at moment: Moment
    ) -> InvitationRound {
        let deadline = moment.now + terms.answerWithin
        var round =
            chat.flatMap { self.round(in: $0) }
            ?? InvitationRound(
                chat: chat ?? newChatID(), nonce: environment.random(Join.nonceSize), purpose: terms.purpose,
                offer: terms.offer, lines: [], patience: terms.stallAfter, startBy: deadline, invitees: [])
        if !round.lines.contains(terms.line) { round.lines.append(terms.line) }
        round.invitees += wanted.map { invitation in
            .init(
                label: invitation.label, line: terms.line, deadline: deadline, peer: invitation.peer,
                id: invitation.id, state: .dialling(nextDial()))
        }
        return round
    }

    /// A chat that is hosted, or will be once all have answered: more can be invited into it.
    private func openSlot(for purpose: Purpose, _ wanted: ChatID?) -> ChatID? {
        guard purpose == .chat else { return nil }
        if let wanted, isHosting(wanted) { return wanted }
        let coming = slots.first { if case .inviting(let round) = $0.value { round.purpose == .chat } else { false } }
        if let coming { return coming.key }
        // Nobody is led into one of several chats that was not named.
        return settings.maximumChats > 1 ? nil : chats.first(where: isHosting)
    }

    private func isHosting(_ chat: ChatID) -> Bool { if case .hosting = slots[chat] { true } else { false } }
    private var busyError: PeerConnectError {
        if slots.values.contains(where: { if case .joining = $0 { true } else { false } }) {
            return PeerConnectError(
                .busy, "You have accepted an invitation, and its chat is about to start.",
                hint: "Wait for it, or withdraw with /leave.")
        }
        if chats.isEmpty {
            return PeerConnectError(
                .busy, "Files are on their way, and that takes the place of a chat.",
                hint: "Wait, stop them with /cancel N, or start with --max-chats N for more.")
        }
        return chats.count > 1
            ? PeerConnectError(
                .busy, "You are in \(chats.count) chats already.",
                hint: "Leave one first: /switch N, then /leave or /end.")
            : PeerConnectError(.busy, "You are in a chat already.", hint: "Leave it first: /leave or /end.")
    }

    func round(in chat: ChatID) -> InvitationRound? {
        switch slots[chat] {
        case .inviting(let round): round
        case .hosting(_, let round): round
        default: nil
        }
    }

    mutating func put(_ round: InvitationRound?, in chat: ChatID) {
        switch slots[chat] {
        case .inviting: slots[chat] = round.map { .inviting($0) }
        case .hosting(let host, _): slots[chat] = .hosting(host, round)
        default: break
        }
    }

    /// A dial succeeded: the invitation goes out.
    package mutating func opened(
        _ connection: ConnectionID, _ remote: RemotePeer, by dial: DialID, at moment: Moment
    ) {
        for id in slots.keys {
            guard var round = round(in: id), let index = round.index(of: dial) else { continue }
            let isDouble = round.invitees.indices.contains {
                $0 != index && round.invitees[$0].isOpen && round.invitees[$0].peer?.id == remote.peer.id
            }
            guard remote.peer.id != me.peer.id, !isDouble else {
                effects.append(.close(connection))
                settle(id, index, .unreachable, isDouble ? "invited already" : "that is this peer itself", at: moment)
                return reconsiderHeld(at: moment)
            }
            peers[connection] = remote
            round.invitees[index].peer = remote.peer
            round.invitees[index].state = .asked(connection)
            put(round, in: id)
            let invite = Invite(
                chat: id, nonce: round.nonce, purpose: round.purpose, offer: round.offer?.summary)
            effects.append(.send(connection, .invite(invite)))
            if case .inviting = slots[id], round.purpose == .chat { crossIfAsked(by: remote.peer.id, at: moment) }
            reconsiderHeld(at: moment)
            return
        }
        effects.append(.close(connection))
    }

    package mutating func dialFailed(_ dial: DialID, _ failure: DialFailure, at moment: Moment) {
        for id in slots.keys {
            guard let index = round(in: id)?.index(of: dial) else { continue }
            settle(id, index, failure.answer, failure.reason, at: moment)
            reconsiderHeld(at: moment)
            return
        }
    }

    mutating func received(
        _ answer: InviteAnswer, from remote: RemotePeer, on connection: ConnectionID, at moment: Moment
    ) {
        guard var round = round(in: answer.chat), let index = round.index(of: connection),
            case .asked = round.invitees[index].state
        else { return }
        guard answer.answer == .accepted else {
            effects.append(.close(connection))
            settle(answer.chat, index, answer.answer, nil, at: moment)
            reconsiderHeld(at: moment)
            return
        }
        guard let signed = answer.join, isJoin(signed, to: round, by: remote) else {
            effects.append(.close(connection))
            settle(answer.chat, index, .incompatible, "its acceptance is not signed by its key", at: moment)
            return reconsiderHeld(at: moment)
        }
        round.invitees[index].state = .accepted(signed, connection)
        put(round, in: answer.chat)
        told(round.invitees[index], in: round, reason: nil)
        for question in held where question.from.peer.id == remote.peer.id { self.answer(question, .busy, at: moment) }
        proceed(answer.chat, at: moment)
    }

    private func isJoin(_ signed: SignedBytes, to round: InvitationRound, by remote: RemotePeer) -> Bool {
        guard let join = try? Join(parsing: signed.bytes) else { return false }
        return join.chat == round.chat && join.host == me.peer.id && join.nonce == round.nonce
            && join.key == remote.key && join.name.description.utf8.elementsEqual(remote.peer.name.utf8)
            && environment.isValid(signed.signature, signed.bytes, remote.key)
    }

    /// One invitee is done without accepting.
    mutating func settle(
        _ chat: ChatID, _ index: Int, _ answer: Answer, _ reason: String?, at moment: Moment
    ) {
        guard var round = round(in: chat) else { return }
        round.invitees[index].state = .answered(answer, reason)
        put(round, in: chat)
        told(round.invitees[index], in: round, reason: reason)
        proceed(chat, at: moment)
    }

    private mutating func told(_ invitee: InvitationRound.Invitee, in round: InvitationRound, reason: String?) {
        guard let answer = invitee.answer else { return }
        effects.append(.emit(.inviteAnswered(invitee.target, answer: answer, reason: reason, line: invitee.line)))
    }

    mutating func admit(_ round: InvitationRound, to chat: ChatID, at moment: Moment) {
        let accepted = round.accepted
        guard !accepted.isEmpty else { return }
        var rest = round
        for index in rest.invitees.indices {
            if case .accepted = rest.invitees[index].state { rest.invitees[index].state = .answered(.accepted, nil) }
        }
        put(rest, in: chat)
        withHost(chat) { $0.admit(accepted, at: moment, numbers: &$1) }
    }
}
