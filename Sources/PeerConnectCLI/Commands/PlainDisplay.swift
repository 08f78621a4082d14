internal import PeerModel
internal import PeerTerminal

/// Sentences that are only ever appended.
///
/// Where lines are held, what comes in waits for the next Enter, so that nothing is printed into what is being typed;
/// what Enter itself led to is not held.
final class PlainDisplay: ChatDisplay {
    /// A flood is printed instead of kept.
    private static let heldAtMost = 1000

    private let console: Console
    private let outColumns: @Sendable () -> Int?
    private let errorColumns: @Sendable () -> Int?
    private let inputIsTerminal: Bool
    private let rings: Bool
    private let asksAboutFiles: Bool
    private var me: Peer
    private var holds: Bool
    private var held: [(text: String, isResult: Bool)] = []

    init(_ run: Run, me: Peer) {
        console = run.console
        (outColumns, errorColumns) = (run.world.outColumns, run.world.errorColumns)
        inputIsTerminal = run.world.inputIsTerminal
        let isSomeoneThere = run.world.inputIsTerminal && run.console.outIsTerminal
        // Others without a cursor may well write the bell out; dumb has one (terminfo(5)).
        let environment = run.world.environment
        let hasBell = TerminalTraits(environment: environment).hasCursor || environment["TERM"] == "dumb"
        rings = isSomeoneThere && run.options.ringsBell && hasBell
        holds = run.world.inputIsTerminal && run.options.holdsLines
        let rule = run.settings.arguments.last("--accept-files")
        asksAboutFiles = rule != "all" && rule != "none"
        self.me = me
    }

    func show(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook) {
        if rings, wantsAttention(event), !told.notes.isEmpty || !told.results.isEmpty { console.writeErr("\u{7}") }
        hold(told, isAnswer: Self.isAnswer(event))
    }

    private func hold(_ lines: PlainNarrator.Lines, isAnswer: Bool = false) {
        held += lines.results.map { ($0, true) } + lines.notes.map { ($0, false) }
        if !holds || isAnswer || held.count > Self.heldAtMost { release() }
    }

    /// What was typed led to it, just now.
    private static func isAnswer(_ event: NodeEvent) -> Bool {
        switch event {
        case .reply: true
        case .message(let message): message.ref != nil
        case .fileOffered(let offer): offer.isMine
        default: false
        }
    }

    /// A question, or a mention.
    private func wantsAttention(_ event: NodeEvent) -> Bool {
        switch event {
        case .inviteReceived: true
        case .fileOffered(let offer): asksAboutFiles && !offer.isMine && offer.to.contains { $0.id == me.id }
        case .message(let message): message.mentions(me)
        default: false
        }
    }

    private func release() {
        for line in held { line.isResult ? out(line.text) : err(line.text) }
        held = []
    }

    private func out(_ text: String) { Self.rows(of: text, width: outColumns()).forEach(console.out) }

    private func err(_ text: String) { Self.rows(of: text, width: errorColumns()).forEach(console.err) }

    /// A terminal that wraps a long line itself lets any part of it begin a row, where another line would begin.
    private static func rows(of text: String, width: Int?) -> [String] {
        guard let width else { return [text] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap {
            StyledText(String($0)).printed(to: width)
        }
    }

    func entered() { release() }

    func leaving() {
        release()
        holds = false
    }

    func renamed(_ me: Peer) { self.me = me }

    func replay(_ lines: [(event: NodeEvent, told: PlainNarrator.Lines)], names: NameBook, isAnswer: Bool) {
        for line in lines { hold(line.told) }
        if isAnswer { release() }
    }

    func answer(_ line: Int, _ answer: ChatAnswer) {
        answer.sentences.forEach(out)
        if !answer.table.isEmpty { console.out(Help.table(answer.table)) }
    }

    func refuse(_ line: Int, _ error: PeerConnectError) { PlainNarrator.sentences(error).forEach(err) }

    func report(_ error: PeerConnectError) { hold(PlainNarrator.Lines(notes: PlainNarrator.sentences(error))) }

    func note(_ text: String) { err(text) }

    func remark(_ text: String) { hold(.note(text)) }

    func expect(_ text: String, line: Int, in chat: ChatID?, isHeld: Bool) {
        if isHeld, inputIsTerminal { note("That waits for the chat to start.") }
    }
}
