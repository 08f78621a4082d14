package import PeerModel

/// What a peer tells the network about itself: its DNS-SD service record.
package struct Advert: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case chat, inbox
        /// Somebody tries the network out; no peer, and listed by none.
        case check
    }

    package static let serviceType = "_peerconnect._tcp"

    package let id: PeerID
    package let name: String
    package let versions: ClosedRange<Int>
    /// Whether an invitation would be answered `busy`.
    package let isBusy: Bool
    package let kind: Kind
    /// The run's 8 characters, and a number that grows when port or addresses change.
    package let run: String
    package let revision: Int
    package let port: UInt16

    package init(
        id: PeerID, name: String, versions: ClosedRange<Int>, isBusy: Bool, kind: Kind, run: String, revision: Int,
        port: UInt16
    ) {
        self.id = id
        self.name = name
        self.versions = versions
        self.isBusy = isBusy
        self.kind = kind
        self.run = run
        self.revision = revision
        self.port = port
    }

    /// The name of the service instance: the display name cut to 52 bytes, and the start of the ID, so that only a clone collides.
    ///
    /// A DNS label has 63 bytes at most (RFC 1035, section 2.3.4).
    package var instanceName: String { "\(DisplayName.cut(name, toBytes: 52)) \(id.description.prefix(8))" }
}

/// The TXT record of an advert (RFC 6763, section 6): strings of at most 255 bytes, all of them together of 400.
enum TXTRecord {
    private static let pairLimit = 255
    private static let totalLimit = 400
    /// More than fit when each has a length and a byte.
    static let stringsAtMost = 201

    static func strings(of advert: Advert) -> [String] {
        [
            "txtvers=1", "id=\(advert.id)", "name=\(advert.name)",
            "pv=\(advert.versions.lowerBound)-\(advert.versions.upperBound)", "st=\(advert.isBusy ? "busy" : "idle")",
            "kind=\(advert.kind.rawValue)", "run=\(advert.run)-\(advert.revision)",
        ]
    }

    /// Refuses what others would not read: Avahi would cut it, or refuse it without saying why.
    static func check(_ strings: [String]) throws(AvahiError) {
        for string in strings where string.utf8.count > pairLimit {
            let key = string.prefix(16).prefix { $0 != "=" }
            throw AvahiError(
                reason: "the pair \(key) of its record has \(string.utf8.count) bytes, and \(pairLimit) are allowed")
        }
        let total = strings.reduce(0) { $0 + $1.utf8.count + 1 }
        if total > totalLimit {
            throw AvahiError(reason: "its record has \(total) bytes, and \(totalLimit) are allowed")
        }
    }

    /// The strings of a record as it is on the wire, each behind its length; `nil` when the lengths do not fit.
    static func split(_ data: [UInt8]) -> [[UInt8]]? {
        guard data.count <= totalLimit * 2 else { return nil }
        var strings: [[UInt8]] = []
        var start = 0
        while start < data.count {
            let end = start + 1 + Int(data[start])
            guard end <= data.count else { return nil }
            if end > start + 1 { strings.append(Array(data[(start + 1)..<end])) }
            start = end
        }
        return strings
    }

    /// What a stranger's record says, with port 0; `nil` when a key is missing or a value cannot be meant.
    static func advert(from strings: [[UInt8]]) -> Advert? {
        guard strings.reduce(0, { $0 + $1.count + 1 }) <= totalLimit else { return nil }
        var values: [String: String] = [:]
        for string in strings {
            guard string.count <= pairLimit, let text = String(validating: string, as: UTF8.self),
                let equals = text.firstIndex(of: "=")
            else { continue }
            let key = text[..<equals].lowercased()
            // The first of a repeated key counts (RFC 6763, section 6.4).
            if values[key] == nil { values[key] = String(text[text.index(after: equals)...]) }
        }
        guard values["txtvers"] == "1", let id = values["id"].flatMap(PeerID.init),
            let name = values["name"], let displayName = try? DisplayName(name),
            let versions = values["pv"].flatMap(range), let run = values["run"].flatMap(run)
        else { return nil }
        let state = values["st"] ?? "idle", kind = values["kind"] ?? "chat"
        guard ["idle", "busy"].contains(state), let kind = Advert.Kind(rawValue: kind) else { return nil }
        return Advert(
            id: id, name: displayName.description, versions: versions, isBusy: state == "busy", kind: kind,
            run: run.0, revision: run.1, port: 0)
    }

    private static func range(_ text: String) -> ClosedRange<Int>? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let low = parts[0], let high = parts[1], low >= 1, low <= high else { return nil }
        return low...high
    }

    private static func run(_ text: String) -> (String, Int)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, RunID(String(parts[0])) != nil, let number = Int(parts[1]), number >= 0 else {
            return nil
        }
        return (String(parts[0]), number)
    }
}
