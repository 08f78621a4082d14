internal import PeerModel

/// Tells events as plain English, one sentence a line, the important words first.
///
/// A message is `name: text`; no other line of ours has a colon before foreign text ends, so none can pass for one.
struct PlainNarrator {
    /// What there is to print.
    struct Lines: Equatable {
        /// For standard output: what was asked for.
        var results: [String] = []
        /// For standard error: everything else.
        var notes: [String] = []

        static func note(_ text: String) -> Lines { Lines(notes: [text]) }
        static func result(_ text: String) -> Lines { Lines(results: [text]) }
    }

    /// This run's peer, who is called "you".
    let me: PeerID
    var names = NameBook()
    /// Offers by transfer, for their names and numbers.
    var offers: [TransferID: FileOffer] = [:]
    /// Those of them that somebody takes.
    var taken: Set<TransferID> = []
    /// The beginnings of own messages that may be missing somewhere, by chat and their place in it.
    var sent: [ChatID: [UInt64: String]] = [:]
    /// Who has gone from a chat.
    var departed: [ChatID: Set<PeerID>] = [:]
    /// What those on the list are called, and who of them was busy for this peer.
    private var called: [PeerID: String] = [:]
    private var wereBusy: Set<PeerID> = []
    private var questions = QuestionBook()
    private var pace = ProgressPace()
    /// The chats that began for a file: their files tell of them.
    var deliveries: Set<ChatID> = []
    /// What this peer is in the chats that run.
    var roles: [ChatID: ChatRole] = [:]
    /// Who was refused during a chat and when; told after the last one.
    var refused: [(peer: Peer, answer: Answer, at: Int64)] = []

    init(me: Peer) {
        self.me = me.id
        names.note(me)
    }

    /// `now` in milliseconds, for the pace of progress lines.
    mutating func tell(_ event: NodeEvent, now: Int64) -> Lines {
        learnNames(from: event)
        noteDepartures(event)
        defer { follow(event) }
        return switch event {
        case .discovery(let backend, let state, let reason): Self.discovery(backend, state, reason)
        case .peerFound(let peer): .note("\(names.shown(peer.peer)) is here (\(Self.details(of: peer))).")
        case .peerUpdated(let peer): changed(peer)
        case .peerLost(let peer, let reason):
            .note(
                "\(names.shown(peer.peer)) \(reason == "unreachable" ? "does not answer any more" : "is gone") "
                    + "(number \(peer.number)).")
        case .inviteRefused(let from, let answer): refusal(of: from, answer, now: now)
        case .inviteReceived, .inviteWithdrawn, .inviteAnswered, .inviteDone: invite(event, now: now)
        case .chatStarted, .memberJoined, .memberLeft, .chatEnded: chat(event, now: now)
        case .message(let message): said(message)
        case .messageDelivered(let chat, let seq, _, let missing, _): delivered(seq, in: chat, missing)
        case .messageFailed(_, _, let reason, _): .note("Your message was not sent (\(SafeText.line(reason))).")
        case .fileOffered, .fileAnswered, .fileProgress, .fileReceived, .fileDelivered, .fileDone:
            file(event, now: now)
        case .fileSkipped(_, let entries, let count): Self.skipped(entries, count)
        case .warning(_, let peer, let message):
            .note("Careful with \(NameBook.withID(peer)). \(SafeText.line(message))")
        case .failure(let error), .reply(_, .failed(let error)): Lines(notes: Self.sentences(error))
        case .reply: Lines()
        }
    }

    /// What failed, what to do, and whom it could mean.
    static func sentences(_ error: PeerConnectError) -> [String] {
        var first = SafeText.line(error.message)
        if let hint = error.hint { first += " " + SafeText.line(hint) }
        return [first] + error.candidates.map { "  \(NameBook.clean($0.name)) has the ID \($0.id)." }
    }

    /// What stands between the lines of a text.
    static let bar = "\n  | "

    /// `name: text`; further lines of a text are indented under a bar, so that they cannot pass for a line of their own.
    func line(of message: ChatMessage) -> String {
        let lines = SafeText.multiline(message.text).split(separator: "\n", omittingEmptySubsequences: false)
        return names.shown(message.from) + ": " + lines.joined(separator: Self.bar)
    }

    func list(_ peers: [Peer]) -> String { Amount.list(peers.map { $0.id == me ? "you" : names.shown($0) }) }

    func who(_ peer: Peer) -> String { peer.id == me ? "You" : names.shown(peer) }

    /// What a list says of a peer: `number 3, idle, k7qf-2m4d, trusted`.
    static func details(of peer: ListedPeer) -> String {
        "number \(peer.number), \(peer.isBusy ? "busy" : "idle")\(peer.kind == "inbox" ? ", takes files only" : ""), "
            + peer.peer.id.short + (peer.known == .new ? "" : ", \(standing(peer.known))")
    }

    /// How a peer is known, where a person decides about it.
    static func standing(_ known: Standing) -> String {
        known == .otherKey ? "new, not the peer of this name you know" : known.rawValue
    }

    mutating func progress(_ progress: FileProgress, now: Int64) -> Lines {
        guard let percent = pace.due(progress, now: now) ?? (progress.from == nil ? nil : progress.percent) else {
            return Lines()
        }
        let name = offers[progress.transfer].map { SafeText.quoted($0.summary.name) } ?? "a transfer"
        let rate = progress.rate > 0 ? ", \(Amount.bytes(progress.rate)) a second" : ""
        let direction = progress.recipient.map { "Sending \(name) to \(names.shown($0))" } ?? "Receiving \(name)"
        let place = progress.from == nil ? ", " : " continues at "
        return .note("\(direction)\(place)\(percent) % of \(Amount.bytes(progress.size))\(rate).")
    }

    mutating func forget(_ transfer: TransferID) {
        pace.end(transfer)
        offers[transfer] = nil
        taken.remove(transfer)
    }

    /// An invitation; not told where its peer takes back one after the other.
    mutating func ask(_ number: Int, _ from: Peer, _ purpose: Purpose, _ sentence: String, now: Int64) -> Lines {
        questions.note(number, from, isFile: purpose == .file, now: now) ? .note(sentence) : Lines()
    }

    /// That one is gone, if it was told.
    mutating func withdraw(_ number: Int, _ reason: String, now: Int64) -> Lines {
        guard let gone = questions.withdraw(number, now: now) else { return Lines() }
        var lines = Lines.note("\(gone.isFile ? "Offer" : "Invitation") #\(number) is gone (\(SafeText.path(reason))).")
        if gone.isLastTold, let from = gone.from {
            lines.notes.append(
                "\(NameBook.withID(from)) asks and takes it back again and again; for a minute that is not told any more. "
                    + "/accept lists what is open.")
        }
        return lines
    }

    private static func discovery(_ backend: String, _ state: DiscoveryState, _ reason: String?) -> Lines {
        switch state {
        case .up: Lines()
        case .published:
            .note("You can be found on this network, \(backend == "daemon" ? "by" : "without") avahi-daemon.")
        case .down: .note(broken(backend, reason))
        }
    }

    /// Why peers do not see each other.
    static func broken(_ backend: String, _ reason: String?) -> String {
        guard backend != "off" else { return "Discovery is switched off, so peers are reached by their address only." }
        return "Discovery does not work at the moment" + (reason.map { ", because \(SafeText.line($0))" } ?? "") + "."
    }

    /// A new name is told, or who says something later seems a stranger; that someone is free again, to who was refused.
    ///
    /// What else changes, addresses and who is busy, `/peers` shows: told of everyone, it would bury what is said.
    private func changed(_ peer: ListedPeer) -> Lines {
        let id = peer.peer.id
        var notes: [String] = []
        if let old = called[id], old != peer.peer.name {
            notes.append("\(NameBook.clean(old)) is called \(NameBook.withID(peer.peer)) now (number \(peer.number)).")
        }
        if wereBusy.contains(id), !peer.isBusy {
            notes.append("\(names.shown(peer.peer)) is idle now; /invite \(peer.number) asks again.")
        }
        return Lines(notes: notes)
    }

    private mutating func follow(_ event: NodeEvent) {
        switch event {
        case .peerFound(let peer), .peerUpdated(let peer):
            called[peer.peer.id] = peer.peer.name
            if !peer.isBusy { wereBusy.remove(peer.peer.id) }
        case .peerLost(let peer, _):
            called[peer.peer.id] = nil
            wereBusy.remove(peer.peer.id)
        case .inviteAnswered(let target, .busy, _, _):
            if let peer = target.peer, called[peer.id] != nil { wereBusy.insert(peer.id) }
        default: break
        }
    }

    private mutating func learnNames(from event: NodeEvent) {
        switch event {
        case .peerFound(let peer), .peerUpdated(let peer): names.note(peer.peer)
        case .inviteReceived(_, let from, _, _, _): names.note(from)
        case .inviteRefused(let from, _): names.note(from)
        case .chatStarted(_, _, let host, let members, _): ([host] + members).forEach { names.note($0) }
        case .memberJoined(_, let member): names.note(member)
        case .message(let message): names.note(message.from)
        default: break
        }
    }
}
