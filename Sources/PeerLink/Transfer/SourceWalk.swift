package import PeerModel
internal import PeerSystem
internal import PeerWire

/// Looks at what the user wants to send, without following links inside it.
package struct SourceWalk: ~Copyable {
    private var entries: [ManifestEntry] = []
    private var origins: [(top: Int, status: FileStatus)] = []
    private var skipped: [TransferSource.Skipped] = []
    private var top = 0

    /// Walks all paths, and follows one that is a link itself; blocks.
    ///
    /// - Parameter paths: As the user wrote them, relative ones from the current folder.
    /// - Returns: The files as one stream, in an order of its own.
    /// - Throws: `no-such-file`, `unreadable` (also for FIFOs, sockets and devices), `too-many`, `too-long`, `usage`.
    package static func walk(paths: [String]) throws(PeerConnectError) -> TransferSource {
        let given = try tops(of: paths)
        let tops = given.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }  // the manifest's order
        var walk = SourceWalk()
        for (index, top) in tops.enumerated() {
            walk.top = index
            try walk.addTop(top)
        }
        return try walk.source(tops, names: given.map { $0.isFolder ? $0.name + "/" : $0.name })
    }

    private consuming func source(
        _ tops: [TransferSource.Top], names: [String]
    ) throws(PeerConnectError) -> TransferSource {
        guard let manifest = Manifest(entries) else {
            throw PeerConnectError(.tooLong, "The files are larger than one transfer can be.", hint: Self.inParts)
        }
        let bytes: [UInt8]
        do { bytes = try manifest.encoded() } catch {
            throw PeerConnectError(
                .tooMany, "The paths of the files are longer together than one transfer can hold.",
                hint: Self.inParts)
        }
        guard manifest.totalSize <= TransferLayout.maximumStream - UInt64(bytes.count) else {
            throw PeerConnectError(.tooLong, "The files are larger than one transfer can be.", hint: Self.inParts)
        }
        return TransferSource(
            manifest: manifest, bytes: bytes, tops: tops, names: names, origins: origins, skipped: skipped)
    }

    // MARK: What the user gave

    /// In the manifest's order, each with a name of its own.
    private static func tops(of paths: [String]) throws(PeerConnectError) -> [TransferSource.Top] {
        guard !paths.isEmpty else {
            throw PeerConnectError(.usage, "There is nothing to send.", hint: "Name a file or a folder.")
        }
        var tops: [TransferSource.Top] = [], taken: Set<String> = [], seen: Set<String> = []
        for path in paths {
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw PeerConnectError(.usage, "A path is empty.", hint: "Name a file or a folder.")
            }
            let real: String
            do { real = try Paths.real(path) } catch {
                guard error.isMissing else {
                    throw Self.unreadable(path, error)
                }
                throw PeerConnectError(
                    .noSuchFile, "There is no file \(SafeText.line(path)).",
                    hint:
                        "Check its spelling; a path without / at its start begins where peerconnect was started.",
                    cause: error)
            }
            guard seen.insert(real).inserted else { continue }  // said twice is meant once
            let name = lastName(of: path) ?? lastName(of: real)
            guard let name else {
                throw PeerConnectError(.usage, "The whole file system cannot be sent.", hint: "Name folders of it.")
            }
            var number = 0, own = name
            let isFolder = (try? Paths.status(real))?.kind == .folder
            while !taken.insert(own).inserted {
                number += 1
                own = NumberedName.name(name, number, isFolder: isFolder)
            }
            tops.append(TransferSource.Top(name: own, path: real, isFolder: isFolder))
        }
        return tops
    }

    /// `nil` when the path ends in `.`, `..` or is the root.
    private static func lastName(of path: String) -> String? {
        guard let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }) else {
            return nil
        }
        do { try SafePath.checkName(last) } catch { return nil }
        return last
    }

    private mutating func addTop(_ top: TransferSource.Top) throws(PeerConnectError) {
        let found: Found
        do {
            found =
                switch try Paths.status(top.path).kind {
                case .file: .file(try Paths.openFile(top.path).status())
                case .folder: try .folder(Folder.open(top.path))
                case .link, .other: .nothing("it is neither a file nor a folder")
                }
        } catch {
            throw Self.unreadable(top.path, error)
        }
        if case .nothing(let why) = found {
            throw PeerConnectError(
                .unreadable, "\(SafeText.line(top.path)) cannot be sent: \(why).",
                hint: "Write what it gives into a file, and send that.")
        }
        try add(found, top.name, depth: 1)
    }

    private static let inParts = "Send them in several transfers, or packed into one archive."

    private static func unreadable(_ path: String, _ error: SystemError) -> PeerConnectError {
        let shown = SafeText.line(path)
        return PeerConnectError(
            .unreadable, "\(shown) cannot be read: \(error.reason).",
            hint: "Check its rights and those of the folders on the way; namei -l shows them.", cause: error)
    }

    // MARK: What is in a folder

    private enum Found {
        case file(FileStatus)
        case folder(Folder, FileStatus, names: [String], others: [String])
        case link(FileStatus, target: String)
        case nothing(String)

        static func folder(_ folder: Folder) throws(SystemError) -> Found {
            let (names, others) = try folder.names()
            return .folder(folder, try folder.status(), names: names, others: others)
        }
    }

    private static func look(at name: String, in folder: Folder, depth: Int) throws(SystemError) -> Found {
        let status = try folder.status(of: name)
        switch status.kind {
        case .file:
            let status = try folder.openFile(name).status()
            return status.kind == .file ? .file(status) : .nothing("it changed just now")
        case .folder: return try .folder(folder.folder(name))
        case .other: return .nothing("it is neither a file nor a folder")
        case .link:
            guard let target = try folder.target(of: name), SafePath.staysInside(target: target, linkDepth: depth)
            else { return .nothing("it is a link that leads out of the folder") }
            do { _ = try folder.status(of: name, followsLinks: true) } catch {
                return .nothing("it is a link that leads nowhere")
            }
            return .link(status, target: target)
        }
    }

    private mutating func add(_ found: Found, _ path: String, depth: Int) throws(PeerConnectError) {
        switch found {
        case .file(let status): try add(.file, path, status)
        case .link(let status, let target): try add(.link, path, status, target: target)
        case .nothing(let why): skip(path, why)
        case .folder(let folder, let status, let names, let others):
            try add(.folder, path, status)
            for name in others { skip(path + "/" + name, "its name is not UTF-8") }
            for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                let path = path + "/" + name, depth = depth + 1
                guard depth <= SafePath.depth, path.utf8.count <= SafePath.bytes else {
                    skip(path, "it lies too deep")
                    continue
                }
                let found: Found
                do { found = try Self.look(at: name, in: folder, depth: depth) } catch {
                    skip(path, error.reason)
                    continue
                }
                try add(found, path, depth: depth)
            }
        }
    }

    private mutating func add(
        _ kind: ManifestEntry.Kind, _ path: String, _ status: FileStatus, target: String = ""
    ) throws(PeerConnectError) {
        guard entries.count < Limits.entries else {
            throw PeerConnectError(
                .tooMany, "There are more than \(Limits.entries) files and folders.", hint: Self.inParts)
        }
        entries.append(
            ManifestEntry(
                kind: kind, mode: status.mode, seconds: status.modified.seconds,
                nanoseconds: status.modified.nanoseconds, size: status.size, path: path, target: target))
        origins.append((top, status))
    }

    private mutating func skip(_ path: String, _ why: String) {
        skipped.append(TransferSource.Skipped(path: path, why: why))
    }
}
