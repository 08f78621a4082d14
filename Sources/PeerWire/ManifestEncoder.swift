package import PeerModel

/// Why bytes are no manifest.
package enum ManifestError: Error, Equatable, Sendable {
    /// The bytes end too early.
    case truncated
    /// Another magic, kind or value than WIRE.md allows, or bytes too many.
    case badLayout
    /// More entries or bytes than the limits allow.
    case tooLarge
    /// A path that could lead elsewhere; gives its first bytes, foreign text.
    case badPath(String, SafePath.Problem)
    /// Not in ascending order, twice the same, or below something that is no folder of this manifest.
    case misplaced(String)
    /// A link that leads out of its top-level folder.
    case badLink(String)
}

extension Manifest {
    static let magic: [UInt8] = Array("PCM1".utf8)
    /// Magic and count.
    static let headerSize = 8
    /// Everything of an entry before its path.
    static let fixedSize = 25

    /// The bytes as in WIRE.md; the entries must already be in order.
    package func encoded() throws(ManifestError) -> [UInt8] {
        guard entries.count <= Limits.entries else { throw .tooLarge }
        var writer = ByteWriter()
        writer.bytes(Self.magic)
        writer.number(UInt32(entries.count))
        for entry in entries {
            writer.number(entry.kind.rawValue)
            writer.number(entry.mode)
            writer.number(entry.seconds)
            writer.number(entry.nanoseconds)
            writer.number(entry.size)
            writer.number(UInt16(clamping: entry.path.utf8.count))
            writer.text(entry.path)
            if entry.kind == .link {
                writer.number(UInt16(clamping: entry.target.utf8.count))
                writer.text(entry.target)
            }
            guard writer.bytes.count <= Limits.manifest else { throw .tooLarge }
        }
        return writer.bytes
    }

    /// Whether `left` comes before `right`: component by component, each by its bytes, a folder before what is in it.
    package static func isOrdered(_ left: String, _ right: String) -> Bool {
        // A slash counts as lower than any other byte, so that a folder's content stays together.
        left.utf8.lazy.map { $0 == UInt8(ascii: "/") ? 0 : $0 }
            .lexicographicallyPrecedes(right.utf8.lazy.map { $0 == UInt8(ascii: "/") ? 0 : $0 })
    }
}
