internal import Glibc

extension SystemError {
    /// Nothing of that name is there.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    /// Nothing of that name is there, and nothing else in its place.
    package var isAbsent: Bool { code == ENOENT }
    /// A link stands where none is followed.
    package var isLink: Bool { code == ELOOP }
    /// The name is taken.
    package var isTaken: Bool { code == EEXIST }
    /// Another socket has the port.
    package var isPortTaken: Bool { code == EADDRINUSE }
    /// The disk, or this user's part of it, is full.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
    /// The file system does not take such a name.
    package var isBadName: Bool { code == EINVAL || code == EILSEQ || code == ENAMETOOLONG }
}
