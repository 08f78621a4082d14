internal import PeerModel

/// Tells the events and answers of the chat command, as JSON or as sentences.
struct ChatTeller: Sendable {
    private let console: Console
    private var narrator: PlainNarrator
    private let me: Peer

    init(run: Run, me: Peer) {
        console = run.console
        narrator = PlainNarrator(me: me)
        self.me = me
    }

    mutating func tell(_ event: NodeEvent) {
        if console.isJSON { return console.emit(JSONEvent(event)) }
        let lines = narrator.tell(event, now: console.now())
        lines.results.forEach(console.out)
        lines.notes.forEach(console.err)
    }

    /// For a person only.
    func note(_ text: String) {
        if !console.isJSON { console.err(text) }
    }

    func report(_ error: PeerConnectError) {
        if console.isJSON { console.emit(.error(error)) } else { PlainNarrator.sentences(error).forEach(console.err) }
    }

    func confirm(_ line: Int) { answer(line, [], []) }

    func refuse(_ line: Int, _ error: PeerConnectError) {
        if console.isJSON { console.emit(.reply(line: line, error: error)) } else { report(error) }
    }

    func help(_ line: Int, _ commands: [PromptCommand]) {
        let list = commands.map { command -> JSONValue in
            [
                "command": .string("/" + command.name), "usage": .string(command.usage),
                "summary": .string(command.summary),
            ]
        }
        answer(line, [("help", .array(list))], [Help.table(commands.map { ($0.usage, $0.summary) })])
    }

    func listPeers(_ line: Int, _ snapshot: NodeSnapshot, matching text: String?) {
        let peers = snapshot.peers.filter { peer in
            text.map { peer.peer.name.lowercased().contains($0.lowercased()) } ?? true
        }
        let sentences = peers.map { "\(narrator.names.shown($0.peer)) (\(PlainNarrator.details(of: $0)))" }
        answer(
            line, [("peers", .array(peers.map(\.json)))],
            sentences.isEmpty ? [text == nil ? "Nobody is there yet." : "Nobody of that name is there."] : sentences)
    }

    func listMembers(_ line: Int, _ snapshot: NodeSnapshot) {
        guard let chat = snapshot.chat else {
            return refuse(line, PeerConnectError(.noChat, "There is no chat.", hint: "/invite PEER starts one."))
        }
        let everyone = [(chat.host, "host")] + chat.members.map { ($0, "member") }
        let list = everyone.map { peer, role -> JSONValue in
            ["id": .string(peer.id.description), "name": .string(peer.name), "role": .string(role)]
        }
        let sentences = everyone.map { "\(NameBook.withID($0))\($0.id == me.id ? ", you," : "") is \($1)." }
        answer(line, [("who", .array(list))], sentences)
    }

    func listTransfers(_ line: Int, _ snapshot: NodeSnapshot) {
        let list = snapshot.transfers.map { transfer -> JSONValue in
            [
                "offer": transfer.offer.json, "open": .bool(transfer.isOpen), "running": .bool(transfer.isRunning),
                "results": .array(transfer.results.map(\.json)),
            ]
        }
        let sentences = snapshot.transfers.map { transfer in
            let state = transfer.isRunning ? "It is under way." : PlainNarrator.summary(of: transfer.results)
            return narrator.sentence(transfer.offer) + (transfer.isOpen ? "" : " " + state)
        }
        answer(line, [("transfers", .array(list))], sentences.isEmpty ? ["There are no transfers."] : sentences)
    }

    /// What a command without a number could mean; the line that answers it does nothing else.
    func listOpenItems(for command: NodeCommand, _ snapshot: NodeSnapshot) {
        var sentences: [String]
        if case .cancel = command {
            sentences = snapshot.transfers.filter(\.isRunning).map { transfer in
                "\(PlainNarrator.describe(transfer.offer.summary)) is under way. Type /cancel \(transfer.offer.number)."
            }
        } else {
            sentences = snapshot.invitations.map {
                PlainNarrator.question($0.number, $0.from, $0.purpose, $0.offer, $0.known)
            }
            sentences += snapshot.transfers.filter(\.isOpen).map { narrator.sentence($0.offer) }
        }
        if sentences.isEmpty { sentences = ["Nothing is open."] }
        sentences.forEach(console.out)
    }

    /// What leaving now would cut off; `nil` for nothing.
    func whatQuittingEnds(_ snapshot: NodeSnapshot) -> String? {
        let running = snapshot.transfers.count(where: \.isRunning)
        if let chat = snapshot.chat {
            let chatEnd =
                chat.role == .host
                ? "ends the chat for \(Amount.counted(chat.members.count, "member"))" : "leaves the chat"
            let transfers = running > 0 ? " and stops \(Amount.counted(running, "transfer"))" : ""
            return "Quitting \(chatEnd)\(transfers). Type /quit again to do it."
        }
        guard running > 0 else { return nil }
        return "Quitting stops \(Amount.counted(running, "transfer")). Type /quit again to do it."
    }

    func answer(_ line: Int, _ fields: [(key: String, value: JSONValue)], _ sentences: [String]) {
        if console.isJSON { console.emit(.reply(line: line, extra: fields)) } else { sentences.forEach(console.out) }
    }
}
