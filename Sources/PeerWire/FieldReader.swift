internal import FoundationEssentials
internal import PeerModel

/// Reads the keys of one JSON object; throws when one is missing or is not what it must be.
///
/// `null` is missing.
struct FieldReader {
    /// The value of a key cannot be used.
    struct BadField: Error {}

    private let container: KeyedDecodingContainer<FieldKey>

    init(_ decoder: any Decoder) throws { container = try decoder.container(keyedBy: FieldKey.self) }

    private init(_ container: KeyedDecodingContainer<FieldKey>) { self.container = container }

    func has(_ key: FieldKey) -> Bool {
        guard let isNull = try? container.decodeNil(forKey: key) else { return false }
        return !isNull
    }

    func number(_ key: FieldKey, in range: ClosedRange<UInt64> = 0...WireNumber.maximum) throws -> UInt64 {
        let value = try container.decode(UInt64.self, forKey: key)
        guard range.contains(value) else { throw BadField() }
        return value
    }

    func flag(_ key: FieldKey) throws -> Bool { try container.decode(Bool.self, forKey: key) }

    func text(_ key: FieldKey, bytes sizes: ClosedRange<Int>) throws -> String {
        let text = try container.decode(String.self, forKey: key)
        guard sizes.contains(text.utf8.count) else { throw BadField() }
        return text
    }

    func texts(_ key: FieldKey) throws -> [String] { try container.decode([String].self, forKey: key) }

    /// Base64 of any size, or of exactly `count` bytes.
    func bytes(_ key: FieldKey, count: Int? = nil) throws -> [UInt8] {
        guard let data = Data(base64Encoded: try container.decode(String.self, forKey: key)),
            count == nil || data.count == count
        else { throw BadField() }
        return Array(data)
    }

    /// A list of base64 texts.
    func manyBytes(_ key: FieldKey, count: ClosedRange<Int>) throws -> [[UInt8]] {
        let texts = try texts(key)
        guard count.contains(texts.count) else { throw BadField() }
        return try texts.map {
            guard let data = Data(base64Encoded: $0) else { throw BadField() }
            return Array(data)
        }
    }

    func signed(_ key: FieldKey) throws -> SignedBytes {
        SignedBytes(bytes: try bytes(key), signature: try bytes(.signature, count: SignedBytes.signatureSize))
    }

    func id<ID: LosslessStringConvertible>(_ key: FieldKey, _ type: ID.Type = ID.self) throws -> ID {
        guard let id = ID(try container.decode(String.self, forKey: key)) else { throw BadField() }
        return id
    }

    func ids<ID: LosslessStringConvertible>(
        _ key: FieldKey, atMost limit: Int, _ type: ID.Type = ID.self
    ) throws -> [ID] {
        let texts = try texts(key)
        guard texts.count <= limit else { throw BadField() }
        return try texts.map {
            guard let id = ID($0) else { throw BadField() }
            return id
        }
    }

    /// One of the words that `Word` knows.
    func word<Word: RawRepresentable<String>>(_ key: FieldKey, _ type: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: try container.decode(String.self, forKey: key)) else { throw BadField() }
        return word
    }

    /// An object inside this one.
    func object(_ key: FieldKey) throws -> FieldReader {
        FieldReader(try container.nestedContainer(keyedBy: FieldKey.self, forKey: key))
    }

    /// A list of objects.
    func objects<Value>(
        _ key: FieldKey, count: ClosedRange<Int>, read: (FieldReader) throws -> Value
    ) throws -> [Value] {
        var list = try container.nestedUnkeyedContainer(forKey: key)
        var values: [Value] = []
        while !list.isAtEnd {
            guard values.count < count.upperBound else { throw BadField() }
            values.append(try read(FieldReader(try list.nestedContainer(keyedBy: FieldKey.self))))
        }
        guard values.count >= count.lowerBound else { throw BadField() }
        return values
    }
}
