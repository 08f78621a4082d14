internal import PeerModel
internal import PeerSystem

/// The stream of a transfer that is only passed on, in a file without a name: nothing of it remains, however the program ends.
package final class Spool: PieceReading {
    package let length: UInt64
    private let file: OpenFile

    /// Makes the folder, mode 0700, when it is not there.
    package init(folder path: String, length: UInt64) throws(TransferFailure) {
        self.length = length
        let name = "spool-" + Base32.encode(randomBytes(10))
        do throws(SystemError) {
            let folder = try Folder.make(path, mode: 0o700)
            file = try folder.createFile(name)
            try folder.remove(name)
        } catch {
            throw TransferFailure(writing: path, error)
        }
    }

    /// Writes all the bytes; what was not written yet is not to be read.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(TransferFailure) {
        do { try file.write(bytes, at: offset) } catch { throw TransferFailure(writing: "The spool", error) }
    }

    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        let count: Int
        do { count = try file.read(at: offset, into: buffer) } catch {
            throw .unreadable("The spool cannot be read: \(error.reason).")
        }
        guard count == buffer.count else { throw .unreadable("The spool is shorter than it should be.") }
    }
}
