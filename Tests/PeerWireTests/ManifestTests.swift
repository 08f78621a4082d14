import PeerModel
import PeerWire
import TestSupport
import Testing

@Suite("Manifests")
struct ManifestTests {
    static func entry(
        _ path: String, _ kind: ManifestEntry.Kind = .file, size: UInt64 = 0, target: String = ""
    ) -> ManifestEntry {
        ManifestEntry(
            kind: kind, mode: 0o644, seconds: -5, nanoseconds: 999_999_999, size: size, path: path, target: target)
    }

    static let entries = [
        entry("a", .folder), entry("a/b", .folder), entry("a/b/c", size: 3), entry("a/é"), entry("a!", size: 1),
        entry("z", .folder), entry("z/l", .link, target: "../z/x"), entry("z/x", size: 1 << 40),
    ].sorted { Manifest.isOrdered($0.path, $1.path) }

    /// Encodes what the encoder would, without its order or checks.
    static func bytes(_ entries: [ManifestEntry]) throws -> [UInt8] {
        try #require(Manifest(entries)).encoded()
    }

    @Test("A manifest is the same after encoding, however its bytes are cut")
    func roundTrip() throws {
        let bytes = try Self.bytes([Self.entry("z", .folder), Self.entry("z/l", .link, target: "x"), Self.entry("z/x")])
        #expect(try ManifestDecoder.decode(bytes).entries.map(\.path) == ["z", "z/l", "z/x"])
        let all = try Self.bytes(Self.entries.filter { $0.kind != .link })
        for size in [1, 2, 7, 25, 64, all.count] {
            var decoder = ManifestDecoder()
            for start in stride(from: 0, to: all.count, by: size) {
                try all[start..<min(start + size, all.count)].withUnsafeBytes { try decoder.append($0) }
            }
            let manifest = try decoder.finish()
            #expect(manifest.entries == Self.entries.filter { $0.kind != .link })
            #expect(manifest.totalSize == 4 + 1 << 40)
            #expect(manifest.fileCount == 4)
            #expect(manifest.names == ["a", "a!", "z"])
        }
    }

    @Test("The bytes are those of WIRE.md")
    func layout() throws {
        let bytes = try Self.bytes([
            ManifestEntry(kind: .file, mode: 0o4755, seconds: 1, nanoseconds: 2, size: 3, path: "ab")
        ])
        #expect(
            bytes == [80, 67, 77, 49, 0, 0, 0, 1, 1, 0x01, 0xED] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 2]
                + [0, 0, 0, 0, 0, 0, 0, 3] + [0, 2, 97, 98])
    }

    @Test("Each shorter and each longer manifest is refused")
    func truncation() throws {
        let bytes = try Self.bytes(Self.entries.filter { $0.kind != .link })
        for count in 0..<bytes.count {
            #expect(throws: ManifestError.truncated) { try ManifestDecoder.decode(Array(bytes[..<count])) }
        }
        #expect(throws: ManifestError.badLayout) { try ManifestDecoder.decode(bytes + [0]) }
    }

    @Test("A count is judged before there is anything to count")
    func counts() {
        let head = Array("PCM1".utf8)
        #expect(throws: ManifestError.tooLarge) { try ManifestDecoder.decode(head + [0xFF, 0xFF, 0xFF, 0xFF]) }
        #expect(throws: ManifestError.tooLarge) { try ManifestDecoder.decode(head + [0, 0x0F, 0x42, 0x41]) }
        #expect(throws: ManifestError.truncated) { try ManifestDecoder.decode(head + [0, 0x0F, 0x42, 0x40]) }
        #expect(throws: ManifestError.badLayout) { try ManifestDecoder.decode(head + [0, 0, 0, 0]) }
        #expect(throws: ManifestError.badLayout) { try ManifestDecoder.decode(Array("PCM2".utf8) + [0, 0, 0, 1]) }
    }

    @Test(
        "Paths that lead elsewhere are refused",
        arguments: ["../x", "/etc/x", "a/../../x", "a/./x", "a//x", "..", ".", "", "x\0y", "a/"])
    func badPaths(path: String) throws {
        let bytes = try Self.bytes([Self.entry("a", .folder), Self.entry(path)])
        #expect {
            try ManifestDecoder.decode(bytes)
        } throws: { error in
            if case .badPath = error as? ManifestError { true } else { false }
        }
    }

    @Test(
        "Entries in a wrong place are refused",
        arguments: [
            [entry("b"), entry("a")], [entry("a"), entry("a")], [entry("a"), entry("a/b")], [entry("a/b")],
            [entry("a", .folder), entry("a/b/c")], [entry("a", .folder), entry("b"), entry("b/c")],
            [entry("a", .folder), entry("a/l", .link, target: "x"), entry("a/l/x")],
            [entry("a", .folder), entry("a!"), entry("a/b")],
        ])
    func misplaced(entries: [ManifestEntry]) throws {
        let bytes = try Self.bytes(entries)
        #expect {
            try ManifestDecoder.decode(bytes)
        } throws: { error in
            if case .misplaced = error as? ManifestError { true } else { false }
        }
    }

    @Test("Links out of their top-level folder are refused", arguments: ["/etc", "..", "../b", "x/../y", ""])
    func badLinks(target: String) throws {
        let bytes = try Self.bytes([Self.entry("a", .folder), Self.entry("a/l", .link, target: target)])
        #expect(throws: ManifestError.badLink("a/l")) { try ManifestDecoder.decode(bytes) }
    }

    @Test("Names that only look the same are two files")
    func lookalikes() throws {
        let entries = [Self.entry("e\u{301}"), Self.entry("\u{E9}")]
        #expect(try ManifestDecoder.decode(Self.bytes(entries)).entries == entries)
    }

    @Test("Sizes that add up to too much are refused")
    func sizes() throws {
        #expect(Manifest([Self.entry("a", size: .max), Self.entry("b", size: 2)]) == nil)
        #expect(Manifest([Self.entry("a", size: TransferLayout.maximumStream), Self.entry("b", size: 1)]) == nil)
    }

    @Test("Any part of the stream is found in its files")
    func segments() throws {
        let sizes: [UInt64] = [0, 3, 0, 0, 5, 1, 0, 7, 0]
        let entries = sizes.enumerated().map { Self.entry("f\($0.offset)", size: $0.element) }
        let manifest = try #require(Manifest(entries))
        // Byte by byte, the slow and obvious way.
        let bytes = sizes.enumerated().flatMap { file in (0..<file.element).map { (file.offset, $0) } }
        for start in 0...bytes.count + 1 {
            for count in 0...bytes.count + 2 {
                let found = manifest.segments(from: UInt64(start), count: count).flatMap { segment in
                    (0..<UInt64(segment.count)).map { (segment.entry, segment.offset + $0) }
                }
                let expected = bytes.dropFirst(start).prefix(count)
                #expect(found.elementsEqual(expected) { $0 == $1 })
            }
        }
    }

    @Test("Bytes changed at random give an error or a valid manifest, never a trap", arguments: 0..<8 as Range<UInt64>)
    func randomChanges(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let good = try Self.bytes(Self.entries.filter { $0.kind != .link })
        var refused = 0
        for _ in 0..<2000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            do {
                let manifest = try ManifestDecoder.decode(bytes)
                for entry in manifest.entries { _ = try SafePath.components(entry.path) }
                #expect(try manifest.encoded() == bytes)
            } catch is ManifestError { refused += 1 }
        }
        #expect(refused > 100)
    }
}
