internal import CSystem
internal import Glibc

/// A file held open; several threads may read it at once.
package final class OpenFile: Sendable {
    private let descriptor: OwnedDescriptor

    init(owning descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Fills the buffer from `offset` on; less than its size only where the file ends.
    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            guard let place = Int(exactly: offset &+ UInt64(filled)) else { return filled }
            let count = try retrying("pread") { pread(descriptor.raw, rest.baseAddress, rest.count, place) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Its bytes from the start, at most so many.
    package func read(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(SystemError) in
            try read(at: 0, into: UnsafeMutableRawBufferPointer(buffer))
        }
        return Array(bytes.prefix(count))
    }

    /// Writes all bytes at `offset`.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(SystemError) in
            try write(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }

    /// Writes all bytes at `offset`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            guard let place = Int(exactly: offset &+ UInt64(written)) else {
                throw SystemError(call: "pwrite", code: EFBIG)
            }
            written += try retrying("pwrite") { pwrite(descriptor.raw, rest.baseAddress, rest.count, place) }
        }
    }

    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        try retrying("fstat") { Int(fstat(descriptor.raw, &status)) }
        return FileStatus(status)
    }

    /// Sets the time of the last change; that of the last access becomes the same.
    package func setModified(_ time: FileStatus.Time) throws(SystemError) {
        try PeerSystem.setModified(descriptor.raw, time)
    }

    /// Sets the permission bits, whatever the umask is.
    package func setMode(_ mode: UInt16) throws(SystemError) {
        try retrying("fchmod") { Int(fchmod(descriptor.raw, mode_t(mode))) }
    }

    /// Cuts it, or fills it with zeros, to so many bytes.
    package func setSize(_ size: UInt64) throws(SystemError) {
        guard let size = Int(exactly: size) else { throw SystemError(call: "ftruncate", code: EFBIG) }
        try retrying("ftruncate") { Int(ftruncate(descriptor.raw, size)) }
    }

    /// Waits until the content is on the disk (fdatasync(2)).
    package func sync() throws(SystemError) { try retrying("fdatasync") { Int(fdatasync(descriptor.raw)) } }
}

func setModified(_ raw: CInt, _ time: FileStatus.Time) throws(SystemError) {
    let value = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
    try retrying("futimens") { Int(futimens(raw, [value, value])) }
}
