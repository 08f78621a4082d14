internal import FoundationEssentials

/// Any JSON that another program has printed.
indirect enum DoctorJSON: Hashable, Sendable, Decodable {
    case null
    case flag(Bool)
    case number(Int64)
    case text(String)
    case array([DoctorJSON])
    case object([String: DoctorJSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(number)
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let items = try? value.decode([DoctorJSON].self) {
            self = .array(items)
        } else if let members = try? value.decode([String: DoctorJSON].self) {
            self = .object(members)
        } else {
            self = .null  // a fraction, which nothing here asks for
        }
    }

    subscript(key: String) -> DoctorJSON? { if case .object(let members) = self { members[key] } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var items: [DoctorJSON]? { if case .array(let items) = self { items } else { nil } }
    /// The member of an object that has just one.
    var only: (key: String, value: DoctorJSON)? {
        guard case .object(let members) = self, members.count == 1, let member = members.first else { return nil }
        return (member.key, member.value)
    }
}
