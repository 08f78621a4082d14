internal import PeerModel

/// The events of an inbox: invitations are answered by the list of senders, received paths printed.
struct ReceiveLoop {
    private enum Step: Sendable {
        case event(NodeEvent)
        case timeUp, over
    }

    private struct Declined: Hashable {
        /// Enough for a person; whoever offers without end fills neither the screen nor the memory.
        static let toldAtMost = 100

        let from: PeerID
        let offer: OfferSummary?
    }

    private let session: any NodeSession
    private let console: Console
    /// Whose offers are taken when the node asks; `nil`: it accepts all by itself.
    ///
    /// When nobody is listed, it accepts those of trusted peers by itself, and asks about the others.
    private let allowed: Set<PeerID>?
    private let isOnce: Bool
    private let endsWithNUL: Bool
    private var narrator: PlainNarrator
    private var wasOffered = false
    private var hasSkipped = false
    /// What was declined, each told once.
    private var declined: Set<Declined> = []

    init(session: any NodeSession, console: Console, allowed: Set<PeerID>?, isOnce: Bool, endsWithNUL: Bool) {
        self.session = session
        self.console = console
        self.allowed = allowed
        self.isOnce = isOnce
        self.endsWithNUL = endsWithNUL
        narrator = PlainNarrator(me: session.me)
    }

    mutating func run(wait: Duration?, sleep: @escaping @Sendable (Duration) async throws -> Void) async -> ExitStatus {
        let queue = StepQueue<Step>()
        defer { queue.close() }
        queue.follow(session.events, end: .over) { .event($0) }
        if let wait { queue.run { (try? await sleep(wait)).map { .timeUp } } }
        for await step in queue.steps {
            switch step {
            case .over: return .done
            case .timeUp:
                guard !wasOffered else { continue }
                if !console.isJSON {
                    console.err("Nothing was \(declined.isEmpty ? "offered" : "taken") in that time.")
                }
                return .notReachable
            case .event(let event):
                tell(event)
                if let status = await take(event) { return status }
            }
        }
        return .done
    }

    /// The status to leave with, if this event ends the run.
    private mutating func take(_ event: NodeEvent) async -> ExitStatus? {
        switch event {
        case .inviteReceived(let number, let from, let purpose, let offer, _):
            let isWelcome = purpose == .file && allowed?.contains(from.id) ?? true
            _ = await session.perform(
                isWelcome ? .accept(.number(number)) : .decline(.number(number)), line: nil)
            if !isWelcome { tellDeclined(offer, of: from, isFile: purpose == .file) }
        case .fileOffered(let offer) where !offer.isMine && offer.to.contains { $0.id == session.me.id }:
            wasOffered = true
        case .fileReceived(let files):
            if !console.isJSON { for path in files.paths { show(path) } }
            hasSkipped = hasSkipped || !files.skipped.isEmpty
        case .fileDone(_, let results, _):
            guard isOnce, let own = results.first(where: { $0.peer.id == session.me.id }) else { return nil }
            return own.status == .verified && !hasSkipped ? .done : .incomplete
        case .chatEnded: if isOnce, wasOffered { return .incomplete }
        default: break
        }
        return nil
    }

    /// Says why, and how it would be taken.
    private mutating func tellDeclined(_ offer: OfferSummary?, of from: Peer, isFile: Bool) {
        guard declined.count < Declined.toldAtMost else { return }
        guard declined.insert(Declined(from: from.id, offer: offer)).inserted, !console.isJSON else { return }
        let what = offer.map { SafeText.quoted($0.name) } ?? "an invitation"
        let reason =
            if !isFile {
                "only files are taken here."
            } else if allowed?.isEmpty == true {
                "not trusted; peerconnect peers trust \(from.id), or --accept all."
            } else {
                "not one of --from."
            }
        console.err("Declined \(what) from \(NameBook.withID(from)): \(reason)")
    }

    private func show(_ path: String) {
        if endsWithNUL { return console.writeOut(path + "\0") }
        console.out(console.outIsTerminal ? SafeText.line(path) : path)
    }

    private mutating func tell(_ event: NodeEvent) {
        if console.isJSON { return console.emit(JSONEvent(event)) }
        switch event {
        case .fileOffered(let offer):
            _ = narrator.tell(event, now: console.now())  // for the names in what follows
            guard offer.to.contains(where: { $0.id == session.me.id }) else { return }
            let from = NameBook.withID(offer.from)
            console.err("Receiving \(PlainNarrator.describe(offer.summary)), from \(from).")
        case .fileDelivered(_, let result):
            guard result.peer.id == session.me.id, result.status != .verified else { return }
            let lines = narrator.tell(event, now: console.now())
            lines.notes.forEach(console.err)
        case .discovery, .fileProgress, .fileReceived, .message, .failure, .warning, .inviteRefused:
            // Messages are for standard error here, and paths are printed on their own.
            var lines = narrator.tell(event, now: console.now())
            if case .fileReceived = event { lines.results = [] }
            (lines.results + lines.notes).forEach(console.err)
        default: break
        }
    }
}
