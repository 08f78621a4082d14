internal import PeerModel

/// Words the events and answers of the chat command, for whatever display there is.
struct ChatTeller {
    let display: any ChatDisplay
    private(set) var narrator: PlainNarrator
    private(set) var me: Peer
    private(set) var book = ChatBook()
    /// Of the chats that are not the current one.
    var unread: [ChatID: UnreadLines] = [:]
    let keepsHistory: Bool
    /// In how many chats one may be.
    let maximumChats: Int
    private(set) var isLeaving = false
    private let now: @Sendable () -> Int64

    init(
        _ display: any ChatDisplay, me: Peer, keepsHistory: Bool = true, maximumChats: Int = 1,
        now: @escaping @Sendable () -> Int64
    ) {
        self.display = display
        narrator = PlainNarrator(me: me)
        self.me = me
        self.keepsHistory = keepsHistory
        self.maximumChats = maximumChats
        self.now = now
    }

    /// `isAsked` tells of a chat that starts: the user wants it, or waits for no other.
    mutating func tell(_ event: NodeEvent, isAsked: Bool = true) {
        let told = narrator.tell(event, now: now()), before = book
        book.note(event, isAsked: isAsked)
        display.place(book)
        display.show(event, told: place(told, of: event, before: before), names: narrator.names)
    }

    /// This peer has another name from now on.
    mutating func rename(_ me: Peer) {
        self.me = me
        narrator.names.note(me)
        display.renamed(me)
    }

    /// Makes the chat of this number the current one; 0 is none.
    mutating func makeCurrent(_ number: Int) {
        book.switchTo(number)
        display.place(book)
    }

    /// There is no current chat until the user says so.
    mutating func drift() {
        book.drift()
        display.place(book)
    }

    /// The user wants a further chat.
    mutating func expectChat() {
        book.expectOne()
        display.place(book)
    }

    /// This peer leaves: what comes now is the last.
    mutating func leave() {
        isLeaving = true
        display.leaving()
    }

    func note(_ text: String) { display.note(text) }

    func remark(_ text: String) { display.remark(text) }

    func report(_ error: PeerConnectError) { display.report(error) }

    func confirm(_ line: Int) { display.answer(line, ChatAnswer()) }

    func refuse(_ line: Int, _ error: PeerConnectError) { display.refuse(line, error) }

    func help(_ line: Int, _ commands: [PromptCommand]) {
        let list = commands.map { command -> JSONValue in
            [
                "command": .string("/" + command.name), "usage": .string(command.usage),
                "summary": .string(command.summary),
            ]
        }
        let table = commands.count > 1 ? PromptCommand.overview : commands.map { ($0.usage, $0.summary) }
        display.answer(line, ChatAnswer(fields: [("help", .array(list))], table: table))
    }

    /// `causes` are why the list may be empty.
    func listPeers(_ line: Int, _ snapshot: NodeSnapshot, matching text: String?, causes: [String] = []) {
        let peers = snapshot.peers.filter { peer in
            text.map { peer.peer.name.lowercased().contains($0.lowercased()) } ?? true
        }
        let sentences = peers.map { "\(narrator.names.shown($0.peer)) (\(PlainNarrator.details(of: $0)))" }
        let nobody = snapshot.peers.isEmpty ? ["Nobody is there yet."] + causes : ["Nobody of that name is there."]
        answer(line, [("peers", .array(peers.map(\.json)))], sentences.isEmpty ? nobody : sentences)
    }

    /// The current chat as the node has it; it may have begun before its event was looked at.
    func current(in snapshot: NodeSnapshot) -> (id: ChatID, role: ChatRole, host: Peer, members: [Peer])? {
        snapshot.chats.first { $0.id == book.current?.id } ?? (book.chats.isEmpty ? snapshot.chats.first : nil)
    }

    func listMembers(_ line: Int, _ snapshot: NodeSnapshot) {
        guard let chat = current(in: snapshot) else {
            let none = PeerConnectError(.noChat, "There is no chat.", hint: "/invite PEER starts one.")
            return refuse(line, book.chats.isEmpty ? none : inNoChat)
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
        let sentences = snapshot.transfers.map(sentence)
        answer(
            line, [("transfers", .array(list))],
            sentences.isEmpty
                ? [
                    book.chats.count > 1
                        ? "No files were offered." : "No files were offered in this chat, or there is none."
                ]
                : sentences)
    }

    /// A transfer as it stands, and what to type where that does something.
    private func sentence(_ transfer: TransferState) -> String {
        let offer = transfer.offer
        guard !transfer.isOpen else { return narrator.sentence(offer) }
        let results = transfer.results.isEmpty ? "" : narrator.summary(of: transfer.results, from: offer.from)
        guard transfer.isRunning else {
            return narrator.sentence(offer, .over) + " " + (results.isEmpty ? "Nobody took it." : results)
        }
        guard offer.isMine || !transfer.results.contains(where: { $0.peer.id == me.id }) else {
            return narrator.sentence(offer, .over) + " " + results + " Others are not done."
        }
        let ways = " It is \(stage(of: transfer)); /cancel \(offer.number) stops it."
        return narrator.sentence(offer, .running) + ways + (results.isEmpty ? "" : " " + results)
    }

    /// An offer that this peer has taken, or has heard that another took, is under way.
    private func stage(of transfer: TransferState) -> String {
        let offer = transfer.offer
        let isMineToTake = !offer.isMine && offer.to.contains { $0.id == me.id }
        if isMineToTake || narrator.taken.contains(offer.transfer) { return "under way" }
        // Some have it, or had begun.
        if transfer.results.contains(where: { $0.status != .declined }) { return "under way" }
        return "not answered yet" + (transfer.results.isEmpty ? "" : " by all")
    }

    /// What a command without a number could mean; the line that answers it does nothing else.
    func listOpenItems(_ line: Int, for command: NodeCommand, _ snapshot: NodeSnapshot) {
        var sentences: [String]
        if case .cancel = command {
            sentences = snapshot.transfers.filter(\.isRunning).map { transfer in
                "\(PlainNarrator.describe(transfer.offer.summary)) is \(stage(of: transfer)). "
                    + "Type /cancel \(transfer.offer.number)."
            }
        } else {
            sentences = snapshot.invitations.map {
                PlainNarrator.question($0.number, $0.from, $0.purpose, $0.offer, $0.known)
            }
            let open = snapshot.transfers.filter(\.isOpen)
            sentences += open.map { narrator.sentence($0.offer) }
            if let number = (snapshot.invitations.map(\.number) + open.map(\.offer.number)).first {
                let (done, name) = if case .accept = command { ("accepted", "accept") } else { ("declined", "decline") }
                let need = display is PlainDisplay ? "plain lines need a number" : "a number is needed"
                sentences.append("Nothing was \(done), because \(need), as in /\(name) \(number).")
            }
        }
        if sentences.isEmpty { sentences = ["Nothing is open."] }
        answer(line, [], sentences)
    }

    /// What leaving now would cut off, as `ends the chat for 2 members`; `nil` for nothing.
    func whatLeavingDoes(in chats: [(role: ChatRole, members: Int)], running: Int) -> String? {
        let hosted = chats.filter { $0.role == .host }, joined = chats.count - hosted.count
        let members = Amount.counted(hosted.reduce(0) { $0 + $1.members }, "member")
        let ends = "ends \(hosted.count == 1 ? "the chat" : "\(hosted.count) chats") for \(members)"
        let leaves = joined == 1 ? hosted.isEmpty ? "leaves the chat" : "leaves another chat" : "leaves \(joined) chats"
        let stops = "stops \(Amount.counted(running, "transfer"))"
        let all = [hosted.isEmpty ? nil : ends, joined == 0 ? nil : leaves, running > 0 ? stops : nil].compactMap { $0 }
        return all.isEmpty ? nil : Amount.list(all)
    }

    /// Whether this transfer would stop if this peer left: it is its own, or not all here yet.
    ///
    /// What waits for this peer's answer, or only for others, is not counted.
    func wouldStop(_ transfer: TransferState) -> Bool {
        guard transfer.isRunning, !transfer.isOpen else { return false }
        let offer = transfer.offer
        return offer.isMine
            || offer.to.contains { $0.id == me.id } && !transfer.results.contains { $0.peer.id == me.id }
    }

    func answer(_ line: Int, _ fields: [(key: String, value: JSONValue)], _ sentences: [String]) {
        display.answer(line, ChatAnswer(fields: fields, sentences: sentences))
    }
}
