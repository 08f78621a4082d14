internal import PeerModel

/// Serves one recipient of `send`: tries again while the peer is missing, unreachable or busy and there is time.
struct Delivery: Sendable {
    private static let pause = Duration.seconds(1)

    let session: any NodeSession
    let paths: [String]
    let answer: Duration
    let stall: Duration
    let sleep: @Sendable (Duration) async throws -> Void

    func deliver(to recipient: PeerReference, within wait: Duration) async -> OfferOutcome {
        var remaining = wait
        while true {
            let outcome = await attempt(recipient)
            if Task.isCancelled, case .failed = outcome { return .cancelled }
            guard outcome.isWorthRetrying, remaining > .zero, (try? await sleep(Self.pause)) != nil else {
                return outcome
            }
            remaining -= Self.pause
        }
    }

    private func attempt(_ recipient: PeerReference) async -> OfferOutcome {
        if let problem = await Invitees.problem(with: recipient, in: session) { return .failed(problem) }
        return await session.offer(paths, to: recipient, answerWithin: answer, stallAfter: stall)
    }
}

extension OfferOutcome {
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

    init(_ recipient: PeerReference, _ outcome: OfferOutcome) {
        switch outcome {
        case .failed(let error):
            (status, name, reason) = ("failed", recipient.text, error.code.rawValue)
            id = PeerID(recipient.text)?.description ?? ""
            exit = error.status
        case .refused(let peer, let answer):
            (name, id) = (peer.name, peer.id.description)
            (status, reason) = answer == .declined ? ("declined", "") : ("failed", answer.rawValue)
            exit = Invitees.status(of: [answer])
        case .cancelled:
            (status, name, reason) = ("cancelled", recipient.text, "")
            id = PeerID(recipient.text)?.description ?? ""
            exit = .incomplete
        case .finished(let result):
            (status, name, id) = (result.status.rawValue, result.peer.name, result.peer.id.description)
            reason = result.reason?.rawValue ?? ""
            exit = result.status == .verified ? .done : result.status == .declined ? .notAccepted : .incomplete
        }
    }

    func show(on console: Console) {
        if console.isJSON {
            let fields: [(key: String, value: JSONValue)] = [
                ("status", .string(status)), ("peer", ["id": id.isEmpty ? .null : .string(id), "name": .string(name)]),
                ("reason", reason.isEmpty ? .null : .string(reason)),
            ]
            console.emit(JSONEvent("delivery", fields))
        } else {
            console.out([status, SafeText.line(name), id, reason].joined(separator: "\t"))
        }
    }

    /// The common status, 5 for mixed results.
    static func status(of rows: [DeliveryRow]) -> ExitStatus {
        let all = Set(rows.map(\.exit))
        return all.count == 1 ? rows[0].exit : .incomplete
    }
}
