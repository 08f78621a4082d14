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
    /// For a person only, who has just typed something.
    func note(_ text: String)
    /// For a person only, and not in answer to anything.
    func remark(_ text: String)
    /// An own text is on its way to this chat, waits for its turn, or is held until a chat starts.
    func expect(_ text: String, line: Int, in chat: ChatID?, isHeld: Bool)
    /// Somebody has pressed Enter.
    func entered()
    /// This peer leaves: what comes now is the last.
    func leaving()
    /// This peer has another name from now on.
    func renamed(_ me: Peer)
    /// Whether what is said in other chats than the current one waits until somebody looks there.
    var showsOneChat: Bool { get }
    /// The chats as they are now.
    func place(_ book: ChatBook)
    /// What was told of a chat while another one was current; shown now because of a line that was typed, or not.
    func replay(_ lines: [(event: NodeEvent, told: PlainNarrator.Lines)], names: NameBook, isAnswer: Bool)
}

extension ChatDisplay {
    func remark(_ text: String) { note(text) }
    func entered() {}
    func leaving() {}
    func renamed(_ me: Peer) {}
    var showsOneChat: Bool { true }
    func place(_ book: ChatBook) {}
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
final class JSONDisplay: ChatDisplay {
    let showsOneChat = false
    private let console: Console
    private var book = ChatBook()
    /// The chat that was current before the last change.
    private var former: ChatID?

    init(console: Console) { self.console = console }

    func place(_ book: ChatBook) {
        former = self.book.current?.id
        self.book = book
    }

    func show(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook) {
        switch event {
        case .chatStarted(let id, _, _, _, _):
            // What only the prompt knows of it.
            console.emit(
                JSONEvent(event).with([
                    ("number", JSONValue(book.chat(id)?.number)), ("current", .bool(book.current?.id == id)),
                ]))
        case .inviteDone(let id?, _, _) where book.current?.id == id && former != id:
            console.emit(JSONEvent(event))
            console.emit(JSONEvent("chat.current", [("chat", .string(id.description))]))
        default: console.emit(JSONEvent(event))
        }
    }

    func answer(_ line: Int, _ answer: ChatAnswer) { console.emit(.reply(line: line, extra: answer.fields)) }

    func refuse(_ line: Int, _ error: PeerConnectError) { console.emit(.reply(line: line, error: error)) }

    func report(_ error: PeerConnectError) { console.emit(.error(error)) }

    func note(_ text: String) {}

    /// It was told when it came.
    func replay(_ lines: [(event: NodeEvent, told: PlainNarrator.Lines)], names: NameBook, isAnswer: Bool) {}

    func expect(_ text: String, line: Int, in chat: ChatID?, isHeld: Bool) {}
}
