internal import PeerModel

/// How the values of options are read; every failure names the option and what it takes.
extension ParsedArguments {
    /// T: `90`, `90s`, `10m` or `8h`.
    func time(_ key: String) throws(UsageError) -> Duration? {
        guard let text = last(key) else { return nil }
        guard let seconds = scaled(text, units: [("s", 1), ("m", 60), ("h", 3600)], atMost: 366 * 86400) else {
            throw UsageError("\(key) \(SafeText.line(text)) is not a time", hint: "write seconds, or 90s, 10m, 8h")
        }
        return .seconds(Int64(seconds))
    }

    /// SIZE: bytes, or K, M, G of 1,024.
    func size(_ key: String) throws(UsageError) -> UInt64? {
        guard let text = last(key) else { return nil }
        let units: [(Character, UInt64)] = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]
        guard let bytes = scaled(text, units: units, atMost: UInt64(Int64.max)) else {
            throw UsageError("\(key) \(SafeText.line(text)) is not a size", hint: "write bytes, or 500K, 20M, 4G")
        }
        return bytes
    }

    /// A whole number within `range`.
    func number(_ key: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = last(key) else { return nil }
        guard let value = scaled(text, units: [], atMost: UInt64(Int32.max)), range.contains(Int(value)) else {
            throw UsageError("\(key) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(value)
    }

    /// One of a few words.
    func choice<Value>(_ key: String, _ choices: [(word: String, value: Value)]) throws(UsageError) -> Value? {
        guard let text = last(key) else { return nil }
        guard let match = choices.first(where: { $0.word == text }) else {
            let words = choices.map(\.word)
            throw UsageError(
                "\(key) takes \(words.joined(separator: ", "))",
                hint: nearest(to: text, among: words).map { "did you mean \($0)?" })
        }
        return match.value
    }

    /// Peers, none of them empty; `@GROUP` is all of a group.
    func peers(_ key: String) throws(UsageError) -> [PeerReference] {
        var references: [PeerReference] = []
        for text in all(key) {
            guard !text.isEmpty else { throw UsageError("\(key) needs a peer") }
            references += try peers(in: text)
        }
        return references
    }

    /// One peer, or those of a group.
    func peers(in text: String) throws(UsageError) -> [PeerReference] {
        guard text.hasPrefix("@") else { return [PeerReference(text)] }
        guard let ids = groups[String(text.dropFirst())] else {
            throw UsageError(
                "there is no group \(SafeText.line(text))",
                hint: nearest(to: String(text.dropFirst()), among: groups.keys.sorted()).map { "did you mean @\($0)?" }
                    ?? "groups are in the settings; peerconnect config shows them")
        }
        return ids.map { PeerReference($0) }
    }

    /// Digits with at most one unit behind them; `nil` for anything else and for more than `atMost`.
    private func scaled(_ text: String, units: [(Character, UInt64)], atMost: UInt64) -> UInt64? {
        var digits = text[...]
        var factor: UInt64 = 1
        if let end = digits.last, let unit = units.first(where: { $0.0 == end }) {
            factor = unit.1
            digits.removeLast()
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let value = UInt64(digits)
        else { return nil }
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        return overflow || product > atMost ? nil : product
    }
}
