internal import CSystem
internal import Glibc

/// What the file system knows of a file (stat(2)).
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Sendable {
        case file, folder, link
        /// A FIFO, socket or device.
        case other
    }

    /// Since 1970.
    package struct Time: Hashable, Sendable {
        package let seconds: Int64
        package let nanoseconds: UInt32

        package init(seconds: Int64, nanoseconds: UInt32) {
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }

        init(_ time: timespec) {
            self.init(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
        }
    }

    package let kind: Kind
    /// Permission bits with setuid, setgid and sticky.
    package let mode: UInt16
    package let size: UInt64
    /// Last change of the content.
    package let modified: Time
    /// Last change of content or status; cannot be set by programs.
    package let changed: Time
    package let device: UInt64
    package let inode: UInt64
    /// The user's number.
    package let owner: UInt32

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        mode = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        size = UInt64(clamping: status.st_size)
        modified = Time(status.st_mtim)
        changed = Time(status.st_ctim)
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        owner = status.st_uid
    }
}
