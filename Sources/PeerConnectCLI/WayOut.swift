internal import PeerModel
internal import Synchronization

/// How the program ends: when its command is done, or a little later than it was told to, whatever hangs then.
final class WayOut: Sendable {
    /// Why the program leaves before its command is done.
    enum Interruption: Equatable, Sendable {
        case signal(Int32)
        /// Nobody reads standard output any more.
        case outputClosed

        var code: Int32 {
            switch self {
            case .signal(let number): 128 &+ number
            case .outputClosed: ExitStatus.failed.rawValue
            }
        }
    }

    private struct State {
        /// The first one counts.
        var interruption: Interruption?
        var work: Task<Int32, Never>?
        var isHurried = false
        var hasLeft = false
    }

    private let state = Mutex(State())
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let leave: @Sendable (Interruption?, Int32) -> Void

    /// - Parameters:
    ///   - later: Calls what it is given once members had their time to be told.
    ///   - leave: Ends the process; called once.
    init(
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        leave: @escaping @Sendable (Interruption?, Int32) -> Void
    ) {
        self.later = later
        self.leave = leave
    }

    /// What the process's exit code is to say in place of the command's.
    var code: Int32? { state.withLock { $0.interruption?.code } }

    /// The command is to end; from any thread.
    ///
    /// It counts at once, so that a command that is done in the same moment leaves with the right code.
    func note(_ interruption: Interruption) {
        let work = state.withLock { state in
            if state.interruption == nil { state.interruption = interruption }
            return state.work
        }
        work?.cancel()
        hurry()
    }

    /// The command ends by itself, as somebody wants it to: it is not waited for longer than for an interrupted one.
    func hurry() {
        let isFirst = state.withLock { state in
            defer { state.isHurried = true }
            return !state.isHurried
        }
        if isFirst { later { self.end(ExitStatus.done.rawValue) } }
    }

    /// Runs the command and ends the program with its code.
    func follow(_ command: @escaping @Sendable () async -> Int32) {
        let work = Task { await command() }
        let isInterrupted = state.withLock { state in
            state.work = work
            return state.interruption != nil
        }
        if isInterrupted { work.cancel() }
        Task { end(await work.value) }
    }

    private func end(_ code: Int32) {
        let (isFirst, interruption) = state.withLock { state in
            defer { state.hasLeft = true }
            return (!state.hasLeft, state.interruption)
        }
        if isFirst { leave(interruption, interruption?.code ?? code) }
    }
}
