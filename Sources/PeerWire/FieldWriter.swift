internal import FoundationEssentials

/// Writes the keys of one JSON object.
struct FieldWriter {
    private var container: KeyedEncodingContainer<FieldKey>

    init(_ encoder: any Encoder) { container = encoder.container(keyedBy: FieldKey.self) }

    private init(_ container: KeyedEncodingContainer<FieldKey>) { self.container = container }

    mutating func number(_ key: FieldKey, _ value: some BinaryInteger) throws {
        try container.encode(UInt64(clamping: value), forKey: key)
    }

    mutating func flag(_ key: FieldKey, _ value: Bool) throws { try container.encode(value, forKey: key) }

    mutating func text(_ key: FieldKey, _ value: String) throws { try container.encode(value, forKey: key) }

    mutating func texts(_ key: FieldKey, _ values: [String]) throws { try container.encode(values, forKey: key) }

    mutating func bytes(_ key: FieldKey, _ value: [UInt8]) throws {
        try container.encode(Data(value).base64EncodedString(), forKey: key)
    }

    mutating func manyBytes(_ key: FieldKey, _ values: [[UInt8]]) throws {
        try texts(key, values.map { Data($0).base64EncodedString() })
    }

    mutating func signed(_ key: FieldKey, _ value: SignedBytes) throws {
        try bytes(key, value.bytes)
        try bytes(.signature, value.signature)
    }

    mutating func id(_ key: FieldKey, _ value: some LosslessStringConvertible) throws {
        try text(key, value.description)
    }

    mutating func word(_ key: FieldKey, _ value: some RawRepresentable<String>) throws {
        try text(key, value.rawValue)
    }

    mutating func object(_ key: FieldKey, write: (inout FieldWriter) throws -> Void) throws {
        var writer = FieldWriter(container.nestedContainer(keyedBy: FieldKey.self, forKey: key))
        try write(&writer)
    }

    mutating func objects<Value>(
        _ key: FieldKey, _ values: [Value], write: (inout FieldWriter, Value) throws -> Void
    ) throws {
        var list = container.nestedUnkeyedContainer(forKey: key)
        for value in values {
            var writer = FieldWriter(list.nestedContainer(keyedBy: FieldKey.self))
            try write(&writer, value)
        }
    }
}
