internal import PeerModel
internal import PeerTerminal

/// The board as rows of the live area.
extension LiveBoard {
    private static let peopleRowsAtMost = 4

    func fill(_ area: inout LiveArea, names: NameBook, width: Int) {
        area.people = book.current == nil ? people(names, width) : []
        area.waiting = waiting.map { line in
            StyledText(place(of: line) + ": " + line.text, .quiet)
        }
        area.transfers = transfers.filter { !$0.isOpen }.map { $0.line(names: names) }
        area.questions = questions(names, width)
        if let discovery, discovery.state == .down, !isUnlisted {
            let text = PlainNarrator.broken(discovery.backend, discovery.reason)
            area.questions += StyledText(text, .warning).wrapped(to: width)
        }
        area.warnings = notice.map { StyledText($0.text, .warning).wrapped(to: width) } ?? []
        area.status = status(names, width)
    }

    private func place(of line: Waiting) -> String {
        guard !line.isHeld else { return "waits for the chat" }
        let elsewhere = line.chat.flatMap { book.isElsewhere($0) ? book.chat($0) : nil }
        return "on its way" + (elsewhere.map { " to chat \($0.number)" } ?? "")
    }

    /// Columns of numbers and names; the last row says how many are missing.
    private func people(_ names: NameBook, _ width: Int) -> [StyledText] {
        // No row holds more than one in two columns, and only so many are worth their names.
        let words = peers.prefix(Self.peopleRowsAtMost * width / 2).map { peer -> String in
            let state = peer.isBusy ? " (busy)" : peer.kind == "inbox" ? " (takes files)" : ""
            return "\(peer.number) \(names.shown(peer.peer))\(state)"
        }
        let label = "Here: ", indent = String(repeating: " ", count: label.count)
        var rows = LiveArea.columns(words, width: width - label.count)
        if rows.count > Self.peopleRowsAtMost {
            rows = rows.prefix(Self.peopleRowsAtMost - 1) + [StyledText("and more, /peers lists all", .quiet)]
        }
        return rows.enumerated().map { StyledText($0.offset == 0 ? label : indent, .quiet) + $0.element }
    }

    /// In the order of their numbers; where one row does not do, what to type stands in the next.
    private func questions(_ names: NameBook, _ width: Int) -> [StyledText] {
        let asked = invitations.map { ($0.number, "\(PlainNarrator.who($0.from, $0.known)) \($0.request)") }
        let offered = transfers.filter(\.isOpen).map { transfer in
            let offer = transfer.offer
            return (offer.number, "\(names.shown(offer.from)) offers \(PlainNarrator.describe(offer.summary))")
        }
        return (asked + offered).sorted { $0.0 < $1.0 }.flatMap { number, text -> [StyledText] in
            let question = StyledText("#\(number) ", .quiet) + StyledText(text, .question)
            let ways = "/accept \(number) or /decline \(number)"
            let inOne = question + StyledText("  " + ways)
            return inOne.wrapped(to: width).count == 1
                ? [inOne] : question.wrapped(to: width) + [StyledText("   " + ways)]
        }
    }

    /// What matters most first: the row may be cut.
    private func status(_ names: NameBook, _ width: Int) -> StyledText {
        var text = StyledText()
        if !book.unread.isEmpty {
            let chats = book.unread.map { "\($0.unread) in chat \($0.number)" }.joined(separator: ", ")
            text.append("unread \(chats)", .question)
            text.append(", ")
        }
        if let chat = book.current {
            let number = book.chats.count > 1 ? "chat \(chat.number) with " : nil
            text.append((chat.role == .host ? "hosting " : "") + (number ?? (chat.role == .host ? "" : "chat with ")))
            for (index, peer) in others.enumerated() {
                if index > 0 { text.append(", ") }
                text.append(names.shown(peer), .peer(peer.id))
                if peer.id == chat.host.id { text.append(" (host)") }
            }
            text.append(", ")
        }
        text.append("you are ")
        text.append(NameBook.clean(me.name), .own)
        if book.current == nil {
            let named = text + StyledText(situation(names, isNaming: true))
            text = named.wrapped(to: width).count == 1 ? named : text + StyledText(situation(names, isNaming: false))
        }
        if refusesAll { text.append(", do not disturb", .warning) }
        guard let discovery else { return text }
        let whole = text + StyledText("  discovery \(discovery.backend)", .quiet)
        return whole.wrapped(to: width).count == 1 ? whole : text
    }

    /// Nobody is looked for, as the user wanted it.
    private var isUnlisted: Bool { discovery?.backend == "off" }

    /// Whom a word means: the peer of that number, or whoever is called so.
    private func called(_ word: String, _ names: NameBook) -> String {
        peers.first { "\($0.number)" == word }.map { names.shown($0.peer) } ?? NameBook.clean(word)
    }

    /// What there is to know while there is no chat.
    private func situation(_ names: NameBook, isNaming: Bool) -> String {
        if isJoining { return ", accepted, the chat starts when the others have answered, /leave gives up" }
        if isGathering {
            let whom = isNaming && !awaited.isEmpty ? " \(Amount.list(awaited.map { called($0, names) }))" : ""
            return ", inviting\(whom), /start begins now, /end gives up"
        }
        if let chat = book.chats.first {
            return ", in no chat now, "
                + (book.chats.count > 1 ? "/chats lists yours" : "/switch \(chat.number) goes to one")
        }
        if isUnlisted { return ", not in a chat, /invite takes an address" }
        return peers.isEmpty ? ", nobody else is here yet" : ", not in a chat"
    }
}

extension LiveBoard.Question {
    /// What is asked, behind the name: `invites you to chat`.
    var request: String { PlainNarrator.request(purpose, offer) }

    /// What stays of it above the live area.
    func record(_ end: String?) -> StyledText {
        let end = end.map { " (\($0))" } ?? ""
        return StyledText("#\(number): \(NameBook.withID(from)) \(request)\(end).", .quiet)
    }
}
