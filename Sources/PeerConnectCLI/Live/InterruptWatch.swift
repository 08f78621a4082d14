internal import PeerModel
internal import PeerSystem
internal import PeerTerminal

/// Ctrl-C at a live terminal whose chat hangs, and so does not see what is typed: a second one leaves all the same.
///
/// A chat that sees it does by its own rules: a line that is cleared, a warning.
final class InterruptWatch: Sendable {
    /// Seconds in which a chat that is only busy has looked at it.
    private static let patience = 0.5
    private static let ctrlC: UInt8 = 0x03

    private struct State {
        var last: Instant?
        var typed = 0
        var seen = 0
    }

    private let state = Monitor(State())

    /// What the terminal sent, on its thread; false when it was a second Ctrl-C and the chat has not looked at it.
    func isSeen(_ event: TerminalEvent, at now: Instant) -> Bool {
        guard case .bytes(let bytes) = event else { return true }
        let isInterrupt = Self.isInterrupt(event)
        let second = state.update { state -> Int? in
            guard isInterrupt else {
                state.last = nil
                return nil
            }
            let isSecond = bytes.count > 1 || state.last.map { now - $0 < LiveDisplay.interruptWindow } ?? false
            state.last = now
            state.typed += 1
            return isSecond ? state.typed : nil
        }
        guard let second else { return true }
        return state.wait(seconds: Self.patience) { $0.seen >= second ? true : nil } ?? false
    }

    /// The chat looks at what the terminal sent.
    func took(_ event: TerminalEvent) { if Self.isInterrupt(event) { state.update { $0.seen += 1 } } }

    private static func isInterrupt(_ event: TerminalEvent) -> Bool {
        guard case .bytes(let bytes) = event else { return false }
        return !bytes.isEmpty && bytes.allSatisfy { $0 == ctrlC }
    }
}
