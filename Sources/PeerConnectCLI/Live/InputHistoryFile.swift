internal import Glibc
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
        let folder = open(self.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return [] }
        defer { close(folder) }
        return Self.read(in: folder)
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
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }  // and so the lock
        while flock(folder, LOCK_EX) != 0 { guard errno == EINTR else { return } }
        var all = read(in: folder)
        for line in lines where !line.isEmpty && line != all.last { all.append(line) }
        _ = write(newest(all), in: folder) && renameat(folder, newName, folder, name) == 0
    }

    /// As many of the newest as the editor keeps.
    private static func newest(_ lines: [String]) -> ArraySlice<String> {
        var rest = lines.suffix(LineEditor.historyLines)
        var bytes = rest.reduce(0) { $0 + $1.utf8.count }
        while bytes > LineEditor.historyBytes, let first = rest.popFirst() { bytes -= first.utf8.count }
        return rest
    }

    // MARK: The file

    private static func read(in folder: CInt) -> [String] {
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_size <= bytesAtMost
        else { return [] }
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= bytesAtMost {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        // A line that somebody has damaged is no reason to lose the others.
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            String(validating: $0, as: UTF8.self).map(unescaped)
        }
    }

    private static func write(_ lines: ArraySlice<String>, in folder: CInt) -> Bool {
        unlinkat(folder, newName, 0)  // of a program that was killed
        let file = openat(folder, newName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let bytes = lines.flatMap { Array(escaped($0).utf8) + [UInt8(ascii: "\n")] }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return close(file) == 0 && rest.isEmpty
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
