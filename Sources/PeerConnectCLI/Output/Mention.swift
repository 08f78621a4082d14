internal import PeerModel

extension ChatMessage {
    /// Whether another says this peer's name as a word, or the part of it before an `@`.
    func mentions(_ me: Peer) -> Bool {
        guard from.id != me.id, !isEarlier else { return false }
        let text = text.lowercased(), name = me.name.lowercased()
        let login = name.prefix { $0 != "@" }
        return [name, String(login)].contains { name in
            guard !name.isEmpty else { return false }
            return text.ranges(of: name).contains { range in
                let before = text[..<range.lowerBound].last, after = text[range.upperBound...].first
                return ![before, after].contains { $0.map { $0.isLetter || $0.isNumber } ?? false }
            }
        }
    }
}
