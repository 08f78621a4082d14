internal import PeerModel

/// Where a chat is shown: as JSON, as plain lines, or live on a terminal.
protocol ChatDisplay {
    /// What happened, and the same in words.
    func show(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook)
    /// The answer to a line of input.
    func answer(_ line: Int, _ answer: ChatAnswer)
    func refuse(_ line: Int, _ error: PeerConnectError)
    /// What failed without a line that asked for it.
    func report(_ error: PeerConnectError)
    /// For a person only.
    func note(_ text: String)
    /// An own text is on its way, or is held until the chat starts.
    func expect(_ text: String, line: Int, isHeld: Bool)
}

/// The answer to a line, for every kind of display.
struct ChatAnswer {
    /// Of the JSON reply.
    var fields: [(key: String, value: JSONValue)] = []
    var sentences: [String] = []
    /// Two columns, in place of sentences.
    var table: [(String, String)] = []
}

/// One object per line, for programs.
struct JSONDisplay: ChatDisplay {
    let console: Console

    func show(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook) { console.emit(JSONEvent(event)) }

    func answer(_ line: Int, _ answer: ChatAnswer) { console.emit(.reply(line: line, extra: answer.fields)) }

    func refuse(_ line: Int, _ error: PeerConnectError) { console.emit(.reply(line: line, error: error)) }

    func report(_ error: PeerConnectError) { console.emit(.error(error)) }

    func note(_ text: String) {}

    func expect(_ text: String, line: Int, isHeld: Bool) {}
}

/// Sentences that are only ever appended.
struct PlainDisplay: ChatDisplay {
    let console: Console
    let inputIsTerminal: Bool

    func show(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook) {
        told.results.forEach(console.out)
        told.notes.forEach(console.err)
    }

    func answer(_ line: Int, _ answer: ChatAnswer) {
        answer.sentences.forEach(console.out)
        if !answer.table.isEmpty { console.out(Help.table(answer.table)) }
    }

    func refuse(_ line: Int, _ error: PeerConnectError) { report(error) }

    func report(_ error: PeerConnectError) { PlainNarrator.sentences(error).forEach(console.err) }

    func note(_ text: String) { console.err(text) }

    func expect(_ text: String, line: Int, isHeld: Bool) {
        if isHeld, inputIsTerminal { note("That waits for the chat to start.") }
    }
}
