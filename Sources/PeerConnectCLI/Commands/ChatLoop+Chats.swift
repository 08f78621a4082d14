internal import PeerConnect
internal import PeerModel

/// Which of several chats a line is for.
extension ChatLoop {
    mutating func switchTo(_ number: Int, _ line: Int) {
        if number == 0, teller.maximumChats == 1, teller.book.current != nil {
            return teller.refuse(
                line,
                PeerConnectError(
                    .usage, "You can be in one chat only.", hint: "Start with --max-chats N for more."))
        }
        // What was typed before it is for the chat that is about to start, what comes behind it is not.
        guard held.isEmpty else {
            // Whoever types at plain lines must be able to give it up: they are read one by one.
            if isInteractive, live == nil { return teller.refuse(line, Self.textsWait) }
            heldSwitch = (line, number)
            return teller.note("That waits until what you typed has gone to the chat that is about to start.")
        }
        let isThere = number == 0 || teller.book.chats.contains { $0.number == number }
        teller.switchTo(number, line)
        // What follows was typed for that chat. A person has seen that it is not there; a script has not.
        if !isThere, !isInteractive, teller.maximumChats > 1 { teller.drift() }
        followBook()
    }

    /// Sends what waited for a chat, and then goes where the user wanted to go behind it.
    mutating func performHeld() {
        // Theirs is not the one that comes.
        for (line, _, _) in held.filter({ state.isVain($0.awaited) }) { teller.refuse(line, Self.otherChat) }
        held.removeAll { state.isVain($0.awaited) }
        // One that is refused makes room for the next at once.
        while !state.holdsTexts, !held.isEmpty, current == nil, !isSaying {
            let (line, command, awaited) = held.removeFirst()
            if state.isInChat, !state.fulfilled.contains(awaited) {
                state.lose()
                teller.refuse(line, Self.otherChat)
            } else {
                perform(command, line: line)
            }
        }
        guard held.isEmpty, current == nil, !isSaying, let (line, number) = heldSwitch else { return }
        heldSwitch = nil
        switchTo(number, line)
    }

    private static let textsWait = PeerConnectError(
        .busy, "What you typed waits for the chat that is about to start.",
        hint: "Wait for it, or give it up with /end.")

    private static let otherChat = PeerConnectError(
        .noChat, "This was typed for a chat that you are not in.",
        hint: "Get it back with the up arrow, and say it where it belongs.")

    /// A text is on its way to the current chat: the next one waits, so that they keep their order.
    var isSaying: Bool { saying.contains { $0.chat == teller.book.current?.id } }

    /// After everything that may have changed which chat is current.
    mutating func followBook() {
        state.follow(teller.book.current)
        state.isAdrift = teller.book.isAdrift
    }

    /// The user wants a further chat: what is typed now is meant for it.
    mutating func expectChat() {
        teller.expectChat()
        followBook()
    }

    /// The command as it is meant where there is no current chat among several: what is for one is not done in another.
    func placed(_ command: NodeCommand) -> NodeCommand? {
        guard teller.book.current == nil, !teller.book.chats.isEmpty else { return command }
        return switch command {
        case .say, .send: nil
        case .leave, .end: state.isGathering ? .giveUp : nil
        default: command
        }
    }

    /// Whether a chat that starts is one that was asked for, or no other is waited for.
    func isAsked(_ event: NodeEvent) -> Bool {
        guard case .chatStarted(let chat, let role, _, _, _) = event else { return true }
        return teller.maximumChats == 1 || state.isAsked(chat, role)
    }

    /// Refuses what was begun in a chat that has ended while it was typed, and that would now go to another.
    func isLate(_ command: NodeCommand, _ line: Int) -> Bool {
        guard let begun, let endedAt, begun < endedAt, teller.book.current != nil || state.holdsTexts
        else { return false }
        switch command {
        case .say(let text): teller.display.expect(text, line: line, in: nil, isHeld: false)
        case .send, .leave, .end: break
        default: return false
        }
        teller.refuse(
            line,
            PeerConnectError(
                .noChat, "The chat you began that line in is over, and what you type now is for another.",
                hint: "If it is for that one, get it back with the up arrow."))
        return true
    }

    /// Those that are for the current chat: what stands behind a `/switch` does not overtake it.
    var linesBeforeSwitch: ArraySlice<(number: Int, text: String, begun: Instant)> {
        entered.prefix { $0.text.prefix { $0 != " " && $0 != "\t" } != "/switch" }
    }
}

extension Reply {
    /// Nothing came of it.
    var isFailure: Bool { if case .failed = self { true } else { false } }
}
