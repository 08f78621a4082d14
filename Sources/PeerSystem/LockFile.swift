internal import CSystem
internal import Glibc

/// A lock that other processes see and that ends with this one, however it ends (flock(2)).
package struct LockFile: ~Copyable, Sendable {
    /// Somebody else has it; gives what they wrote into it.
    package struct Taken: Error, Equatable, Sendable {
        package let holder: String
    }

    private let descriptor: OwnedDescriptor

    /// Takes the lock at `path` and writes `text` (who holds it) into the file.
    package init(path: String, text: String) throws {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let raw = CInt(try retrying("open") { Int(pc_openat(AT_FDCWD, path, flags, 0o600)) })
        let descriptor = OwnedDescriptor(owning: raw)
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else { throw SystemError(call: "flock", code: code) }
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = max(0, pread(raw, &bytes, bytes.count, 0))
            throw Taken(holder: String(decoding: bytes.prefix(count), as: UTF8.self))
        }
        let bytes = Array(text.utf8)
        ftruncate(raw, 0)
        _ = pwrite(raw, bytes, bytes.count, 0)
        self.descriptor = descriptor
    }
}
