internal import CSystem
internal import Glibc

/// Small files that are read and replaced as wholes, and outlive a power cut.
extension Folder {
    /// Opens a folder by path whose last component is a folder itself, and no link to one.
    package static func openItself(_ path: String) throws(SystemError) -> Folder {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        return Folder(owning: try retrying("open") { Int(pc_openat(AT_FDCWD, path, flags, 0)) })
    }

    /// Makes a folder and those above it, mode 0700, and waits until their entries are on the disk.
    package static func makeLasting(_ path: String) throws(SystemError) {
        let parent = Self.parent(of: path)
        do {
            try retrying("mkdir") { Int(mkdir(path, 0o700)) }
        } catch {
            if error.isTaken { return }
            guard error.code == ENOENT, parent != path else { throw error }
            try makeLasting(parent)
            try unlessThere("mkdir") { mkdir(path, 0o700) }
        }
        try open(parent).sync()
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Makes or replaces a file, mode 0600: after a crash there is the old one or the new one, whole.
    ///
    /// There is one temporary name, so callers keep others from replacing files here meanwhile. Where it `mayBeLost` with
    /// the power, the disk is not waited for.
    package func replaceFile(
        _ name: String, with bytes: [UInt8], by temporary: String = ".new", mayBeLost: Bool = false
    ) throws(SystemError) {
        // Of a writer that was killed.
        do { try remove(temporary) } catch { guard error.isMissing else { throw error } }
        let file = try createFile(temporary)
        do {
            try file.setMode(0o600)  // whatever the umask is
            try file.write(bytes, at: 0)
            if !mayBeLost { try file.sync() }
            try retrying("renameat") { Int(renameat(descriptor.raw, temporary, descriptor.raw, name)) }
        } catch {
            try? remove(temporary)
            throw error
        }
        if !mayBeLost { try sync() }
    }

    /// Waits until its entries are on the disk.
    package func sync() throws(SystemError) { try retrying("fsync") { Int(fsync(descriptor.raw)) } }

    /// Waits until no other object, here or elsewhere, has taken the folder, and takes it as long as this one lives.
    package func waitForLock() throws(SystemError) { try retrying("flock") { Int(flock(descriptor.raw, LOCK_EX)) } }

    /// Waits until no other process or thread has the lock of this name, and takes it; it ends with the result.
    package func waitForLock(_ name: String) throws(SystemError) -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let raw = CInt(try retrying("openat") { Int(pc_openat(descriptor.raw, name, flags, 0o600)) })
        let file = OpenFile(owning: OwnedDescriptor(owning: raw))
        try retrying("flock") { Int(flock(raw, LOCK_EX)) }
        return file
    }
}
