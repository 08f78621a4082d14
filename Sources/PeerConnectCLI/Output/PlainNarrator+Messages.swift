internal import PeerModel

/// Messages, and what became of own ones.
extension PlainNarrator {
    /// Of so many own messages it is known what they said, when one is missing somewhere.
    private static let sentAtMost = 256
    private static let beginning = 30

    mutating func said(_ message: ChatMessage) -> Lines {
        if message.ref != nil {
            if sent.count >= Self.sentAtMost, let oldest = sent.keys.min() { sent[oldest] = nil }
            sent[message.seq] = message.text
        }
        return .result(line(of: message))
    }

    /// Who has not got an own message, and whether it may still come there.
    mutating func delivered(_ seq: UInt64, _ missing: [Peer]) -> Lines {
        guard !missing.isEmpty else {
            sent[seq] = nil
            return Lines()
        }
        let text = sent[seq].map { ", " + SafeText.quoted(Self.beginning(of: $0)) } ?? ""
        let gone = missing.filter { departed.contains($0.id) }, away = missing.filter { !departed.contains($0.id) }
        var lines = Lines()
        if !away.isEmpty { lines.notes.append("Not delivered yet to \(list(away))\(text).") }
        if !gone.isEmpty {
            let verb = gone.count == 1 ? "is" : "are"
            lines.notes.append(
                "Not delivered to \(list(gone)), who \(verb) gone; your message\(text.isEmpty ? "" : text + ",") "
                    + "will not arrive there.")
        }
        return lines
    }

    private static func beginning(of text: String) -> String {
        let first = text.prefix { !$0.isNewline }
        return first.count > beginning || first.count < text.count ? first.prefix(beginning) + "…" : String(first)
    }

    /// Who is in the chat, and who no longer.
    mutating func noteDepartures(_ event: NodeEvent) {
        switch event {
        case .chatStarted: (sent, departed) = ([:], [])
        case .memberJoined(_, let member): departed.remove(member.id)
        case .memberLeft(_, let member, _): departed.insert(member.id)
        default: break
        }
    }
}
