internal import CSystem
internal import Glibc

/// A folder held open: what is in it is reached by name, and never through links.
///
/// Names are single components; whoever takes them from elsewhere checks them first. Any thread may call.
package final class Folder: Sendable {
    let descriptor: OwnedDescriptor

    init(owning raw: Int) { descriptor = OwnedDescriptor(owning: CInt(truncatingIfNeeded: raw)) }

    /// Opens a folder by any path; links in it are followed.
    package static func open(_ path: String) throws(SystemError) -> Folder {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        return Folder(owning: try retrying("open") { Int(pc_openat(AT_FDCWD, path, flags, 0)) })
    }

    /// Opens a folder by path and makes it and those above it, mode 0755 less the umask, when it is not there.
    package static func make(_ path: String, mode: UInt16 = 0o755) throws(SystemError) -> Folder {
        do { return try open(path) } catch {
            guard error.code == ENOENT else { throw error }
        }
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
        if !parent.isEmpty { _ = try make(parent, mode: mode) }
        try unlessThere("mkdir") { mkdir(path, mode_t(mode)) }
        return try open(path)
    }

    // MARK: Folders in it

    /// Opens a folder in this one.
    package func folder(_ name: String) throws(SystemError) -> Folder {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        return Folder(owning: try retrying("openat") { Int(pc_openat(descriptor.raw, name, flags, 0)) })
    }

    /// Makes a new folder, `mode` less the umask, and opens it; throws `EEXIST` when the name is taken.
    package func makeFolder(_ name: String, mode: UInt16 = 0o700) throws(SystemError) -> Folder {
        try retrying("mkdirat") { Int(mkdirat(descriptor.raw, name, mode_t(mode))) }
        return try folder(name)
    }

    // MARK: Files in it

    /// Makes a new file for reading and writing, `mode` less the umask; throws `EEXIST` when the name is taken.
    package func createFile(_ name: String, mode: UInt16 = 0o600) throws(SystemError) -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        return try openFile(name, flags, mode: UInt32(mode))
    }

    /// Opens a file for reading; one that is a FIFO does not block.
    package func openFile(_ name: String) throws(SystemError) -> OpenFile {
        try openFile(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode: 0)
    }

    /// Opens a file that is there for reading and writing; one that is a FIFO does not block.
    package func openFileToWrite(_ name: String) throws(SystemError) -> OpenFile {
        try openFile(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode: 0)
    }

    private func openFile(_ name: String, _ flags: CInt, mode: UInt32) throws(SystemError) -> OpenFile {
        let raw = try retrying("openat") { Int(pc_openat(descriptor.raw, name, flags, mode)) }
        return OpenFile(owning: OwnedDescriptor(owning: CInt(truncatingIfNeeded: raw)))
    }

    /// Makes a symbolic link; throws `EEXIST` when the name is taken.
    package func makeLink(_ name: String, to target: String) throws(SystemError) {
        try retrying("symlinkat") { Int(symlinkat(target, descriptor.raw, name)) }
    }

    /// Where a link points to; `nil` when that is not UTF-8.
    package func target(of name: String) throws(SystemError) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try retrying("readlinkat") {
            bytes.withUnsafeMutableBytes { buffer in
                let text = buffer.bindMemory(to: CChar.self)
                guard let start = text.baseAddress else { return 0 }
                return readlinkat(descriptor.raw, name, start, text.count)
            }
        }
        return String(validating: bytes.prefix(count), as: UTF8.self)
    }

    /// Removes a file or link.
    package func remove(_ name: String) throws(SystemError) {
        try retrying("unlinkat") { Int(unlinkat(descriptor.raw, name, 0)) }
    }

    /// Removes an empty folder.
    package func removeFolder(_ name: String) throws(SystemError) {
        try retrying("unlinkat") { Int(unlinkat(descriptor.raw, name, AT_REMOVEDIR)) }
    }

    // MARK: About it

    /// What is known of something in it; a link is not followed unless asked to be.
    package func status(of name: String, followsLinks: Bool = false) throws(SystemError) -> FileStatus {
        var status = stat()
        try retrying("fstatat") {
            Int(fstatat(descriptor.raw, name, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW))
        }
        return FileStatus(status)
    }

    /// What is known of the folder itself.
    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        try retrying("fstat") { Int(fstat(descriptor.raw, &status)) }
        return FileStatus(status)
    }

    /// Sets the time of the last change.
    package func setModified(_ time: FileStatus.Time) throws(SystemError) {
        try PeerSystem.setModified(descriptor.raw, time)
    }

    /// Bytes that a user without privileges may still write on its file system (statvfs(3)).
    package func freeSpace() throws(SystemError) -> UInt64 {
        var status = statvfs()
        try retrying("fstatvfs") { Int(fstatvfs(descriptor.raw, &status)) }
        let (bytes, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflows ? .max : bytes
    }

    /// Whether its file system has the names of Windows: vfat, exFAT, NTFS and shares (magic numbers of statfs(2)).
    package var hasWindowsNames: Bool {
        var status = statfs()
        guard fstatfs(descriptor.raw, &status) == 0 else { return false }
        return [0x4D44, 0x2011_BAB0, 0x5346_544E, 0x7366_746E, 0xFF53_4D42, 0xFE53_4D42].contains(
            UInt32(truncatingIfNeeded: status.f_type))
    }

    /// Waits until everything on its file system is on the disk.
    package func syncFileSystem() throws(SystemError) { try retrying("syncfs") { Int(pc_syncfs(descriptor.raw)) } }

    /// Takes the folder for this object alone, as long as it lives; false when another one has it.
    package func lock() throws(SystemError) -> Bool {
        try unlessBlocked("flock") { Int(flock(descriptor.raw, LOCK_EX | LOCK_NB)) } != nil
    }

    /// Lets others take it.
    package func unlock() { _ = flock(descriptor.raw, LOCK_UN) }
}

func unlessThere(_ call: String, _ body: () -> CInt) throws(SystemError) {
    do { try retrying(call) { Int(body()) } } catch {
        guard error.code == EEXIST else { throw error }
    }
}
