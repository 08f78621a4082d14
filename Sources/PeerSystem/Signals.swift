internal import CSystem
internal import Glibc

/// Signals as events of a loop instead of interruptions (signalfd(2)).
package struct Signals: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// Blocks the signals that ask a program to stop and ignores SIGPIPE; to be called before any thread is started, since
    /// threads inherit this.
    package init() throws(SystemError) {
        signal(SIGPIPE, SIG_IGN)
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let flags = CInt(SFD_CLOEXEC) | CInt(SFD_NONBLOCK)
        descriptor = OwnedDescriptor(owning: CInt(try retrying("signalfd") { Int(signalfd(-1, &set, flags)) }))
    }

    /// Calls `body` with the number of each signal that comes; on its own thread, for ever.
    package consuming func deliver(_ body: @escaping @Sendable (CInt) -> Void) throws(SystemError) {
        let raw = descriptor.raw
        let flags = pc_get_flags(raw)
        _ = pc_set_flags(raw, flags & ~O_NONBLOCK)
        let kept = SharedDescriptor(descriptor)
        try BlockingThread.spawn("signals") {
            var info = signalfd_siginfo()
            while Glibc.read(kept.descriptor.raw, &info, MemoryLayout<signalfd_siginfo>.size) > 0 || errno == EINTR {
                body(CInt(info.ssi_signo))
            }
        }
    }

    /// Ends the process the way the signal would have; as PID 1, which has no default actions, with 128 + its number.
    package static func die(of number: CInt) -> Never {
        guard getpid() != 1 else { exit(128 + number) }
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        exit(128 + number)
    }
}
