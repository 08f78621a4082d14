internal import PeerConnect
internal import PeerModel
internal import PeerTerminal

/// What the chat does beyond its lines when it is live on the terminal.
extension ChatLoop {
    /// Who this peer is and what can be done.
    func greet(downloads: String) {
        teller.note("You are \(NameBook.withID(session.me)). Received files go to \(SafeText.line(downloads)).")
        if live != nil {
            teller.note("/invite NAME starts a chat. In it a line is a message, /send PATH offers files.")
            teller.note("Tab completes, /help lists every command, /quit leaves.")
        } else if run.world.inputIsTerminal {
            teller.note("/help lists the commands.")
        }
    }

    /// What is waited for now, where no status line shows it.
    func explain(_ command: NodeCommand) {
        guard isInteractive, live == nil else { return }
        switch command {
        case .invite:
            teller.note("Invited. Answers may take 30 s; /start begins with those who have accepted, /end gives up.")
        case .accept where state.isJoining: teller.note("Accepted. The chat starts when the others have answered.")
        case .doNotDisturb(let isOn): teller.note(isOn ? "All invitations are refused." : "Invitations are let in.")
        default: break
        }
    }

    mutating func take(_ event: TerminalEvent) {
        guard let live else { return }
        for wish in live.take(event) {
            switch wish {
            case .line(let text, let begun): enter(text, begun: begun, live)
            case .interrupt: interrupt(live)
            case .endOfInput: enter("/quit", begun: run.world.clock(), live)
            case .suspend: live.suspend()
            case .ended: stop(.done)
            }
        }
    }

    private mutating func enter(_ text: String, begun: Instant, _ live: LiveDisplay) {
        lineNumber += 1
        if current != nil || !saying.isEmpty || isWorking || !entered.isEmpty {
            live.expect(text, line: lineNumber, in: nil, isHeld: false)
        }
        entered.append((lineNumber, text, begun))
    }

    /// The next line that may be looked at.
    mutating func nextEntered() -> (number: Int, line: PromptLine)? {
        guard let live, !isStopping, let index = nextIndex else { return nil }
        let (number, text, begun) = entered.remove(at: index)
        live.drop(number)
        self.begun = begun
        if text.hasPrefix("/"), !text.hasPrefix("//") { live.echo(text) }
        return (number, parser.parse(text))
    }

    /// The first one, once the one before it was answered; only what is said waits for what was said before.
    ///
    /// Who wants out does not wait for an acceptance either: it looks at a disk that may not answer.
    private var nextIndex: Int? {
        let before = linesBeforeSwitch
        if case .accept? = current?.command {
            return before.firstIndex { ["/leave", "/end"].contains($0.text) }
                ?? entered.firstIndex { $0.text == "/quit" }
        }
        guard !isWorking, current == nil, held.count < Self.heldAtMost else { return nil }
        if heldSwitch != nil { return entered.firstIndex { ["/leave", "/end", "/quit"].contains($0.text) } }
        if !isSaying || before.isEmpty { return entered.indices.first }
        return before.firstIndex { Self.isCommand($0.text) }
    }

    /// One that says nothing in the chat.
    private static func isCommand(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//") && text.prefix { $0 != " " } != "/send"
    }

    /// Whether it invites this peer itself, which is on no list; a namesake that is there may be meant.
    func namesOneself(_ command: NodeCommand) async -> Bool {
        guard case .invite(let wanted) = command else { return false }
        let me = session.me, names = wanted.map { $0.text.lowercased() }
        if names.contains(me.id.description) { return true }
        guard names.contains(me.name.lowercased()) else { return false }
        let known = try? await session.records.acquaintances()
        return await !session.snapshot().peers.contains { $0.peer.name.lowercased() == me.name.lowercased() }
            && known?.peers(named: me.name).isEmpty != false
    }

    /// As it was typed, or nearly so.
    static func text(of command: NodeCommand) -> String {
        switch command {
        case .say(let text): text
        case .send(let paths, _): "/send " + paths.joined(separator: " ")
        default: ""
        }
    }

    mutating func settle() async {
        guard let live, isUnsettled else { return }
        isUnsettled = false
        live.settle(await session.snapshot())
    }

    func draw() {
        guard let live else { return }
        live.setGathering(state.holdsTexts, isJoining: state.isJoining)
        if let seconds = live.step() { alarm(in: seconds) }
    }

    func alarm(in seconds: Double) {
        queue.run { [sleep = run.world.sleep] in (try? await sleep(.seconds(seconds))).map { .frame } }
    }
}
