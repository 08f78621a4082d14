internal import PeerConnect
internal import PeerModel

/// How a chat ends: by its input, by whoever sits there, by a signal.
extension ChatLoop {
    mutating func endOfInput() async {
        // At a terminal the end of input is Ctrl-D: whoever sits there wants out.
        if !quitWasAsked, await asksToQuit() { return }
        inputEnded = true
        if run.world.inputIsTerminal { stop(.done) }
    }

    mutating func quit(_ number: Int, isSecond: Bool) async {
        if !isSecond, await asksToQuit() { return }
        for (line, _, _) in held { teller.refuse(line, Self.noChatToWaitFor) }
        held = []
        teller.confirm(number)
        stop(run.world.inputIsTerminal ? .done : finalStatus)
    }

    /// Says what quitting would end, if it ends something and a person is there; a second wish does it.
    private mutating func asksToQuit() async -> Bool {
        guard isInteractive, let loss = await whatQuittingDoes() else { return false }
        quitWasAsked = true
        teller.note("Quitting \(loss). Type /quit or Ctrl-D again to do it.")
        return true
    }

    /// A person is there who can be asked.
    var isInteractive: Bool { run.world.inputIsTerminal && !run.console.isJSON }

    var finalStatus: ExitStatus {
        if !invitees.isEmpty, !state.hadChat { return inviteStatus ?? .notReachable }
        return state.isWhole ? .done : .incomplete
    }

    /// How long members may be told where somebody waits for the end: the rest of the 2 s is for what is written down.
    static let telling = Duration.milliseconds(1500)

    private static let noChatToWaitFor = PeerConnectError(
        .noChat, "There was no chat to send this to.", hint: "Quit after it has begun.")

    /// The node says goodbye; its last events are still told.
    ///
    /// A script waits for it; a person, and who sent a signal, do not wait for one that hangs.
    mutating func stop(_ status: ExitStatus, isInterrupted: Bool = false) {
        guard !isStopping else { return }
        isStopping = true
        teller.leave()
        self.status = status
        let isAwaited = run.world.inputIsTerminal
        if isAwaited { run.world.leaving() }
        queue.run { [session] in
            if isAwaited || isInterrupted { await session.stop(within: Self.telling) } else { await session.stop() }
            return nil
        }
    }

    /// Ctrl-C on an empty line: the first says what would end, a second soon after leaves.
    ///
    /// What the screen knows does for it: nothing is waited for here. The second one ends the program as SIGINT does,
    /// which it is where the terminal keeps its line mode.
    mutating func interrupt(_ live: LiveDisplay) {
        guard !live.isInterruptDue else {
            run.world.interrupts.leave()
            return stop(.done)
        }
        let loss = teller.whatLeavingDoes(
            in: live.board.book.chats.map { ($0.role, $0.members.count) },
            running: live.board.transfers.count { !$0.isOpen })
        live.warn("Ctrl-C again leaves\(loss.map { ", which \($0)" } ?? "").")
        alarm(in: LiveDisplay.interruptWindow)
    }

    /// The first Ctrl-C; the second one comes as a signal.
    func sayWhatEnds() async {
        guard !isStopping, let loss = await whatQuittingDoes() else { return run.world.interrupts.leave() }
        // The terminal has written ^C.
        run.console.err("")
        teller.note("Ctrl-C again leaves, which \(loss).")
    }

    private func whatQuittingDoes() async -> String? {
        let snapshot = await session.snapshot()
        return teller.whatLeavingDoes(
            in: snapshot.chats.map { ($0.role, $0.members.count) },
            running: snapshot.transfers.count(where: teller.wouldStop))
    }
}
