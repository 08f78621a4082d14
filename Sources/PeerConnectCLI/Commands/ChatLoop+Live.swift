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

    mutating func take(_ event: TerminalEvent) async {
        guard let live else { return }
        for wish in live.take(event) {
            switch wish {
            case .line(let text, let begun): entered.append((text, begun))
            case .interrupt: await interrupt(live)
            case .endOfInput: entered.append(("/quit", run.world.clock()))
            case .suspend: live.suspend()
            case .ended: stop(.done)
            }
        }
    }

    /// Ctrl-C on an empty line: the first says what would end, a second soon after leaves.
    private mutating func interrupt(_ live: LiveDisplay) async {
        guard !live.isInterruptDue else { return stop(.done) }
        let loss = teller.whatLeavingDoes(await session.snapshot())
        live.warn("Ctrl-C again leaves\(loss.map { ", which \($0)" } ?? "").")
        alarm(in: LiveDisplay.interruptWindow)
    }

    /// The next line that may be looked at: not before the one before it was answered.
    mutating func nextEntered() -> PromptLine? {
        guard let live, !isStopping, current == nil, held.count < Self.heldAtMost, !entered.isEmpty else { return nil }
        let (text, begun) = entered.removeFirst()
        self.begun = begun
        if text.hasPrefix("/"), !text.hasPrefix("//") { live.echo(text) }
        return parser.parse(text)
    }

    mutating func settle() async {
        guard let live, isUnsettled else { return }
        isUnsettled = false
        live.settle(await session.snapshot())
    }

    func draw() {
        guard let live else { return }
        live.setGathering(state.holdsTexts)
        if let seconds = live.step() { alarm(in: seconds) }
    }

    private func alarm(in seconds: Double) {
        queue.run { [sleep = run.world.sleep] in (try? await sleep(.seconds(seconds))).map { .frame } }
    }
}
