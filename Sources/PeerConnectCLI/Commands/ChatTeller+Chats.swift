internal import PeerModel

/// Several chats at once: what is said in one that is not the current one waits until somebody looks there.
extension ChatTeller {
    /// What of the event's words is shown now, where the chats were as they were `before`.
    mutating func place(
        _ told: PlainNarrator.Lines, of event: NodeEvent, before: ChatBook
    ) -> PlainNarrator.Lines {
        guard display.showsOneChat else { return told }
        switch event {
        case .message(let message) where book.isElsewhere(message.chat):
            unread[message.chat, default: UnreadLines()].add(event, told)
            return unreadNote(message)
        case .memberJoined(let chat, _), .memberLeft(let chat, _, _):
            guard book.isElsewhere(chat) else { return told }
            unread[chat, default: UnreadLines()].add(event, told)
            return PlainNarrator.Lines()
        case .fileOffered(let offer) where book.isElsewhere(offer.chat):
            return told + (book.chat(offer.chat).map { ["#\(offer.number) is in \(title($0))."] } ?? [])
        case .chatStarted(let chat, _, _, _, _): return told + started(chat)
        case .chatEnded(let chat, _, _):
            guard let ended = before.chat(chat) else { return told }
            showUnread(of: ended)
            return told + self.ended(ended, wasCurrent: before.current?.id == chat)
        default: return told
        }
    }

    /// For who cannot see how much is unread: of the first line, and of the first that names this peer.
    private mutating func unreadNote(_ message: ChatMessage) -> PlainNarrator.Lines {
        guard message.ref == nil, let chat = book.chat(message.chat) else { return PlainNarrator.Lines() }
        let way = "/switch \(chat.number) shows it."
        if message.mentions(me), unread[chat.id]?.hasToldMention == false {
            unread[chat.id]?.hasToldMention = true
            return .note("\(narrator.names.shown(message.from)) names you in \(title(chat)). \(way)")
        }
        return chat.unread == 1 ? .note("Unread in \(title(chat)). \(way)") : PlainNarrator.Lines()
    }

    /// Where a chat that has just started stands, if there are others.
    private func started(_ id: ChatID) -> [String] {
        guard book.chats.count > 1 || book.current == nil, let chat = book.chat(id) else { return [] }
        guard let current = book.current else {
            return ["It is chat \(chat.number); /switch \(chat.number) goes there."]
        }
        guard current.id != id else { return ["It is chat \(chat.number), and what you type goes there."] }
        return [
            "It is chat \(chat.number); what you type still goes to chat \(current.number). "
                + "/switch \(chat.number) goes there."
        ]
    }

    /// Which chat is over, and where what is typed goes now, if there are others.
    private func ended(_ chat: ChatBook.Chat, wasCurrent: Bool) -> [String] {
        guard !book.chats.isEmpty else { return [] }
        let which = "That was \(title(chat))."
        return wasCurrent && !isLeaving ? [which, "What you type goes nowhere now. \(wayToOthers)"] : [which]
    }

    private mutating func showUnread(of chat: ChatBook.Chat) {
        guard let unread = unread.removeValue(forKey: chat.id), let first = unread.lines.first else { return }
        let heading = PlainNarrator.Lines.result("This was unread in \(title(chat)).")
        display.replay([(first.event, heading)], names: narrator.names, isAnswer: false)
        show(unread, of: chat.id, isAnswer: false)
    }

    private func show(_ unread: UnreadLines, of id: ChatID, isAnswer: Bool) {
        if unread.dropped > 0 {
            let count = Amount.counted(unread.dropped, "line")
            let way = keepsHistory ? "; peerconnect history show \(id.description.prefix(8)) has them" : ""
            display.remark("\(count) before these \(unread.dropped == 1 ? "is" : "are") left out\(way).")
        }
        display.replay(unread.lines, names: narrator.names, isAnswer: isAnswer)
    }

    /// How a line is refused that has no chat to go to, though there are chats.
    var inNoChat: PeerConnectError {
        PeerConnectError(.noChat, "You are in no chat now.", hint: wayToOthers)
    }

    private var wayToOthers: String {
        guard let chat = book.chats.first, book.chats.count == 1 else {
            return "/chats lists your other chats, /switch N goes to one."
        }
        return "/switch \(chat.number) goes to \(title(chat))."
    }

    /// Of more people some stand for all.
    private static let namedAtMost = 3

    /// `chat 2 with bob and carol`.
    private func title(_ chat: ChatBook.Chat) -> String {
        let present = chat.everyone.filter { $0.id != me.id }
        let others = (present.isEmpty ? chat.gone : present).map { narrator.names.shown($0) }
        guard !others.isEmpty else { return "chat \(chat.number)" }
        let more = others.count - Self.namedAtMost
        let named = more > 1 ? others.prefix(Self.namedAtMost) + [Amount.counted(more, "other")] : others[...]
        return "chat \(chat.number) with \(Amount.list(Array(named)))"
    }

    // MARK: Lines

    func listChats(_ line: Int) {
        let list = book.chats.map { json($0) }
        let sentences = book.chats.map { chat in
            let host = chat.role == .host ? "you are the host" : "\(narrator.names.shown(chat.host)) is the host"
            let place = chat.id == book.current?.id ? "what you type goes there" : "/switch \(chat.number) goes there"
            let unread = chat.unread > 0 ? ", \(chat.unread) unread" : ""
            return "C\(title(chat).dropFirst()), \(host), \(place)\(unread)."
        }
        answer(line, [("chats", .array(list))], sentences.isEmpty ? ["You are in no chat."] : sentences)
    }

    private func json(_ chat: ChatBook.Chat) -> JSONValue {
        [
            "number": .int(Int64(chat.number)), "chat": .string(chat.id.description),
            "role": .string(chat.role.rawValue), "host": chat.host.json, "members": .array(chat.members.map(\.json)),
            "current": .bool(chat.id == book.current?.id), "unread": .int(Int64(chat.unread)),
        ]
    }

    /// Goes to the chat of this number, and shows what was unread there; 0 goes to none.
    mutating func switchTo(_ number: Int, _ line: Int) {
        guard number > 0 else {
            makeCurrent(0)
            let way = book.chats.count < maximumChats ? "; /invite begins a new one" : ""
            return answer(line, [("chat", .null)], ["What you type goes to no chat now\(way)."])
        }
        guard let chat = book.chats.first(where: { $0.number == number }) else {
            let way = book.chats.isEmpty ? "/invite PEER… begins one." : "/chats lists them."
            return refuse(line, PeerConnectError(.noSuchNumber, "There is no chat \(number).", hint: way))
        }
        let isThere = chat.id == book.current?.id
        makeCurrent(number)
        answer(
            line, [("chat", json(book.chat(chat.id) ?? chat))],
            ["\(isThere ? "You are in" : "What you type goes to") \(title(chat))\(isThere ? " already" : " now")."])
        if let unread = unread.removeValue(forKey: chat.id) { show(unread, of: chat.id, isAnswer: true) }
    }
}

extension PlainNarrator.Lines {
    static func + (lines: Self, notes: [String]) -> Self {
        Self(results: lines.results, notes: lines.notes + notes)
    }
}
