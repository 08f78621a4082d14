internal import PeerModel

/// Tells how a `send` goes, on standard error: who took it, how far it is, what went wrong.
struct DeliveryTeller: Sendable {
    let me: Peer
    let console: Console
    /// Where progress is shown at a terminal, in place of sentences about it.
    var board: DeliveryBoard?

    func say(_ text: String) {
        guard let board else { return console.err(text) }
        board.say(text)
    }

    /// Until the events end; true when something was left out.
    func tell(_ events: AsyncStream<NodeEvent>) async -> Bool {
        defer { board?.close() }
        var narrator = PlainNarrator(me: me), refusals: Set<String> = [], hasSkipped = false
        for await event in events {
            if case .fileSkipped = event { hasSkipped = true }
            if console.isJSON {
                console.emit(JSONEvent(event))
                continue
            }
            switch event {
            case .inviteAnswered(let target, let answer, _, _) where answer != .accepted:
                // Tried again every second: said once is enough.
                guard refusals.insert("\(target.label) \(answer.rawValue)").inserted else { continue }
            case .fileOffered:
                _ = narrator.tell(event, now: console.now())  // for the names in what follows
                continue
            case .fileProgress(let progress) where board != nil:
                let name = narrator.offers[progress.transfer].map { SafeText.path($0.summary.name) } ?? "a transfer"
                let recipient = progress.recipient.map { narrator.names.shown($0) } ?? ""
                board?.show(progress, named: name, for: recipient)
                guard progress.from != nil else { continue }
            case .fileDelivered(let transfer, let result):
                board?.remove(transfer, of: result.peer.id)
                continue
            case .fileDone(let transfer, _, _):
                board?.remove(transfer, of: nil)
                continue
            case .inviteAnswered, .fileProgress, .fileSkipped, .failure, .warning: break
            default: continue
            }
            let lines = narrator.tell(event, now: console.now())
            (lines.results + lines.notes).forEach(say)
        }
        return hasSkipped
    }
}
