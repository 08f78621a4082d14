internal import CSystem
internal import Glibc

/// Questions about paths as a user writes them; links are followed.
package enum Paths {
    /// The path without links, `.` and `..`; throws when something on it is not there.
    package static func real(_ path: String) throws(SystemError) -> String {
        guard let text = realpath(path, nil) else { throw SystemError(call: "realpath", code: errno) }
        defer { free(text) }
        return String(cString: text)
    }

    /// The path from the root, as it is written otherwise.
    package static func absolute(_ path: String) throws(SystemError) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let current = getcwd(nil, 0) else { throw SystemError(call: "getcwd", code: errno) }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }

    /// What is known of what the path names; a link at its end is not followed.
    package static func status(_ path: String) throws(SystemError) -> FileStatus {
        var status = stat()
        try retrying("lstat") { Int(lstat(path, &status)) }
        return FileStatus(status)
    }

    /// Whether files can be made in a folder, or the folder itself in the next one above it that exists; if not, why.
    package static func whyNotWritable(_ path: String) -> SystemError? {
        var path = path
        while true {
            // The effective user's rights, and a slash at the end: only a folder will do (path_resolution(7)).
            if faccessat(AT_FDCWD, path.hasSuffix("/") ? path : path + "/", W_OK | X_OK, AT_EACCESS) == 0 { return nil }
            let code = errno
            guard code == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), path != "/" else {
                return SystemError(call: "faccessat", code: code)
            }
            path = path.utf8.startIndex == slash ? "/" : String(path[..<slash])
        }
    }

    /// Opens a file for reading; a link at the path's end is refused, and a FIFO does not block.
    package static func openFile(_ path: String) throws(SystemError) -> OpenFile {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let raw = try retrying("open") { Int(pc_openat(AT_FDCWD, path, flags, 0)) }
        return OpenFile(owning: OwnedDescriptor(owning: CInt(truncatingIfNeeded: raw)))
    }

    /// The user that files are made as.
    package static var user: UInt32 { geteuid() }
}
