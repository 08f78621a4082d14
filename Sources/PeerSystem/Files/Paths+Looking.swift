internal import Glibc

/// What can be found out about a path without changing anything; links are followed.
extension Paths {
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
