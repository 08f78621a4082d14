internal import CSystem
internal import Glibc

/// A small file of text, read whole; links are followed.
package enum TextFile {
    package enum Failure: Error {
        case failed(SystemError)
        /// It has more than so many bytes.
        case tooLong(Int)
        case notUTF8

        /// What is wrong, for the end of a sentence.
        package var reason: String {
            switch self {
            case .failed(let error): error.reason
            case .tooLong(let limit): "it is longer than \(limit >> 10) KiB"
            case .notUTF8: "it is not UTF-8"
            }
        }

        package var isMissing: Bool { if case .failed(let error) = self { error.isMissing } else { false } }
    }

    /// What is written by hand, or told by the kernel, is shorter.
    package static let limit = 1 << 20

    /// The file's text, also of one in `/proc`.
    ///
    /// With `waits` a pipe, such as a shell's `<(command)`, is read to its end, however long that takes; else one without a
    /// writer is empty, and the call never blocks for long.
    package static func read(
        _ path: String, atMost limit: Int = TextFile.limit, waits: Bool = false
    ) throws(Failure) -> String {
        let bytes: [UInt8]?
        do throws(SystemError) {
            let flags = O_RDONLY | O_NOCTTY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK)
            let raw = try retrying("open") { Int(pc_openat(AT_FDCWD, path, flags, 0)) }
            bytes = try read(OwnedDescriptor(owning: CInt(truncatingIfNeeded: raw)), atMost: limit)
        } catch {
            throw .failed(error)
        }
        guard let bytes else { throw .tooLong(limit) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    private static func read(
        _ file: borrowing OwnedDescriptor, atMost limit: Int
    ) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let descriptor = file.raw
        while bytes.count <= limit {
            let count = try retrying("read") { Glibc.read(descriptor, &buffer, buffer.count) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        return nil
    }
}
