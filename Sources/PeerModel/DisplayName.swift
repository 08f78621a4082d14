/// The name a peer shows: trimmed, 1 to 63 bytes of UTF-8, no control characters.
///
/// Equal means equal bytes.
public struct DisplayName: Sendable, CustomStringConvertible {
    /// Why a text cannot be a display name.
    public enum Problem: Error, Equatable, Sendable {
        case empty
        /// Longer than 63 bytes; gives the length found.
        case tooLong(bytes: Int)
        case controlCharacter
    }

    /// The most bytes of UTF-8, as in the peer IDs this follows.
    public static let maximumBytes = 63

    /// The name as it was given, without the white space around it.
    public let description: String

    /// Trims white space and checks the rest.
    public init(_ text: String) throws(Problem) {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { throw .empty }
        let trimmed = String(scalars[first...last])
        guard trimmed.utf8.count <= Self.maximumBytes else { throw .tooLong(bytes: trimmed.utf8.count) }
        guard trimmed.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw .controlCharacter
        }
        description = trimmed
    }

    /// The start of `text` that fits in `bytes`, cut on a character border; for defaults and instance names.
    package static func cut(_ text: String, toBytes bytes: Int) -> String {
        var result = "", size = 0
        for character in text {
            size += character.utf8.count
            guard size <= bytes else { break }
            result.append(character)
        }
        return result
    }
}

extension DisplayName: Hashable {
    /// Equal bytes: unlike `String`, names that only look equal (composed, decomposed) differ.
    public static func == (left: DisplayName, right: DisplayName) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}
