internal import PeerSystem
internal import PeerTerminal

/// The lines entered in earlier runs, for the arrow keys and Ctrl-R; a file that only its user can read.
///
/// Written anew after each line, on a thread of its own: what another program has added meanwhile is read first, under
/// a lock on the folder, and the new file takes the old one's place at once. That it cannot be written is not worth a
/// word.
final class InputHistoryFile: Sendable {
    static let name = "input-history"
    /// The folder is locked while it is there, so one name will do.
    private static let newName = name + ".new"
    /// Escapes double a line at most.
    private static let bytesAtMost = 2 * LineEditor.historyBytes + LineEditor.historyLines

    private struct Pending {
        var lines: [String] = []
        var isWriting = false
    }

    private let folder: String
    private let pending = Monitor(Pending())

    /// In a folder that is there; else nothing is read or written.
    init(folder: String) { self.folder = folder }

    /// What there is, oldest first; nothing when it cannot be read, or is not a plain file of this user.
    func lines() -> [String] {
        guard let folder = try? Folder.open(folder) else { return [] }
        return Self.read(in: folder)
    }

    /// Forgets everything that was entered.
    static func clear(in folder: String) throws(SystemError) {
        do {
            let folder = try Folder.open(folder)
            try folder.waitForLock()
            try folder.remove(name)
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Adds a line, soon.
    func add(_ line: String) {
        let isFirst = pending.update { pending in
            defer { pending.isWriting = true }
            pending.lines.append(line)
            return !pending.isWriting
        }
        guard isFirst else { return }
        do {
            try BlockingThread.spawn("input-history") { [folder, pending] in Self.work(pending, folder) }
        } catch {
            pending.update { $0.isWriting = false }
        }
    }

    /// Waits until what was added is written; a second at most.
    func flush() { _ = pending.wait(seconds: 1) { $0.isWriting ? nil : true } }

    private static func work(_ pending: Monitor<Pending>, _ folder: String) {
        while true {
            let lines = pending.update { pending in
                defer { pending.lines = [] }
                if pending.lines.isEmpty { pending.isWriting = false }
                return pending.lines
            }
            guard !lines.isEmpty else { return }
            append(lines, in: folder)
        }
    }

    private static func append(_ lines: [String], in path: String) {
        // Held until the folder is closed at the end.
        guard let folder = try? Folder.open(path), (try? folder.waitForLock()) != nil else { return }
        var all = read(in: folder)
        for line in lines where !line.isEmpty && line != all.last { all.append(line) }
        let bytes = newest(all).flatMap { Array(escaped($0).utf8) + [UInt8(ascii: "\n")] }
        try? folder.replaceFile(name, with: bytes, by: newName, mayBeLost: true)
    }

    /// As many of the newest as the editor keeps.
    private static func newest(_ lines: [String]) -> ArraySlice<String> {
        var rest = lines.suffix(LineEditor.historyLines)
        var bytes = rest.reduce(0) { $0 + $1.utf8.count }
        while bytes > LineEditor.historyBytes, let first = rest.popFirst() { bytes -= first.utf8.count }
        return rest
    }

    // MARK: The file

    private static func read(in folder: Folder) -> [String] {
        guard let file = try? folder.openFile(name), let status = try? file.status(),
            status.kind == .file, status.owner == Paths.user, status.size <= bytesAtMost,
            let bytes = try? file.read(atMost: bytesAtMost)
        else { return [] }
        // A line that somebody has damaged is no reason to lose the others.
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            String(validating: $0, as: UTF8.self).map(unescaped)
        }
    }

    /// One line of the file, whatever is in it.
    private static func escaped(_ line: String) -> String {
        line.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private static func unescaped(_ line: String) -> String {
        var result = "", isEscaped = false
        for scalar in line.unicodeScalars {
            if isEscaped {
                result.unicodeScalars.append(scalar == "n" ? "\n" : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
