/// Domain names and records as they are on the wire, uncompressed (RFC 1035, section 3.3).
enum DNSName {
    /// The labels of a name that begins there, and where it ends; `nil` when it is none.
    static func labels(_ bytes: [UInt8], from start: Int = 0) -> (labels: [[UInt8]], end: Int)? {
        var labels: [[UInt8]] = []
        var index = start
        // 255 bytes with lengths (RFC 1035, section 2.3.4).
        while index < bytes.count, index - start < 255 {
            let length = Int(bytes[index])
            if length == 0 { return (labels, index + 1) }
            // More would be a pointer, which Avahi has resolved.
            guard length <= 63, index + 1 + length <= bytes.count else { return nil }
            labels.append(Array(bytes[(index + 1)...(index + length)]))
            index += 1 + length
        }
        return nil
    }

    /// The form that Avahi's calls take: dots between labels, special bytes escaped (RFC 1035, section 5.1).
    static func text(_ labels: [[UInt8]]) -> String {
        labels.map { label in
            label.map { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    String(UnicodeScalar(byte))
                default:
                    "\\" + String(1000 + Int(byte)).dropFirst()
                }
            }.joined()
        }.joined(separator: ".")
    }

    /// Equal for names that DNS takes for the same: the case of ASCII letters does not count (RFC 6762, section 16).
    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { 65...90 ~= $0 ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The name of a service's instance, from the record that points to it; `nil` when it is no text.
    static func instance(_ pointer: [UInt8]) -> String? {
        guard let labels = labels(pointer)?.labels, labels.count > 1 else { return nil }
        return String(validating: labels[0], as: UTF8.self)
    }
}

/// Where a service is (RFC 2782).
struct ServiceRecord: Hashable {
    let port: UInt16
    let host: String

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 6, let labels = DNSName.labels(bytes, from: 6)?.labels, !labels.isEmpty else { return nil }
        port = UInt16(bytes[4]) << 8 | UInt16(bytes[5])
        host = DNSName.text(labels)
        guard port > 0 else { return nil }
    }
}
