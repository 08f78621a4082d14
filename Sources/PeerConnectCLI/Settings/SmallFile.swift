internal import Glibc
internal import PeerModel

/// A file that a user writes by hand.
enum SmallFile {
    /// More is not written by hand.
    private static let limit = 1 << 20

    /// Its text; `nil` when there is none.
    static func text(of path: String) throws(PeerConnectError) -> String? {
        // Not blocking, for a FIFO that nobody writes to.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let code = errno
        if descriptor < 0, code == ENOENT || code == ENOTDIR { return nil }
        guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(code))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count >= 0 else { throw unreadable(path, String(cString: strerror(code))) }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw unreadable(path, "it is longer than 1 MiB") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw unreadable(path, "it is not UTF-8") }
        return text
    }

    private static func unreadable(_ path: String, _ reason: String) -> PeerConnectError {
        PeerConnectError(.cannotStart, "\(path) cannot be read: \(reason).", hint: "Mend the file, or move it away.")
    }
}
