internal import PeerConnect
internal import PeerModel

/// Which of several chats a line is for.
extension ChatLoop {
    mutating func switchTo(_ number: Int, _ line: Int) {
        // They were typed for the chat that is about to come.
        guard held.isEmpty else {
            return teller.refuse(
                line,
                PeerConnectError(
                    .busy, "What you typed waits for the chat that is about to start.",
                    hint: "Wait for it, or give it up with /end."))
        }
        teller.switchTo(number, line)
        state.isInChat = teller.book.current != nil
    }

    /// Whether it can be done without a current chat: what is for one is not done in another.
    func hasPlace(_ command: NodeCommand) -> Bool {
        guard !teller.book.chats.isEmpty else { return true }
        return switch command {
        case .say, .send: false
        case .leave: state.isJoining
        case .end: state.openRounds > 0
        default: true
        }
    }

    /// Those that are for the current chat: what stands behind a `/switch` does not overtake it.
    var linesBeforeSwitch: ArraySlice<(number: Int, text: String, begun: Instant)> {
        entered.prefix { $0.text.prefix { $0 != " " } != "/switch" }
    }
}
