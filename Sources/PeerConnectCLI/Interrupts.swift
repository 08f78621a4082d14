internal import PeerModel
internal import Synchronization

/// SIGINT at a terminal that keeps its line mode: the first one says what would end, a second soon after leaves.
///
/// A terminal in raw mode sends Ctrl-C as a byte instead.
final class Interrupts: Sendable {
    private struct State {
        var ask: (@Sendable () -> Void)?
        var last: Instant?
    }

    /// Ends the program as the signal would have.
    let leave: @Sendable () -> Void
    private let state = Mutex(State())

    init(leave: @escaping @Sendable () -> Void = {}) { self.leave = leave }

    /// From now on `ask` is called for the first one: it says what would end, or leaves.
    ///
    /// With `nil` the first one leaves, as before.
    func take(_ ask: (@Sendable () -> Void)?) { state.withLock { $0.ask = ask } }

    /// A signal has come; false when the program is to leave, which a second one says whatever the first led to.
    func note(at now: Instant) -> Bool {
        let ask = state.withLock { state -> (@Sendable () -> Void)? in
            if let last = state.last, now - last < LiveDisplay.interruptWindow { return nil }
            state.last = now
            return state.ask
        }
        ask?()
        return ask != nil
    }
}
