internal import PeerSystem

/// A folder whose files are kept from others: read and replaced as wholes, and never reached through links.
struct PrivateFolder {
    let path: String
    private let folder: Folder

    /// Opens the folder; `nil` when it does not exist.
    ///
    /// One that `isSecret` is refused when others than the user may enter, read or write it.
    static func open(_ path: String, isSecret: Bool) throws(IdentityError) -> PrivateFolder? {
        let found = try unlessAbsent(path) { () throws(SystemError) in
            try isSecret ? Folder.openItself(path) : Folder.open(path)
        }
        guard let folder = found else { return nil }
        if isSecret { try requirePrivate(try naming(path) { () throws(SystemError) in try folder.status() }, path) }
        return PrivateFolder(path: path, folder: folder)
    }

    /// Makes a folder and those above it, mode 0700.
    static func create(_ path: String) throws(IdentityError) {
        try naming(path) { () throws(SystemError) in try Folder.makeLasting(path) }
    }

    /// The names in it, hidden ones left out.
    func names() throws(IdentityError) -> Set<String> {
        // A part of the names must not pass for all: an identity left out would be made anew.
        let names = try naming(path) { () throws(SystemError) in try folder.names().names }
        return Set(names.filter { !$0.hasPrefix(".") })
    }

    /// A regular file's bytes, at most `limit`; `nil` when there is none of that name.
    ///
    /// One that `isSecret` is refused when others than the user may read or write it.
    func read(_ name: String, atMost limit: Int, isSecret: Bool) throws(IdentityError) -> [UInt8]? {
        let file = path + "/" + name
        let found: OpenFile?
        do throws(SystemError) { found = try folder.openFile(name) } catch {
            if error.isAbsent { return nil }
            throw error.isLink ? .damaged(file: file) : .system(path: file, error)
        }
        guard let open = found else { return nil }
        let status = try Self.naming(file) { () throws(SystemError) in try open.status() }
        guard status.kind == .file, status.size <= limit else { throw .damaged(file: file) }
        if isSecret { try Self.requirePrivate(status, file) }
        return try Self.naming(file) { () throws(SystemError) in try open.read(atMost: limit) }
    }

    /// Makes or replaces a file; callers hold the lock.
    func write(_ name: String, _ bytes: [UInt8]) throws(IdentityError) {
        try Self.naming(path + "/" + name) { () throws(SystemError) in try folder.replaceFile(name, with: bytes) }
    }

    /// Runs `body` while no other process or thread does so in this folder; waits for its turn.
    func withLock<Result>(_ body: () throws(IdentityError) -> Result) throws(IdentityError) -> Result {
        let lock = try Self.naming(path + "/.lock") { () throws(SystemError) in try folder.waitForLock(".lock") }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private static func requirePrivate(_ status: FileStatus, _ path: String) throws(IdentityError) {
        guard status.owner == Paths.user else { throw .foreign(path: path) }
        guard status.mode & 0o077 == 0 else { throw .notPrivate(path: path) }
    }

    private func naming<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(IdentityError) -> Result {
        try Self.naming(path, body)
    }

    private static func naming<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(IdentityError) -> Result {
        do throws(SystemError) { return try body() } catch { throw .system(path: path, error) }
    }

    private static func unlessAbsent<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(IdentityError) -> Result? {
        do throws(SystemError) { return try body() } catch {
            if error.isAbsent { return nil }
            throw .system(path: path, error)
        }
    }
}
