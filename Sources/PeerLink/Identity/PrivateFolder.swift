internal import Glibc
internal import PeerSystem

/// A folder held open, whose files are read and replaced as wholes and never reached through links.
struct PrivateFolder: ~Copyable {
    let path: String
    private let descriptor: OwnedDescriptor

    /// Opens the folder; `nil` when it does not exist.
    ///
    /// One that `isSecret` is refused when others than the user may enter, read or write it.
    static func open(_ path: String, isSecret: Bool) throws(IdentityError) -> PrivateFolder? {
        let raw = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isSecret ? O_NOFOLLOW : 0))
        let code = errno
        if raw < 0, code == ENOENT { return nil }
        if raw < 0 { throw .system(path: path, SystemError(call: "open", code: code)) }
        let descriptor = OwnedDescriptor(owning: raw)
        if isSecret { try requirePrivate(raw, path) }
        return PrivateFolder(path: path, descriptor: descriptor)
    }

    private init(path: String, descriptor: consuming OwnedDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Makes a folder and those above it, mode 0700, and syncs the entry so that it outlives a power cut.
    static func create(_ path: String) throws(IdentityError) {
        if mkdir(path, 0o700) == 0 { return try sync(parent(of: path)) }
        switch errno {
        case EEXIST: return
        case ENOENT where parent(of: path) != path:
            try create(parent(of: path))
            try attempt(path, "mkdir") { mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : -1 }
            try sync(parent(of: path))
        case let code: throw .system(path: path, SystemError(call: "mkdir", code: code))
        }
    }

    /// The names in it, hidden ones left out.
    func names() throws(IdentityError) -> Set<String> {
        let copy = try attempt(path, "open") { openat(descriptor.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw .system(path: path, SystemError(call: "fdopendir", code: code))
        }
        defer { closedir(stream) }
        var names: Set<String> = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let code = errno
                // A part of the names must not pass for all: an identity left out would be made anew.
                if code != 0 { throw .system(path: path, SystemError(call: "readdir", code: code)) }
                return names
            }
            // Read through the pointer: an entry may be shorter than its type.
            let name = UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
            if name.pointee != CChar(bitPattern: UInt8(ascii: ".")) { names.insert(String(cString: name)) }
        }
    }

    /// A regular file's bytes, at most `limit`; `nil` when there is none of that name.
    ///
    /// One that `isSecret` is refused when others than the user may read or write it.
    func read(_ name: String, atMost limit: Int, isSecret: Bool) throws(IdentityError) -> [UInt8]? {
        let file = path + "/" + name
        // Not blocking, for a FIFO that nobody writes to.
        let raw = openat(descriptor.raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        let code = errno
        if raw < 0, code == ENOENT { return nil }
        if raw < 0, code == ELOOP { throw .damaged(file: file) }  // a link
        if raw < 0 { throw .system(path: file, SystemError(call: "open", code: code)) }
        let descriptor = OwnedDescriptor(owning: raw)
        var status = stat()
        try attempt(file, "fstat") { fstat(descriptor.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { throw .damaged(file: file) }
        if isSecret { try Self.requirePrivate(descriptor.raw, file) }
        var bytes = [UInt8](repeating: 0, count: limit), filled = 0
        while filled < limit {
            let count = try attempt(file, "read") {
                bytes.withUnsafeMutableBytes { buffer in
                    Glibc.read(descriptor.raw, buffer.baseAddress.map { $0 + filled }, limit - filled)
                }
            }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }

    /// Makes or replaces a file, mode 0600: after a crash there is the old one or the new one, whole.
    ///
    /// Callers hold the lock, since there is one temporary name.
    func write(_ name: String, _ bytes: [UInt8]) throws(IdentityError) {
        let file = path + "/" + name, temporary = ".new"
        unlinkat(descriptor.raw, temporary, 0)  // of a writer that was killed
        let raw = try attempt(file, "open") {
            openat(descriptor.raw, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        let new = OwnedDescriptor(owning: raw)
        do {
            try attempt(file, "fchmod") { fchmod(new.raw, 0o600) }  // whatever the umask is
            var written = 0
            while written < bytes.count {
                written += try attempt(file, "write") {
                    bytes.withUnsafeBytes { buffer in
                        Glibc.write(new.raw, buffer.baseAddress.map { $0 + written }, bytes.count - written)
                    }
                }
            }
            try attempt(file, "fsync") { fsync(new.raw) }
            try attempt(file, "rename") { renameat(descriptor.raw, temporary, descriptor.raw, name) }
        } catch {
            unlinkat(descriptor.raw, temporary, 0)
            throw error
        }
        try attempt(path, "fsync") { fsync(descriptor.raw) }
    }

    /// Runs `body` while no other process or thread does so in this folder; waits for its turn.
    func withLock<Result>(_ body: () throws(IdentityError) -> Result) throws(IdentityError) -> Result {
        let file = path + "/.lock"
        let raw = try attempt(file, "open") {
            openat(descriptor.raw, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        let lock = OwnedDescriptor(owning: raw)
        try attempt(file, "flock") { flock(lock.raw, LOCK_EX) }
        defer { _ = flock(lock.raw, LOCK_UN) }
        return try body()
    }

    private static func requirePrivate(_ raw: CInt, _ path: String) throws(IdentityError) {
        var status = stat()
        try attempt(path, "fstat") { fstat(raw, &status) }
        guard status.st_uid == geteuid() else { throw .foreign(path: path) }
        guard status.st_mode & 0o077 == 0 else { throw .notPrivate(path: path) }
    }

    private static func sync(_ path: String) throws(IdentityError) {
        let raw = try attempt(path, "open") { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        let folder = OwnedDescriptor(owning: raw)
        try attempt(path, "fsync") { fsync(folder.raw) }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// Where an entry's name begins: after its inode, offset, length and type (readdir(3)).
private let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19

/// A call that gives -1 and `errno`; repeated when a signal interrupted it.
@discardableResult
private func attempt(_ path: String, _ call: String, _ body: () -> CInt) throws(IdentityError) -> CInt {
    CInt(truncatingIfNeeded: try attempt(path, call) { Int(body()) })
}

@discardableResult
private func attempt(_ path: String, _ call: String, _ body: () -> Int) throws(IdentityError) -> Int {
    do { return try retrying(call, body) } catch { throw .system(path: path, error) }
}
