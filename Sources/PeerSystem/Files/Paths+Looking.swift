internal import CSystem
internal import Glibc

/// What can be found out about a path without changing anything; links are followed.
extension Paths {
    /// A file's text, also of one in `/proc`; `nil` when it cannot be read, is longer, or is not UTF-8.
    package static func text(_ path: String, atMost limit: Int = 1 << 20) -> String? {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        guard let raw = try? retrying("open", { Int(pc_openat(AT_FDCWD, path, flags, 0)) }) else { return nil }
        let file = OwnedDescriptor(owning: CInt(truncatingIfNeeded: raw))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            guard let count = try? retrying("read", { Glibc.read(file.raw, &buffer, buffer.count) }) else { return nil }
            if count == 0 { return String(validating: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
        return nil
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether this user may write there, and the file system takes it (access(2)).
    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    package static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// The path itself, or else the nearest folder above it that is there.
    package static func nearestExisting(_ path: String) -> String {
        var path = path[...]
        while !path.isEmpty, !exists(String(path)) {
            path = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        }
        return path.isEmpty ? "/" : String(path)
    }
}
