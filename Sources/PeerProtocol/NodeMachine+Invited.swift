internal import PeerModel
internal import PeerWire

/// Invitations of others: asked, answered, crossed, given way to.
extension NodeMachine {
    mutating func received(
        _ invite: Invite, from remote: RemotePeer, on connection: ConnectionID, at moment: Moment
    ) {
        let question = Question(
            number: 0, from: remote, connection: connection, invite: invite,
            deadline: moment.now + (invite.purpose == .file ? Limits.fileAnswer : Limits.answer))
        // A connection has one purpose: what else comes on it ends it, with all that depends on it.
        guard !hasUse(for: connection) else { return violated(connection, at: moment) }
        // One at a time from each peer, so that nobody can take all the places.
        guard !(questions + held).contains(where: { $0.from.peer.id == remote.peer.id }) else {
            return refuse(question, at: moment)
        }
        consider(question, at: moment)
    }

    private mutating func violated(_ connection: ConnectionID, at moment: Moment) {
        effects.append(.close(connection))
        closed(connection, isSilent: false, at: moment)
    }

    /// Decides on an invitation that has just come, or that was held back until now.
    private mutating func consider(_ question: Question, at moment: Moment) {
        let peer = question.from.peer.id
        // As if its user had declined: whoever is blocked is not to know it, and the own user is not bothered.
        if settings.acquaintances.isBlocked(peer) { return answer(question, .declined, at: moment) }
        if settings.doNotDisturb { return refuse(question, at: moment) }
        // Only invitations to chat cross: wanting to talk with someone is not wanting their files.
        let mayCross = question.invite.purpose == .chat
        if mayCross, isInviting(peer) {
            if me.peer.id < peer {
                held.append(question)
            } else {
                accept(question, isCrossing: true, at: moment)
            }
            return
        }
        if mayCross, isDiallingUnknown {
            guard held.count < Limits.pendingInvitations else { return refuse(question, at: moment) }
            held.append(question)
            return
        }
        if mayCross, crossed[peer].map({ $0 > moment.now }) ?? false {
            // All who invited each other meet in one chat: that of the smallest.
            if hasGivenWay {
                guard peer < me.peer.id, giveUpJoining(for: peer, at: moment) else {
                    return refuse(question, at: moment)
                }
                return accept(question, isCrossing: true, at: moment)
            }
            if peer < me.peer.id, slots.count < settings.maximumChats {
                return accept(question, isCrossing: true, at: moment)
            }
        }
        guard slots.count < settings.maximumChats else { return refuse(question, at: moment) }
        switch decision(on: question) {
        case true?: accept(question, isCrossing: false, at: moment)
        case false?:
            answer(question, .declined, at: moment)
            tellRefused(question, .declined, at: moment)
        case nil: ask(question, at: moment)
        }
    }

    /// Whether own invitations gave way to a chat that is about to start.
    var hasGivenWay: Bool { yielded.contains { isJoining($0.to) } }

    private func decision(on question: Question) -> Bool? {
        switch question.invite.purpose {
        case .chat, .message: settings.decision(settings.invitations, question.from.peer.id)
        case .file: settings.decision(on: question.invite.offer?.size, from: question.from.peer.id)
        }
    }

    private mutating func ask(_ question: Question, at moment: Moment) {
        guard questions.count < Limits.pendingInvitations, !isCrowded(by: question) else {
            return refuse(question, at: moment)
        }
        let asked = Question(
            number: numbers.next(), from: question.from, connection: question.connection, invite: question.invite,
            deadline: question.deadline)
        questions.append(asked)
        effects.append(
            .emit(
                .inviteReceived(
                    number: asked.number, from: asked.from.peer, purpose: asked.invite.purpose,
                    offer: asked.invite.offer, known: settings.acquaintances.standing(of: asked.from.peer))))
    }

    /// Whether strangers ask too much, all of them or those from one place: a key costs nothing, an address does.
    private func isCrowded(by question: Question) -> Bool {
        guard isStranger(question) else { return false }
        let source = question.from.source, strangers = questions.filter(isStranger)
        return strangers.count >= Limits.strangersQuestions
            || !source.isEmpty && strangers.count { $0.from.source == source } >= Limits.questionsPerSource
    }

    private func isStranger(_ question: Question) -> Bool {
        settings.acquaintances.standing(of: question.from.peer) == .new
    }

    private mutating func refuse(_ question: Question, at moment: Moment) {
        answer(question, .busy, at: moment)
        tellRefused(question, .busy, at: moment)
    }

    /// Once in a while for each peer: whoever asks without end would fill the screen.
    private mutating func tellRefused(_ question: Question, _ answer: Answer, at moment: Moment) {
        let peer = question.from.peer
        refused = refused.filter { moment.now < $0.value }
        guard refused[peer.id] == nil, refused.count < Limits.listedPeers else { return }
        refused[peer.id] = moment.now + Limits.refusalPause
        effects.append(.emit(.inviteRefused(from: peer, answer: answer)))
    }

    /// Whether an own invitation to this peer still waits for an answer, in a chat that has not started.
    private func isInviting(_ peer: PeerID) -> Bool {
        slots.values.contains { slot in
            if case .inviting(let round) = slot { round.purpose == .chat && round.isWaiting(for: peer) } else { false }
        }
    }

    /// Whether an own invitation is on its way to an address whose peer is not known yet: it may be anyone's.
    private var isDiallingUnknown: Bool {
        slots.values.contains { slot in
            if case .inviting(let round) = slot { round.purpose == .chat && round.isDiallingUnknown } else { false }
        }
    }

    /// An acceptance that still waits for its chat gives way to a smaller peer that was invited too.
    private mutating func giveUpJoining(for peer: PeerID, at moment: Moment) -> Bool {
        for entry in yielded where entry.round.invitees.contains(where: { $0.known == peer }) {
            guard case .joining(let joining) = slots[entry.to], peer < joining.from.peer.id else { continue }
            let id = entry.to
            effects += [.send(joining.connection, .leave), .close(joining.connection)]
            peers[joining.connection] = nil
            slots[id] = nil
            effects.append(.emit(.inviteWithdrawn(number: joining.number, reason: "crossed")))
            return true
        }
        return false
    }

    /// Answers anything but accepted, and closes.
    mutating func answer(_ question: Question, _ answer: Answer, at moment: Moment) {
        questions.removeAll { $0.connection == question.connection }
        held.removeAll { $0.connection == question.connection }
        let reply = InviteAnswer(chat: question.invite.chat, refusing: answer)
        effects += [.send(question.connection, .answer(reply)), .close(question.connection)]
        peers[question.connection] = nil
    }

    /// Accepts: signs the join and waits for the host's welcome.
    mutating func accept(_ question: Question, isCrossing: Bool, at moment: Moment) {
        questions.removeAll { $0.connection == question.connection }
        if isCrossing, question.number != 0 {
            effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "crossed")))
        }
        // Whatever chat has this ID is another one, and this peer is in it: the inviter may not take its place.
        guard slots[question.invite.chat] == nil else {
            if question.number != 0, !isCrossing {
                effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "withdrawn")))
            }
            return answer(question, .busy, at: moment)
        }
        if isCrossing || question.invite.purpose != .file && slots.count >= settings.maximumChats {
            giveWay(to: question.invite.chat, at: moment)
        }
        guard let name = try? DisplayName(me.peer.name) else { return }
        let join = Join(
            chat: question.invite.chat, host: question.from.peer.id, nonce: question.invite.nonce,
            memberNonce: environment.random(Join.nonceSize), key: me.key, name: name)
        let bytes = join.bytes()
        let signed = SignedBytes(bytes: bytes, signature: environment.sign(bytes))
        let reply = InviteAnswer(chat: question.invite.chat, accepting: signed)
        effects.append(.send(question.connection, .answer(reply)))
        // The host waits 30 s for the others; twice that means it is not coming.
        let joining = Joining(
            number: question.number, from: question.from, connection: question.connection, invite: question.invite,
            join: bytes, deadline: moment.now + 2 * Limits.answer)
        slots[question.invite.chat] = .joining(joining)
        busyForAll(at: moment)
        reconsiderHeld(at: moment)
    }

    /// One chat at a time: whoever else waits for an answer is told.
    mutating func busyForAll(at moment: Moment) {
        guard slots.count >= settings.maximumChats else { return }
        for question in questions + held {
            answer(question, .busy, at: moment)
            if question.number != 0 {
                effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "withdrawn")))
            }
            tellRefused(question, .busy, at: moment)
        }
        held = []
    }

    /// An own invitation went to someone whose invitation was already here: the smaller peer's counts.
    mutating func crossIfAsked(by peer: PeerID, at moment: Moment) {
        guard let question = questions.first(where: { $0.from.peer.id == peer && $0.invite.purpose == .chat })
        else { return }
        if peer < me.peer.id {
            accept(question, isCrossing: true, at: moment)
        } else {
            questions.removeAll { $0.connection == question.connection }
            effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "crossed")))
            held.append(
                Question(
                    number: 0, from: question.from, connection: question.connection, invite: question.invite,
                    deadline: question.deadline))
        }
    }

    /// After an own invitation has ended: those held for it are asked, accepted or refused as if they had just come.
    mutating func reconsiderHeld(at moment: Moment) {
        guard !isDiallingUnknown else { return }
        let free = held.filter { $0.from.peer.id < me.peer.id || !isInviting($0.from.peer.id) }
        guard !free.isEmpty else { return }
        held.removeAll { question in free.contains { $0.connection == question.connection } }
        for question in free { consider(question, at: moment) }
    }

    mutating func dropQuestion(on connection: ConnectionID) {
        held.removeAll { $0.connection == connection }
        guard let question = questions.first(where: { $0.connection == connection }) else { return }
        questions.removeAll { $0.connection == connection }
        effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "withdrawn")))
    }

    mutating func withdrawn(
        _ chat: ChatID, _ reason: WithdrawReason, on connection: ConnectionID, at moment: Moment
    ) {
        var number: Int?
        if let question = questions.first(where: { $0.connection == connection && $0.invite.chat == chat }) {
            number = question.number
            questions.removeAll { $0.connection == connection }
        } else if case .joining(let joining) = slots[chat], joining.connection == connection {
            number = joining.number
            slots[chat] = nil
            if reason == .crossed, !yielded.isEmpty { settleAt = moment.now + Limits.settling }
        } else if held.contains(where: { $0.connection == connection && $0.invite.chat == chat }) {
            held.removeAll { $0.connection == connection }
        } else {
            return violated(connection, at: moment)
        }
        if let number { effects.append(.emit(.inviteWithdrawn(number: number, reason: reason.rawValue))) }
        effects.append(.close(connection))
        peers[connection] = nil
    }

    /// The chat that was accepted will not start.
    mutating func leaveJoining(_ id: ChatID, _ joining: Joining, reason: String, at moment: Moment) {
        slots[id] = nil
        effects.append(.emit(.inviteWithdrawn(number: joining.number, reason: reason)))
    }

    /// The chat starts: from here on this peer is in it.
    mutating func received(_ welcome: Welcome, on connection: ConnectionID, at moment: Moment) {
        guard case .joining(let joining) = slots[welcome.chat], joining.connection == connection else { return }
        do throws(Violation) {
            let chat = try MemberChat(welcome, me: me, joining: joining, at: moment, environment: environment)
            begin(.member(chat), in: welcome.chat)
            crossed = [:]  // what was wanted has come about; from now on invitations are asked about again
            effects.append(chat.started)
            settleYielded(in: chat.view)
        } catch {
            slots[welcome.chat] = nil
            let text = "its list of members is not what they signed: \(error.sentence)"
            effects.append(.emit(.warning(code: .badSignature, peer: joining.from.peer, message: text)))
            effects += [.send(connection, .leave), .close(connection)]
            effects.append(.emit(.inviteWithdrawn(number: joining.number, reason: "withdrawn")))
        }
    }
}
