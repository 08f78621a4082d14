internal import PeerModel

/// The sentences of each group; an event of another group gives none.
extension PlainNarrator {
    mutating func invite(_ event: NodeEvent, now: Int64) -> Lines {
        switch event {
        case .inviteReceived(let number, let from, let purpose, let offer, let known):
            ask(number, from, purpose, Self.question(number, from, purpose, offer, known), now: now)
        case .inviteWithdrawn(let number, let reason):
            withdraw(number, reason, now: now)
        case .inviteAnswered(let target, let answer, let reason, _): .note(sentence(target, answer, reason))
        case .inviteDone(nil, _, _): .note("Nobody accepted, so no chat begins.")
        default: Lines()
        }
    }

    /// A chat is not disturbed: what others wanted meanwhile is told after it.
    mutating func refusal(of peer: Peer, _ answer: Answer, now: Int64) -> Lines {
        guard !roles.isEmpty else {
            return .note("\(NameBook.withID(peer)) invited you and was answered \(answer.rawValue).")
        }
        if refused.count < Limits.listedPeers { refused.append((peer, answer, now)) }
        return Lines()
    }

    mutating func chat(_ event: NodeEvent, now: Int64) -> Lines {
        if isOfDelivery(event) { return Lines() }
        var lines = chat(event)
        if case .chatStarted(let chat, let role, _, _, _) = event { roles[chat] = role }
        guard case .chatEnded(let chat, _, _) = event else { return lines }
        roles[chat] = nil
        guard roles.isEmpty else { return lines }
        for (peer, answer, at) in refused {
            lines.notes.append(
                "\(NameBook.withID(peer)) invited you \(Amount.ago(now - at)) and was answered \(answer.rawValue).")
        }
        refused = []
        return lines
    }

    private mutating func isOfDelivery(_ event: NodeEvent) -> Bool {
        switch event {
        case .chatStarted(let chat, _, _, _, .file): deliveries.insert(chat).inserted
        case .memberJoined(let chat, _), .memberLeft(let chat, _, _): deliveries.contains(chat)
        case .chatEnded(let chat, _, _): deliveries.remove(chat) != nil
        default: false
        }
    }

    private func chat(_ event: NodeEvent) -> Lines {
        switch event {
        case .chatStarted(_, .host, _, let members, _):
            .note("Chat started with \(list(members)). You are the host; /end ends it for all.")
        case .chatStarted(_, .member, let host, let members, _):
            .note("Chat started with \(list([host] + members.filter { $0.id != me })). \(who(host)) is the host.")
        case .memberJoined(_, let member): .note("\(who(member)) joined the chat.")
        case .memberLeft(_, let member, let reason): .note("\(who(member)) \(Self.departure(reason)).")
        case .chatEnded(let chat, .ended, _) where roles[chat] == .host: .note("You ended the chat.")
        case .chatEnded(_, let reason, let cause): .note(Self.ending(reason, cause))
        default: Lines()
        }
    }

    mutating func file(_ event: NodeEvent, now: Int64) -> Lines {
        switch event {
        case .fileOffered(let offer):
            offers[offer.transfer] = offer
            return .note(sentence(offer))
        case .fileAnswered(let transfer, let peer, let accepted, _):
            if accepted, offers[transfer] != nil { taken.insert(transfer) }
            return .note("\(who(peer)) \(accepted ? "accepted" : "declined") \(title(transfer)).")
        case .fileProgress(let progress): return self.progress(progress, now: now)
        case .fileReceived(let files): return received(files)
        case .fileDelivered(let transfer, let result):
            // An answer was told when it was given, and what the sender stops is told once, at the end.
            if result.status == .declined || result.reason == .withdrawn { return Lines() }
            return .note(sentence(transfer, result))
        case .fileDone(let transfer, [], _):
            // Nothing is known of those it was for.
            forget(transfer)
            return Lines()
        case .fileDone(let transfer, let results, _):
            defer { forget(transfer) }
            guard let offer = offers[transfer] else {
                return .note("Finished with a transfer. \(summary(of: results))")
            }
            let what = "#\(offer.number), \(Self.describe(offer.summary))"
            if !results.isEmpty, results.allSatisfy({ $0.status == .cancelled && $0.reason == .withdrawn }) {
                return .note("\(who(offer.from)) stopped \(what).")
            }
            return .note("Finished \(what). \(summary(of: results, from: offer.from))")
        default: return Lines()
        }
    }

    /// An open question as it is asked, and as it is read out again.
    static func question(
        _ number: Int, _ from: Peer, _ purpose: Purpose, _ offer: OfferSummary?, _ known: Standing
    ) -> String {
        "\(who(from, known)) \(request(purpose, offer)), #\(number)." + ways(number)
    }

    /// Someone who asks, and how this user knows them.
    static func who(_ peer: Peer, _ known: Standing) -> String {
        "\(NameBook.clean(peer.name)) (\(peer.id.short), \(standing(known)))"
    }

    /// What an invitation asks for, behind a name.
    static func request(_ purpose: Purpose, _ offer: OfferSummary?) -> String {
        switch (purpose, offer) {
        case (.file, let offer?): "offers you \(describe(offer))"
        case (.file, nil): "offers you files"
        case (.message, _): "has a message for you"
        case (.chat, _): "invites you to chat"
        }
    }

    /// What is offered: `“photos” with 12 files, 34 MB`.
    static func describe(_ offer: OfferSummary) -> String {
        let count = offer.files == 1 ? "" : " with \(Amount.counted(offer.files, "file"))"
        return "\(SafeText.quoted(offer.name))\(count), \(Amount.bytes(offer.size))"
    }

    /// Which transfer: `“photos” (#5)`.
    func title(_ transfer: TransferID) -> String {
        offers[transfer].map { "\(SafeText.quoted($0.summary.name)) (#\($0.number))" } ?? "a transfer"
    }

    /// How far an offer is when it is told.
    enum OfferStage { case asked, running, over }

    /// An offer as it is told, and in the list of transfers.
    func sentence(_ offer: FileOffer, _ stage: OfferStage = .asked) -> String {
        let what = "\(Self.describe(offer.summary)), #\(offer.number)."
        if offer.isMine { return "You offer\(stage == .over ? "ed" : "") \(list(offer.to)) \(what)" }
        let does = "\(names.shown(offer.from)) offer\(stage == .over ? "ed" : "s")"
        guard offer.to.contains(where: { $0.id == me }) else { return "\(does) \(list(offer.to)) \(what)" }
        return "\(does) you \(what)" + (stage == .asked ? Self.ways(offer.number) : "")
    }

    /// What can be typed about an open item, behind the sentence that asks.
    static func ways(_ number: Int) -> String { " Type /accept \(number) or /decline \(number)." }

    /// Who has it now, and who has not and why.
    func summary(of results: [TransferResult], from sender: Peer? = nil) -> String {
        let groups = Dictionary(grouping: results) { Outcome(status: $0.status, reason: $0.reason) }
        let sentences = groups.sorted { $0.key < $1.key }.map { outcome, results in
            let peers = results.map(\.peer), isOne = peers.count == 1 && peers[0].id != me
            let who = list(peers), verb = isOne ? "has" : "have"
            let sentence =
                switch outcome.status {
                case .verified: "\(who) \(verb) it."
                case .partial: "\(who) \(verb) a part of it."
                case .declined: "\(who) declined."
                case .cancelled where outcome.reason == .withdrawn:
                    "\(sender.map { self.who($0) } ?? "Its sender") stopped it"
                        + (groups.count > 1 ? " for \(who)." : ".")
                case .cancelled: "\(who) stopped it."
                case .failed: "\(who) did not get it, \(Self.why(outcome.reason))."
                }
            return sentence.hasPrefix("you ") ? "Y" + sentence.dropFirst() : sentence
        }
        return sentences.isEmpty ? "Nobody took it." : sentences.joined(separator: " ")
    }

    /// How it ended for some; the good first.
    private struct Outcome: Hashable, Comparable {
        private static let order: [TransferStatus] = [.verified, .partial, .declined, .cancelled, .failed]

        let status: TransferStatus
        let reason: TransferReason?

        static func < (left: Outcome, right: Outcome) -> Bool {
            let places = [left, right].map { order.firstIndex(of: $0.status) ?? order.count }
            return places[0] != places[1]
                ? places[0] < places[1] : (left.reason?.rawValue ?? "") < (right.reason?.rawValue ?? "")
        }
    }

    private static func why(_ reason: TransferReason?) -> String {
        switch reason {
        case .diskFull: "there is not enough room"
        case .unwritable: "it cannot be written there"
        case .unreadable: "the sender cannot read it any more"
        case .changed: "it changed while it was sent"
        case .corrupt: "it was altered on its way"
        case .tooLarge: "it is too large"
        case .stalled: "nothing moved for too long"
        case .timeout: "there was no answer"
        case .left: "the chat was left or ended"
        case .lost: "the connection was lost"
        case .withdrawn: "its sender stopped it"
        case nil: "for an unknown reason"
        }
    }

    /// A few are named; a large folder may leave out hundreds.
    static func skipped(_ entries: [String], _ count: Int) -> Lines {
        let shown = entries.prefix(5)
        let more = count > shown.count ? ["\(count - shown.count) more were left out."] : []
        return Lines(notes: shown.map { "Left out \(SafeText.path($0))." } + more)
    }

    private func received(_ files: ReceivedFiles) -> Lines {
        var lines = Lines()
        for path in files.paths {
            lines.results.append("Received \(SafeText.path(path)) from \(names.shown(files.from)).")
        }
        for name in files.mended.prefix(100) { lines.notes.append("Renamed \(SafeText.path(name)).") }
        for name in files.skipped.prefix(100) { lines.notes.append("Left out \(SafeText.path(name)).") }
        let untold = max(0, files.mended.count - 100) + max(0, files.skipped.count - 100)
        if untold > 0 { lines.notes.append("\(untold) more were renamed or left out.") }
        return lines
    }

    private func sentence(_ transfer: TransferID, _ result: TransferResult) -> String {
        let reason = result.reason.map { ", \(Self.why($0))" } ?? ""
        let what =
            switch result.status {
            case .verified: "has all of"
            case .partial: "has a part of"
            case .declined: "declined"
            case .failed: "did not get"
            case .cancelled: "stopped"
            }
        return
            "\(who(result.peer)) \(result.peer.id == me && what.hasPrefix("has") ? "have" + what.dropFirst(3) : what) "
            + "\(title(transfer))\(reason)."
    }

    private func sentence(_ target: InviteTarget, _ answer: Answer, _ reason: String?) -> String {
        let who = target.peer.map { names.shown($0) } ?? NameBook.clean(target.label)
        let what =
            switch answer {
            case .accepted: "accepted"
            case .declined: "declined"
            case .busy: "is busy"
            case .timeout: "did not answer"
            case .unreachable: "could not be reached"
            case .incompatible: "has a version that does not fit"
            case .wrongKey: "has another key than expected"
            }
        return "\(who) \(what)\(reason.map { " (\(SafeText.line($0)))" } ?? "")."
    }

    private static func departure(_ reason: DepartureReason) -> String {
        switch reason {
        case .left: "left the chat"
        case .crashed: "is gone, the program or machine failed"
        case .timedOut: "is gone, the connection was lost"
        case .kicked: "was removed from the chat"
        }
    }

    private static func ending(_ reason: ChatEndReason, _ cause: DepartureReason?) -> String {
        switch (reason, cause) {
        case (.ended, _): "Chat ended by the host."
        case (.left, _): "You left the chat."
        case (.kicked, _): "You were removed from the chat."
        case (.empty, _): "Chat ended, the last member has gone."
        case (.hostLost, .crashed): "Chat ended, the host's program or machine failed."
        case (.hostLost, .timedOut): "Chat ended, the connection to the host was lost."
        case (.hostLost, _): "Chat ended, the host is gone."
        }
    }
}
