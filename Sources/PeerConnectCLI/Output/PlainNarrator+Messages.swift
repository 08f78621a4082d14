internal import PeerModel

/// Messages, and what became of own ones.
extension PlainNarrator {
    /// Of so many own messages it is known what they said, when one is missing somewhere.
    private static let sentAtMost = 256
    private static let beginning = 30

    mutating func said(_ message: ChatMessage) -> Lines {
        if message.ref != nil {
            if let own = sent[message.chat], own.count >= Self.sentAtMost, let oldest = own.keys.min() {
                sent[message.chat]?[oldest] = nil
            }
            sent[message.chat, default: [:]][message.seq] = message.text
        }
        return .result(line(of: message))
    }

    /// Who has not got an own message, and whether it may still come there.
    mutating func delivered(_ seq: UInt64, in chat: ChatID, _ missing: [Peer]) -> Lines {
        guard !missing.isEmpty else {
            sent[chat]?[seq] = nil
            return Lines()
        }
        let text = sent[chat]?[seq].map { ", " + SafeText.quoted(Self.beginning(of: $0)) } ?? ""
        let departed = departed[chat] ?? []
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

    /// Who is in a chat, and who no longer.
    mutating func noteDepartures(_ event: NodeEvent) {
        switch event {
        case .chatStarted(let chat, _, _, _, _): departed[chat] = []
        case .memberJoined(let chat, let member): departed[chat]?.remove(member.id)
        case .memberLeft(let chat, let member, _): departed[chat, default: []].insert(member.id)
        case .chatEnded(let chat, _, _): (sent[chat], departed[chat]) = (nil, nil)
        default: break
        }
    }
}
