internal import CSQLite
internal import Glibc

/// A database's files and their folder: the user's own, modes 0600 and 0700.
///
/// Looks and changes by path only, never by an opened descriptor of the database (see `Database`); since the folder is
/// the user's alone, nobody can exchange what is looked at.
struct DatabaseFile {
    /// Without links, as SQLite wants it.
    let path: String
    private let folder: String

    /// What SQLite puts beside a database (www.sqlite.org/tempfiles.html).
    private static let companions = ["-wal", "-shm", "-journal"]

    /// Finds the folder; `nil` when it is not there, unless it is to be made.
    init?(_ name: String, in folder: String, creating: Bool) throws(StoreError) {
        if creating { try Self.makeFolder(folder) }
        guard let real = realpath(folder, nil) else {
            let code = errno
            if code == ENOENT, !creating { return nil }
            throw .system(path: folder, call: "realpath", code: code)
        }
        self.folder = String(cString: real)
        free(real)
        path = self.folder + "/" + name
        try Self.claim(self.folder, kind: S_IFDIR, mode: 0o700)
    }

    /// Whether the database is there; throws when it is not one that may be used.
    func check() throws(StoreError) -> Bool {
        guard let size = try Self.claim(path, kind: S_IFREG, mode: 0o600) else {
            // SQLite would add what is left of the old one to a new one.
            for companion in ["-wal", "-journal"]
            where try Self.claim(path + companion, kind: S_IFREG, mode: 0o600) != nil {
                throw .damaged(path: path, reason: "it is gone, but \(path + companion) is there")
            }
            return false
        }
        // SQLite would take it for a new one; this program never leaves one like that.
        if size == 0 { throw .damaged(path: path, reason: "it is empty") }
        for companion in Self.companions { try Self.claim(path + companion, kind: S_IFREG, mode: 0o600) }
        return true
    }

    /// Makes the database whole under another name first: after a crash there is none or a usable one.
    func create(_ fill: (String) throws(StoreError) -> Void) throws(StoreError) {
        let random = UInt64.random(in: 0 ... .max)
        let new = "\(path).\(String(random, radix: 36)).new"
        let raw = try attempt(new, "open") { open(new, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        defer {
            unlink(new)
            for companion in Self.companions { unlink(new + companion) }
        }
        let mode = Result { () throws(StoreError) in try attempt(new, "fchmod") { fchmod(raw, 0o600) } }
        close(raw)
        _ = try mode.get()  // whatever the umask is
        try fill(new)
        // A link, since it never replaces: another process may have been faster, and then its database counts.
        if link(new, path) != 0 {
            let code = errno
            guard code != EEXIST else { return }
            // A file system without hard links.
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(code) else {
                throw .system(path: path, call: "link", code: code)
            }
            try attempt(path, "rename") { rename(new, path) }
        }
        try Self.sync(folder)
    }

    /// Whether a shared memory file works there: not where several machines may have the database open at once, nor for
    /// certain where another program is the file system (www.sqlite.org/wal.html, magic numbers of statfs(2)).
    static func allowsSharedMemory(_ path: String) -> Bool {
        let kind = pc_file_system_kind(path)
        let remote: [UInt32] = [
            0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42,  // NFS, SMB, CIFS, SMB 2
            0x5346_414F, 0x6B41_4653, 0x7375_7245, 0x00C3_6400,  // AFS twice, Coda, Ceph
            0x0102_1997, 0x6573_5546, 0x0116_1970, 0x7461_636F,  // 9p, FUSE, GFS2, OCFS2
        ]
        return kind != 0 && !remote.contains(kind)
    }

    /// Gives the size of what is the user's own, after taking it away from others; `nil` when it is not there.
    @discardableResult
    private static func claim(_ path: String, kind: mode_t, mode: mode_t) throws(StoreError) -> Int? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw .system(path: path, call: "lstat", code: code)
        }
        guard status.st_mode & S_IFMT == kind, status.st_uid == geteuid() else { throw .notPrivate(path: path) }
        if status.st_mode & 0o077 != 0 { try attempt(path, "chmod") { chmod(path, mode) } }
        return Int(status.st_size)
    }

    private static func makeFolder(_ path: String) throws(StoreError) {
        if mkdir(path, 0o700) == 0 { return try sync(parent(of: path)) }
        switch errno {
        case EEXIST: return
        case ENOENT where parent(of: path) != path:
            try makeFolder(parent(of: path))
            try attempt(path, "mkdir") { mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : -1 }
            try sync(parent(of: path))
        case let code: throw .system(path: path, call: "mkdir", code: code)
        }
    }

    /// Makes a folder's entries outlive a power cut.
    private static func sync(_ folder: String) throws(StoreError) {
        let raw = try attempt(folder, "open") { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(raw) }
        // Some file systems cannot, and need not.
        try attempt(folder, "fsync") { fsync(raw) == 0 || errno == EINVAL ? 0 : -1 }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// A call that gives -1 and `errno`; repeated when a signal interrupted it.
@discardableResult
private func attempt(_ path: String, _ call: String, _ body: () -> CInt) throws(StoreError) -> CInt {
    while true {
        let result = body()
        let code = errno  // before anything else can run and change it
        if result >= 0 { return result }
        if code != EINTR { throw .system(path: path, call: call, code: code) }
    }
}

func isDiskFull(_ code: CInt) -> Bool { code == ENOSPC || code == EDQUOT }

/// The reason in the system's words, in lower case.
func systemReason(_ code: CInt) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    _ = strerror_r(code, &buffer, buffer.count)
    return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }.lowercased()
}
