/// An address as a person types it: `10.0.0.7`, `10.0.0.7:27182`, `[fe80::1%eth0]:27182`, a host name, with or without a port.
package struct TypedAddress: Hashable, Sendable {
    package enum Host: Hashable, Sendable {
        case ip(PeerAddress.IP)
        case name(String)
    }

    package let host: Host
    /// `nil` when none was typed: the default is meant.
    package let port: UInt16?

    /// `nil` when the text is no address and cannot be a host name (RFC 1123, section 2.1; `_` is let pass).
    package init?(_ text: String) {
        if let ip = Self.ipv6(Substring(text)) {
            self.init(host: .ip(ip), port: nil)
        } else if text.first == "[" {
            guard let close = text.firstIndex(of: "]"),
                let ip = Self.ipv6(text[text.index(after: text.startIndex)..<close])
            else { return nil }
            let rest = text[text.index(after: close)...]
            if rest.isEmpty {
                self.init(host: .ip(ip), port: nil)
            } else {
                guard rest.first == ":", let port = Self.port(rest.dropFirst()) else { return nil }
                self.init(host: .ip(ip), port: port)
            }
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard let first = parts.first, parts.count <= 2 else { return nil }
            var port: UInt16?
            if parts.count == 2 {
                guard let value = Self.port(parts[1]) else { return nil }
                port = value
            }
            if let ip = Self.ipv4(first) {
                self.init(host: .ip(.v4(ip)), port: port)
            } else if Self.isName(first) {
                self.init(host: .name(String(first)), port: port)
            } else {
                return nil
            }
        }
    }

    private init(host: Host, port: UInt16?) {
        self.host = host
        self.port = port
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text), port > 0 else { return nil }
        return port
    }

    private static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            // No leading zeros: some readers take them for octal.
            guard part.utf8.allSatisfy({ (48...57).contains($0) }), part == "0" || part.first != "0",
                let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// RFC 4291, section 2.2, with a scope behind `%` (RFC 4007, section 11).
    private static func ipv6(_ text: Substring) -> PeerAddress.IP? {
        let halves = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = halves.first, address.contains(":") else { return nil }
        let scope = halves.count == 2 ? String(halves[1]) : nil
        if let scope, scope.isEmpty || scope.utf8.count > 15 || scope.contains("/") { return nil }
        guard let bytes = bytes(ofIPv6: address) else { return nil }
        return .v6(bytes, scope: scope)
    }

    private static func bytes(ofIPv6 text: Substring) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            guard let all = groups(text), all.count == 16 else { return nil }
            return all
        }
        guard let head = groups(text[..<gap.lowerBound], mayEndInIPv4: false),
            let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: Substring, mayEndInIPv4: Bool = true) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if mayEndInIPv4, part.contains("."), index == parts.count - 1, let last = ipv4(part) {
                bytes += last
            } else {
                guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            }
        }
        return bytes
    }

    private static func isName(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...253).contains(text.utf8.count), let last = labels.last else { return false }
        // A mistyped `10.0.0.256` is no name: the last label of one is never a number (RFC 1123, section 2.1), and resolvers
        // take `10.7` for 10.0.0.7.
        if labels.count > 1, last.utf8.allSatisfy({ (48...57).contains($0) }) { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }
    }
}
