/// A JSON value whose keys keep their order.
indirect enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case string(String)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    /// The text on one line: RFC 8259, with only what must be escaped escaped.
    var text: String {
        var out: [UInt8] = []
        write(to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func write(to out: inout [UInt8]) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .int(let value): out += String(value).utf8
        case .uint(let value): out += String(value).utf8
        case .string(let value): Self.write(value, to: &out)
        case .array(let values): Self.write(values, "[", "]", to: &out) { $0.write(to: &$1) }
        case .object(let members):
            Self.write(members, "{", "}", to: &out) { member, out in
                Self.write(member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, to out: inout [UInt8], each: (Item, inout [UInt8]) -> Void
    ) {
        out += open.utf8
        for (index, item) in items.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            each(item, &out)
        }
        out += close.utf8
    }

    private static func write(_ string: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += [UInt8(ascii: "\\"), UInt8(scalar.value)]
            case "\n": out += "\\n".utf8
            case "\r": out += "\\r".utf8
            case "\t": out += "\\t".utf8
            case _ where acts(scalar):
                let digits = String(scalar.value, radix: 16)
                out += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            default: out += String(scalar).utf8
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    /// A terminal that shows the line must not act on it: C0, DEL, C1, line separators, bidirectional controls.
    private static func acts(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    init(stringLiteral value: String) { self = .string(value) }
    init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { ($0.0, $0.1) }) }

    /// `null` when there is none.
    init(_ value: String?) { self = value.map { .string($0) } ?? .null }
    /// `null` when there is none.
    init(_ value: Int?) { self = value.map { .int(Int64($0)) } ?? .null }
    /// `null` when there is none.
    init(_ value: UInt64?) { self = value.map { .uint($0) } ?? .null }
}
