internal import CSystem
internal import Glibc

/// Signals as events of a loop instead of interruptions (signalfd(2)).
package struct Signals: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// Blocks the signals that ask a program to stop, ignores SIGPIPE and takes SIGQUIT from the runtime's backtracer; to
    /// be called before any thread is started, since
    /// threads inherit this.
    package init() throws(SystemError) {
        signal(SIGPIPE, SIG_IGN)
        // It is asked for with Ctrl-\ and is no crash: nothing is to be examined, least of all at a prompt that waits.
        if !pc_is_ignored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM] { sigaddset(&set, number) }
        // Started by nohup(1), which lets a program outlive its terminal; a blocked signal would not be ignored.
        if !pc_is_ignored(SIGHUP) { sigaddset(&set, SIGHUP) }
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
            let size = MemoryLayout<signalfd_siginfo>.size
            while let count = try? retrying("read", { Glibc.read(kept.descriptor.raw, &info, size) }), count == size {
                body(CInt(info.ssi_signo))
            }
        }
    }

    /// Ends the process the way the signal would have; as PID 1, which has no default actions, with 128 + its number.
    ///
    /// Handlers of exit(3) are not run, as by a signal: other threads may be at work with what those would destroy.
    package static func die(of number: CInt) -> Never {
        guard !ThisProcess.isFirst else { _exit(128 + number) }
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }
}
