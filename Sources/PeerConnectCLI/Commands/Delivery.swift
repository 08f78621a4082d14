internal import PeerModel
internal import Synchronization

/// Serves one recipient of `send`: tries again while the peer is missing, unreachable or busy and there is time.
struct Delivery: Sendable {
    private static let pause = Duration.seconds(1)

    let session: any NodeSession
    let paths: [String]
    let answer: Duration
    let stall: Duration
    let sleep: @Sendable (Duration) async throws -> Void
    let claims: RecipientClaims
    /// Says something about a wait.
    let note: @Sendable (String) -> Void

    /// `nil` when the peer is served under another reference.
    func deliver(to recipient: PeerReference, within wait: Duration) async -> DeliveryRow? {
        var remaining = wait, id: PeerID?, begun: OfferOutcome?
        while true {
            // Asked anew each time: who bears a name may come later.
            id = (try? await session.resolve(recipient)).flatMap { $0 } ?? id
            if let id, !claims.claim(id, for: recipient) { return nil }
            let outcome = await attempt(recipient)
            if outcome.hasBegun { begun = outcome }
            if Task.isCancelled, case .failed = outcome { return DeliveryRow(recipient, .cancelled, id) }
            if outcome.isWorthRetrying, remaining > .zero {
                if remaining == wait {
                    note("Waiting up to \(wait.components.seconds) s for \(NameBook.clean(recipient.text)).")
                }
                if (try? await sleep(Self.pause)) != nil {
                    remaining -= Self.pause
                    continue
                }
            }
            // That it could not be tried again does not undo what had begun.
            return DeliveryRow(recipient, begun ?? outcome, id)
        }
    }

    private func attempt(_ recipient: PeerReference) async -> OfferOutcome {
        if let problem = await Invitees.problem(with: recipient, in: session) { return .failed(problem) }
        return await session.offer(paths, to: recipient, answerWithin: answer, stallAfter: stall)
    }
}

/// Which reference each peer is served under, so that one named twice gets the files once.
final class RecipientClaims: Sendable {
    private let holders = Mutex<[PeerID: PeerReference]>([:])

    /// False when another reference means the same peer.
    func claim(_ id: PeerID, for reference: PeerReference) -> Bool {
        holders.withLock { holders in
            if let holder = holders[id] { return holder == reference }
            holders[id] = reference
            return true
        }
    }
}

extension OfferOutcome {
    /// Whether the recipient had taken it, so that something of it may be there.
    fileprivate var hasBegun: Bool {
        guard case .finished(let result) = self else { return false }
        return result.status != .declined && result.reason != .timeout
    }

    /// Whether the same offer may go better in a moment.
    var isWorthRetrying: Bool {
        switch self {
        case .failed(let error): [.noSuchPeer, .unreachable, .busy, .wrongKey].contains(error.code)
        case .refused(_, let answer): answer == .busy || answer == .unreachable
        case .cancelled: false
        case .finished(let result): result.status == .failed && (result.reason == .lost || result.reason == .left)
        }
    }
}

/// One line of what `send` says at the end.
struct DeliveryRow: Equatable {
    let status: String
    let name: String
    let id: String
    let reason: String
    let exit: ExitStatus
    /// What a person can do who has named nobody in particular, or a peer that has another key.
    private var advice: [String] = []
    private var hint: String?
    private var candidates: [Peer] = []

    /// With the peer's ID, where it is known without the outcome.
    init(_ recipient: PeerReference, _ outcome: OfferOutcome, _ known: PeerID? = nil) {
        let recipientID = (known ?? PeerID(recipient.text))?.description ?? ""
        switch outcome {
        case .failed(let error):
            (status, name, reason) = ("failed", recipient.text, error.code.rawValue)
            id = recipientID
            exit = error.status
            guard error.code == .ambiguous || error.code == .wrongKey else { break }
            (advice, hint, candidates) = (PlainNarrator.sentences(error), error.hint, error.candidates)
        case .refused(let peer, let answer):
            (name, id) = (peer.name, peer.id.description)
            (status, reason) = answer == .declined ? ("declined", "") : ("failed", answer.rawValue)
            exit = Invitees.status(of: [answer])
        case .cancelled:
            (status, name, reason) = ("cancelled", recipient.text, "")
            id = recipientID
            exit = .incomplete
        case .finished(let result):
            (status, name, id) = (result.status.rawValue, result.peer.name, result.peer.id.description)
            reason = result.reason?.rawValue ?? ""
            exit = result.status == .verified ? .done : outcome.hasBegun ? .incomplete : .notAccepted
        }
    }

    func show(on console: Console) {
        if console.isJSON {
            var fields: [(key: String, value: JSONValue)] = [
                ("status", .string(status)), ("peer", ["id": id.isEmpty ? .null : .string(id), "name": .string(name)]),
                ("reason", reason.isEmpty ? .null : .string(reason)),
            ]
            if let hint { fields.append(("hint", .string(hint))) }
            if !candidates.isEmpty { fields.append(("candidates", .array(candidates.map(\.json)))) }
            console.emit(JSONEvent("delivery", fields))
        } else {
            advice.forEach(console.err)
            console.out([status, SafeText.line(name), id, reason].joined(separator: "\t"))
        }
    }

    /// The common status, 5 for mixed results.
    static func status(of rows: [DeliveryRow]) -> ExitStatus {
        let all = Set(rows.map(\.exit))
        return all.count == 1 ? rows[0].exit : .incomplete
    }
}
