internal import PeerModel
internal import PeerTerminal

/// A chat live on the terminal: what is told is printed once or changes the area below it, what is typed becomes wishes.
///
/// Nothing else may write to the terminal between `start` and `close`. After whatever was called, `step` draws.
final class LiveDisplay: ChatDisplay {
    /// How long Ctrl-C waits for a second one, in seconds.
    static let interruptWindow = 3.0
    private static let forever = Instant(nanoseconds: .max)

    private let terminal: any LiveTerminal
    private let clock: @Sendable () -> Instant
    private let paths: PathExpander
    /// `nil` in a run that keeps nothing.
    private let inputHistory: InputHistoryFile?
    private var sentences: LiveSentences
    private var console: LiveConsole
    private var size: TerminalSize
    private(set) var board: LiveBoard
    private var names = NameBook()
    /// The area does not show the board as it is.
    private var isStale = true
    private let ringsBell: Bool
    private var hasMention = false
    /// The bell has rung for all questions up to this number.
    private var rung = 0

    /// `nil` where there is no terminal, or lines only are wanted.
    init?(_ run: Run, me: Peer) {
        guard let traits = run.liveTraits, let terminal = run.world.openTerminal() else { return nil }
        self.terminal = terminal
        clock = run.world.clock
        paths = run.world.paths
        ringsBell = run.options.ringsBell
        sentences = LiveSentences(me: me)
        board = LiveBoard(me: me)
        size = terminal.size
        console = LiveConsole(size: size, palette: run.palette(traits), reflows: traits.reflows)
        inputHistory = run.options.keepsHistory ? InputHistoryFile(folder: run.home.stateFolder) : nil
        inputHistory?.lines().forEach { console.editor.remember($0) }
    }

    func start(_ body: @escaping @Sendable (TerminalEvent) -> Void) {
        do {
            try terminal.start(body)
        } catch {
            body(.ended)  // no thread can be had: as good as no terminal
        }
    }

    // MARK: Told

    func show(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook) {
        self.names = names
        switch event {
        // What its peer takes back again and again is neither told nor rung for.
        case .inviteReceived(let number, _, _, _, _) where told.notes.isEmpty: rung = max(rung, number)
        case .inviteWithdrawn(let number, let reason) where !told.notes.isEmpty:
            if let question = board.invitations.first(where: { $0.number == number }) {
                console.print([question.record(SafeText.path(reason))])
            }
            console.print(told.notes.dropFirst().map { LiveSentences.note($0) })
        case .reply(let line, .failed), .messageFailed(_, _, _, let line?): printBack(line)
        default: break
        }
        if case .message(let message) = event, message.mentions(board.me) { hasMention = true }
        board.note(event, at: clock())
        console.print(sentences.lines(event, told: told, names: names))
        isStale = true
    }

    func answer(_ line: Int, _ answer: ChatAnswer) {
        console.print(answer.sentences.flatMap(Self.lines))
        console.print(table(answer.table))
    }

    /// A sentence with a text of several lines, cut where these begin under their bar.
    private static func lines(_ sentence: String) -> [StyledText] {
        let bar = PlainNarrator.bar
        let parts = sentence.split(separator: bar, omittingEmptySubsequences: false)
        return parts.enumerated().map { StyledText(($0.offset > 0 ? String(bar.dropFirst()) : "") + $0.element) }
    }

    func refuse(_ line: Int, _ error: PeerConnectError) {
        printBack(line)
        report(error)
    }

    func report(_ error: PeerConnectError) {
        console.print(PlainNarrator.sentences(error).map { StyledText($0, .warning) })
    }

    func note(_ text: String) { console.print([LiveSentences.note(text)]) }

    func expect(_ text: String, line: Int, in chat: ChatID?, isHeld: Bool) {
        board.expect(text, line: line, in: chat, isHeld: isHeld)
        isStale = true
    }

    /// Drops the questions that were answered, but for a line each.
    func settle(_ snapshot: NodeSnapshot) {
        console.print(board.settle(snapshot, at: clock()).map { $0.record(nil) })
        isStale = true
    }

    /// A line that waited for the one before it has its turn.
    func drop(_ line: Int) {
        board.drop(line)
        isStale = true
    }

    func renamed(_ me: Peer) {
        (board.me, sentences) = (me, LiveSentences(me: me))
        isStale = true
    }

    func place(_ book: ChatBook) {
        board.book = book
        isStale = true
    }

    func replay(_ lines: [(event: NodeEvent, told: PlainNarrator.Lines)], names: NameBook, isAnswer: Bool) {
        console.print(lines.flatMap { sentences.lines($0.event, told: $0.told, names: names) })
    }

    func setRefusing(_ refusesAll: Bool) {
        board.refusesAll = refusesAll
        isStale = true
    }

    func setGathering(_ isGathering: Bool, isJoining: Bool) {
        if (board.isGathering, board.isJoining) != (isGathering, isJoining) { isStale = true }
        board.setGathering(isGathering, isJoining: isJoining)
    }

    func invite(_ wanted: [PeerReference]) {
        board.invite(wanted)
        isStale = true
    }

    /// A text that did not go out is given back, since the live area no longer shows it.
    private func printBack(_ line: Int) {
        guard let text = board.waiting.first(where: { $0.line == line })?.text else { return }
        drop(line)
        echo(text)
    }

    /// What was entered, above its answer.
    func echo(_ text: String) {
        console.print(
            text.split(separator: "\n", omittingEmptySubsequences: false).map { StyledText("> " + $0, .quiet) })
    }

    /// Two columns, or in a narrow terminal one below the other; what stands alone is a heading.
    private func table(_ rows: [(String, String)]) -> [StyledText] {
        let left = (rows.map(\.0.count).max() ?? 0) + 2, right = rows.map(\.1.count).max() ?? 0
        return rows.flatMap { usage, summary -> [StyledText] in
            guard !summary.isEmpty else { return [StyledText(usage, .question)] }
            guard left + right > size.columns else {
                let gap = String(repeating: " ", count: left - usage.count)
                return [StyledText(usage) + StyledText(gap + summary, .quiet)]
            }
            return [StyledText(usage), StyledText("  " + summary, .quiet)]
        }
    }

    // MARK: Typed

    func take(_ event: TerminalEvent) -> [ConsoleEvent] {
        switch event {
        case .resized(let size), .resumed(let size):
            self.size = size
            isStale = true
        default: break
        }
        let completer = ChatCompleter(board: board, names: names, paths: paths)
        let wishes = console.take(event, at: clock(), completer: completer.candidates)
        for case .line(let text, _) in wishes { inputHistory?.add(text) }
        if case .bytes = event, wishes.isEmpty || wishes.contains(where: { $0 != .interrupt }) { disarm() }
        return wishes
    }

    /// Only two Ctrl-C in a row leave: any other key between them means that the user goes on.
    private func disarm() {
        guard let notice = board.notice, notice.until != Self.forever else { return }
        board.notice = nil
        isStale = true
    }

    /// Whether Ctrl-C leaves now; the first one says what a second would do.
    var isInterruptDue: Bool { board.notice.map { clock() < $0.until } ?? false }

    func warn(_ text: String) {
        board.notice = (text, clock() + Self.interruptWindow)
        isStale = true
    }

    /// The program says goodbye, which may take a moment.
    func leaving() {
        board.notice = ("Leaving.", Self.forever)
        isStale = true
    }

    // MARK: Screen

    /// Draws, or says in how many seconds to ask again.
    func step() -> Double? {
        let now = clock()
        if let notice = board.notice, now >= notice.until {
            board.notice = nil
            isStale = true
        }
        if isStale { board.fill(&console.area, names: names, width: size.columns) }
        isStale = false
        switch console.step(at: now) {
        case .nothing: return nil
        case .wait(let time): return max(0, time - now)
        case .write(let bytes, let rows):
            console.wrote(terminal.write(takeBell() + bytes, rowsBelowCursor: rows))
            return nil
        }
    }

    /// One for what wants attention: a question that is still open, a mention.
    private func takeBell() -> [UInt8] {
        let newest = board.openNumbers.max() ?? 0
        defer { (rung, hasMention) = (max(rung, newest), false) }
        return ringsBell && (newest > rung || hasMention) ? [0x07] : []
    }

    func suspend() {
        terminal.write(console.leave(), rowsBelowCursor: nil)
        terminal.suspend()
    }

    func close() {
        terminal.write(console.leave(), rowsBelowCursor: nil)
        terminal.close()
        inputHistory?.flush()
    }
}
