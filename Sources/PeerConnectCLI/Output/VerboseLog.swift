internal import Glibc
internal import PeerConnect
internal import PeerModel
internal import PeerSystem
internal import Synchronization

/// The file that takes what `--verbose` has to say while the terminal shows a chat.
final class VerboseLog: Sendable {
    static let name = "peerconnect.log"
    /// Then it is put aside and a new one begun, so that there are never more than two.
    static let limit = 1 << 20

    private let path: String
    private let descriptor: Mutex<CInt>

    /// Opens the log in this folder, which is made if need be; for this user alone.
    init(in folder: String) throws(PeerConnectError) {
        path = folder + "/" + Self.name
        try? Folder.makeLasting(folder)  // if not, opening says why
        let opened = Self.open(path)
        let code = errno
        guard opened >= 0 else {
            throw PeerConnectError(
                .cannotStart, "The log \(path) cannot be written: \(String(cString: strerror(code))).",
                hint: "Leave out --verbose, or mend the folder.")
        }
        descriptor = Mutex(opened)
    }

    deinit { descriptor.withLock { _ = close($0) } }

    private static func open(_ path: String) -> CInt {
        Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    }

    /// Adds a line with its time; dropped when the disk is full.
    func write(_ line: String, at milliseconds: Int64) {
        let bytes = Array("\(Timestamp.rfc3339(milliseconds)) \(SafeText.line(line))\n".utf8)
        descriptor.withLock { descriptor in
            rotate(&descriptor)
            _ = Glibc.write(descriptor, bytes, bytes.count)
        }
    }

    /// Another process may have put it aside already: then this one only follows.
    private func rotate(_ descriptor: inout CInt) {
        var mine = stat(), named = stat()
        guard fstat(descriptor, &mine) == 0, mine.st_size >= Self.limit else { return }
        if stat(path, &named) == 0, named.st_ino == mine.st_ino { rename(path, path + ".old") }
        let next = Self.open(path)
        guard next >= 0 else { return }
        close(descriptor)
        descriptor = next
    }
}

extension Run {
    /// Begins to say more, if that was asked for: on standard error, or in a file while a chat has the terminal.
    func beginVerbose(isLive: Bool) throws(PeerConnectError) {
        guard options.isVerbose else { return }
        guard isLive else {
            return Diagnosis.log(to: { [console] in console.err("discovery: " + SafeText.line($0)) })
        }
        let log = try VerboseLog(in: home.stateFolder)
        Diagnosis.log(to: { [now = console.now] in log.write("discovery: " + $0, at: now()) })
    }
}
