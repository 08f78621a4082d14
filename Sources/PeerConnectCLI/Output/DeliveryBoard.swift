internal import PeerModel
internal import PeerTerminal
internal import Synchronization

/// A line for each transfer of a `send`, drawn anew in place below what is said on standard error.
///
/// The cursor stays behind the last of them. A window that is made narrower meanwhile may keep pieces of old lines; what
/// was said stays whole.
final class DeliveryBoard: Sendable {
    /// Milliseconds between two frames at least.
    private static let interval: Int64 = 100
    /// More do not fit small windows, and are not read.
    private static let shownAtMost = 8

    private struct Key: Hashable {
        let transfer: TransferID
        let recipient: PeerID?
    }

    private struct State {
        var lines: [(key: Key, line: ProgressLine)] = []
        var drawn = 0
        var drawnAt: Int64?
    }

    private let console: Console
    /// `nil` when the terminal has gone.
    private let columns: @Sendable () -> Int?
    private let state = Mutex(State())

    init(_ console: Console, columns: @escaping @Sendable () -> Int?) {
        (self.console, self.columns) = (console, columns)
    }

    /// Says a line above the transfers.
    func say(_ text: String) {
        state.withLock { state in
            let text = Self.clearing(state.drawn) + text + "\n"
            state.drawn = 0
            console.writeErr(text)
            draw(&state)
        }
    }

    /// Shows how far a transfer is, now or with the next news.
    func show(_ progress: FileProgress, named name: String, for recipient: String) {
        let key = Key(transfer: progress.transfer, recipient: progress.recipient?.id)
        var line = ProgressLine(
            label: "", name: name, done: progress.bytes, total: progress.size,
            // The first reports have none.
            rate: progress.rate > 0 ? Double(progress.rate) : nil, marks: "to \(recipient)")
        let now = console.now()
        state.withLock { state in
            if let index = state.lines.firstIndex(where: { $0.key == key }) {
                if state.lines[index].line.rate != nil { line.rate = Double(progress.rate) }
                state.lines[index].line = line
            } else {
                state.lines.append((key, line))
            }
            // The clock may be set back.
            if let last = state.drawnAt, now >= last, now &- last < Self.interval { return }
            state.drawnAt = now
            draw(&state)
        }
    }

    /// Takes a transfer off that is over.
    func remove(_ transfer: TransferID, of recipient: PeerID?) {
        state.withLock { state in
            state.lines.removeAll {
                $0.key.transfer == transfer && (recipient == nil || $0.key.recipient == recipient)
            }
            draw(&state)
        }
    }

    /// Leaves nothing of it.
    func close() {
        state.withLock { state in
            state.lines = []
            draw(&state)
        }
    }

    private func draw(_ state: inout State) {
        let rows = state.lines.prefix(Self.shownAtMost)
        guard state.drawn > 0 || !rows.isEmpty else { return }
        // The last column stays free: behind it some terminals wrap at once.
        let width = (columns() ?? 80) - 1
        let text = rows.map { $0.line.text(width: width) }.joined(separator: "\r\n")
        console.writeErr(Self.clearing(state.drawn) + text)
        state.drawn = rows.count
    }

    /// To the first of so many rows, and nothing below (ECMA-48: CUU, ED).
    private static func clearing(_ rows: Int) -> String {
        guard rows > 0 else { return "" }
        return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\u{1B}[J"
    }
}

extension Run {
    /// Where transfers are shown while they run; `nil` where lines are only added.
    var deliveryBoard: DeliveryBoard? {
        guard !console.isJSON, !console.isVerbose, !options.isPlain, world.errorColumns() != nil,
            TerminalTraits(environment: world.environment).hasCursor
        else { return nil }
        return DeliveryBoard(console, columns: world.errorColumns)
    }
}
