internal import PeerModel

/// Reads a manifest as its bytes come; keeps no more of them than one unfinished entry.
package struct ManifestDecoder: Sendable {
    private var buffer: [UInt8] = []
    private var position = 0
    private var total = 0
    private var count: Int?
    private var entries: [ManifestEntry] = []
    /// The folders that the next entry may be in: the last folder and those above it.
    private var open: [String] = []

    package init() {}

    /// Takes the next bytes.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(ManifestError) {
        guard bytes.count <= Limits.manifest - total else { throw .tooLarge }
        total += bytes.count
        if position > 0 {
            buffer.removeSubrange(..<position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
        if count == nil {
            guard buffer.count >= Manifest.headerSize else { return }
            guard buffer.starts(with: Manifest.magic) else { throw .badLayout }
            position = Manifest.magic.count
            let announced: UInt32 = take()
            guard announced > 0 else { throw .badLayout }
            guard announced <= UInt32(Limits.entries) else { throw .tooLarge }
            count = Int(announced)
        }
        while let entry = try next() { entries.append(entry) }
    }

    /// The whole manifest; throws when anything is missing or left over.
    package consuming func finish() throws(ManifestError) -> Manifest {
        guard let count, entries.count == count else { throw .truncated }
        guard position == buffer.count else { throw .badLayout }
        guard let manifest = Manifest(entries) else { throw .tooLarge }
        return manifest
    }

    /// The manifest in all these bytes.
    package static func decode(_ bytes: [UInt8]) throws(ManifestError) -> Manifest {
        var decoder = ManifestDecoder()
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(ManifestError) in try decoder.append(buffer) }
        }
        try result.get()
        return try decoder.finish()
    }

    // MARK: One entry

    private mutating func next() throws(ManifestError) -> ManifestEntry? {
        guard let count, entries.count < count, buffer.count - position >= Manifest.fixedSize else { return nil }
        let start = position
        guard let kind = ManifestEntry.Kind(rawValue: take()) else { throw .badLayout }
        let mode: UInt16 = take()
        let seconds: Int64 = take()
        let nanoseconds: UInt32 = take()
        let size: UInt64 = take()
        guard mode <= 0o777, nanoseconds < 1_000_000_000, kind == .file || size == 0 else { throw .badLayout }
        guard let path = try text(), let target = kind == .link ? try text() : "" else {
            position = start  // to be read again when more has come
            return nil
        }
        try place(path, kind, target: target)
        return ManifestEntry(
            kind: kind, mode: mode, seconds: seconds, nanoseconds: nanoseconds, size: size, path: path, target: target)
    }

    /// A length and so much UTF-8; `nil` when it is not all there.
    private mutating func text() throws(ManifestError) -> String? {
        guard buffer.count - position >= 2 else { return nil }
        let size = Int(take() as UInt16)
        guard size <= SafePath.bytes else { throw .badLayout }
        guard buffer.count - position >= size else { return nil }
        guard let text = String(validating: buffer[position..<position + size], as: UTF8.self) else { throw .badLayout }
        position += size
        return text
    }

    /// The caller has checked that the bytes are there.
    private mutating func take<Number: FixedWidthInteger>() -> Number {
        var value: Number = 0
        for _ in 0..<Number.bitWidth / 8 {
            value = value << 8 | Number(truncatingIfNeeded: buffer[position])
            position += 1
        }
        return value
    }

    private mutating func place(
        _ path: String, _ kind: ManifestEntry.Kind, target: String
    ) throws(ManifestError) {
        let components: [Substring]
        do { components = try SafePath.components(path) } catch {
            throw .badPath(DisplayName.cut(path, toBytes: SafePath.componentBytes), error)
        }
        if let last = entries.last, !Manifest.isOrdered(last.path, path) { throw .misplaced(path) }
        let parent = path.utf8.dropLast((components.last?.utf8.count ?? 0) + (components.count > 1 ? 1 : 0))
        // In this order a folder that was left never comes back, so the open ones are all there are.
        while let folder = open.last, !folder.utf8.elementsEqual(parent) { open.removeLast() }
        guard components.count == 1 || !open.isEmpty else { throw .misplaced(path) }
        switch kind {
        case .file: break
        case .folder: open.append(path)
        case .link:
            guard SafePath.staysInside(target: target, linkDepth: components.count) else { throw .badLink(path) }
        }
    }
}
