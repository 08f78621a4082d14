internal import PeerModel
internal import PeerTerminal

/// What of the events is printed above the live area, and how it looks.
///
/// What the live area shows is not printed as well: who comes and goes, open invitations, how far transfers are.
struct LiveSentences: Sendable {
    let me: Peer

    func lines(_ event: NodeEvent, told: PlainNarrator.Lines, names: NameBook) -> [StyledText] {
        switch event {
        case .message(let message): return line(of: message, told, names)
        case .discovery, .peerFound, .peerUpdated, .peerLost, .inviteReceived, .inviteWithdrawn: return []
        case .fileProgress(let progress) where progress.from == nil: return []
        case .fileAnswered(_, let peer, accepted: true, let automatic) where peer.id != me.id || !automatic: return []
        case .fileDelivered(_, let result) where result.status == .verified: return []
        case .fileDelivered(_, let result) where result.status == .declined: return []  // told when it was answered
        // What only this peer took has been told as received.
        case .fileDone(_, let results, _) where results.allSatisfy { $0.peer.id == me.id && $0.status == .verified }:
            return []
        case .warning: return told.notes.map { StyledText($0, .bad) }
        case .failure, .reply(_, .failed), .messageFailed: return told.notes.map { StyledText($0, .warning) }
        case .fileReceived: return told.results.map { StyledText($0, .good) } + told.notes.map { Self.note($0) }
        // What to type stands in the live area as long as it can be typed.
        case .fileOffered(let offer):
            let ways = PlainNarrator.ways(offer.number)
            return told.notes.map { Self.note($0.hasSuffix(ways) ? String($0.dropLast(ways.count)) : $0) }
        default: return told.results.map { StyledText($0) } + told.notes.map { Self.note($0) }
        }
    }

    static func note(_ text: String) -> StyledText { StyledText(text, .quiet) }

    /// The words of the narrator, with the author in the author's colour.
    private func line(of message: ChatMessage, _ told: PlainNarrator.Lines, _ names: NameBook) -> [StyledText] {
        let author = names.shown(message.from)
        let text = message.isEarlier ? Ink.quiet : message.mentions(me) ? .question : .plain
        return told.results.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }.map { line in
            guard line.hasPrefix(author + ": ") else { return StyledText(String(line), text) }
            return StyledText(author, message.from.id == me.id ? .own : .peer(message.from.id))
                + StyledText(String(line.dropFirst(author.count)), text)
        }
    }
}
