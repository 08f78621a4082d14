internal import CSystem
internal import Glibc

extension Folder {
    /// The names in it but `.` and `..`, in no order, and apart from them, repaired for display, those that are not UTF-8.
    package func names() throws(SystemError) -> (names: [String], others: [String]) {
        var names: [String] = [], others: [String] = []
        for name in try rawNames() {
            let bytes = name.dropLast().map(UInt8.init(bitPattern:))
            if let text = String(validating: bytes, as: UTF8.self) {
                names.append(text)
            } else {
                others.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        return (names, others)
    }

    /// Removes a folder and all that is in it, or a file or link; nothing is followed.
    ///
    /// Goes on behind what cannot be removed and throws the last such error.
    package func removeTree(_ name: String) throws(SystemError) { try removeTree(Array(name.utf8CString)) }

    /// Removes all that is in it.
    package func removeContent() throws(SystemError) {
        var failure: SystemError?
        for name in try rawNames() {
            do { try removeTree(name) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func removeTree(_ name: [CChar]) throws(SystemError) {
        do {
            try retrying("unlinkat") { Int(unlinkat(descriptor.raw, name, 0)) }
        } catch {
            guard error.code == EISDIR || error.code == EPERM else {
                if error.code == ENOENT { return }
                throw error
            }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let raw = try retrying("openat") { Int(pc_openat(descriptor.raw, name, flags, 0)) }
            try Folder(owning: raw).removeContent()
            try retrying("unlinkat") { Int(unlinkat(descriptor.raw, name, AT_REMOVEDIR)) }
        }
    }

    /// With their zero bytes.
    private func rawNames() throws(SystemError) -> [[CChar]] {
        // An own descriptor: a directory stream moves the place of the one it reads from, and closes it.
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let copy = CInt(truncatingIfNeeded: try retrying("openat") { Int(pc_openat(descriptor.raw, ".", flags, 0)) })
        guard let stream = fdopendir(copy) else {
            let code = errno
            _ = Glibc.close(copy)
            throw SystemError(call: "fdopendir", code: code)
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let code = errno
                if code != 0 { throw SystemError(call: "readdir", code: code) }
                return names
            }
            // Read through the pointer: an entry may be shorter than its type.
            let start = UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
            let name = Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
            if name != [dot, 0], name != [dot, dot, 0] { names.append(name) }
        }
    }

    // MARK: Renaming

    /// Moves something to another name or folder of the same file system; throws `EEXIST` when that name is taken.
    package func renameNew(_ name: String, to folder: Folder, as newName: String) throws(SystemError) {
        let from = descriptor.raw, to = folder.descriptor.raw
        do {
            try retrying("renameat2") { Int(pc_rename_new(from, name, to, newName)) }
        } catch {
            // File systems without the flag: EINVAL; kernels and sandboxes without the call: ENOSYS, EPERM.
            guard [EINVAL, ENOSYS, EPERM].contains(error.code) else { throw error }
            if try status(of: name).kind == .folder {
                // A folder never replaces anything but an empty folder.
                try requireFree(newName, in: folder)
                try retrying("renameat") { Int(renameat(from, name, to, newName)) }
                return
            }
            do {
                try retrying("linkat") { Int(linkat(from, name, to, newName, 0)) }
                try remove(name)
            } catch {
                guard [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(error.code) else { throw error }
                // No hard links either: a new empty file keeps the name for us until ours takes its place.
                _ = try folder.createFile(newName)
                try retrying("renameat") { Int(renameat(from, name, to, newName)) }
            }
        }
    }

    private func requireFree(_ name: String, in folder: Folder) throws(SystemError) {
        do { _ = try folder.status(of: name) } catch {
            if error.code == ENOENT { return }
            throw error
        }
        throw SystemError(call: "renameat", code: EEXIST)
    }
}

private let dot = CChar(bitPattern: UInt8(ascii: "."))
/// Where an entry's name begins: after its inode, offset, length and type (readdir(3)).
private let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
