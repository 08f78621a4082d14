internal import Glibc

/// The three descriptors every program is started with.
enum StandardStreams {
    /// Fills those that are closed (`>&-`), before anything else is opened: what is opened takes the lowest free number,
    /// and a database must never be standard output.
    ///
    /// What fills them is open the wrong way round, so that reading and writing fail as if nothing was there.
    static func fill() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
