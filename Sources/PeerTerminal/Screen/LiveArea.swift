/// What stands below the finished lines, from top to bottom.
package struct LiveArea: Sendable {
    /// Who is here, while nothing else wants the room.
    package var people: [StyledText] = []
    /// Own lines that are not ordered yet, oldest first.
    package var waiting: [StyledText] = []
    package var transfers: [ProgressLine] = []
    /// Open questions, oldest first.
    package var questions: [StyledText] = []
    /// What the next key may do; nothing but the input comes before it.
    package var warnings: [StyledText] = []
    /// What helps with the input right now: ways to go on, a question about a paste.
    package var hints: [StyledText] = []
    package var status = StyledText()
    package var input = InputView(prompt: "")

    package init() {}

    /// A question in a narrow window: two rows of text, and what to type.
    private static let questionRows = 3

    /// The rows for a terminal of this size; one row stays free above them, for finished lines.
    ///
    /// Where they do not all fit, the row of the cursor stays first of all; up to half is for the input, then come
    /// warnings, hints, three rows of questions, the status, further questions, transfers, waiting lines and people. The last row
    /// that is left of a group says how many are missing.
    package func frame(for size: TerminalSize) -> Frame {
        let width = size.columns
        let budget = max(1, size.rows - 1)
        let whole = input.frame(width: width)
        // All of the input when nothing else wants the room.
        let others =
            people.count + waiting.count + transfers.count + questions.count + warnings.count + hints.count
            + (status.isEmpty ? 0 : 1)
        let field = whole.window(rows: max(1, budget / 2, budget - others))
        var free = budget - field.rows.count
        func grant(_ wanted: Int) -> Int {
            defer { free -= min(wanted, free) }
            return min(wanted, free)
        }
        let warningCount = grant(warnings.count)
        let hintCount = grant(hints.count)
        let firstQuestion = grant(min(Self.questionRows, questions.count))
        let hasStatus = grant(status.isEmpty ? 0 : 1) == 1
        let questionCount = firstQuestion + grant(questions.count - firstQuestion)
        let transferCount = grant(transfers.count)
        let waitingCount = grant(waiting.count)
        let peopleCount = grant(people.count)

        var rows = Self.fold(peopleCount, of: people.count, width) { people[$0].cells.cut(to: $1) }
        rows += Self.fold(waitingCount, of: waiting.count, width, isCounted: true) { waiting[$0].cells.cut(to: $1) }
        rows += Self.fold(transferCount, of: transfers.count, width, isCounted: true) { transfers[$0].row(width: $1) }
        rows += Self.fold(questionCount, of: questions.count, width) { questions[$0].cells.cut(to: $1) }
        rows += Self.fold(warningCount, of: warnings.count, width) { warnings[$0].cells.cut(to: $1) }
        rows += Self.fold(hintCount, of: hints.count, width) { hints[$0].cells.cut(to: $1) }
        if hasStatus { rows.append(status.cells.cut(to: width)) }
        return Frame(
            rows: rows + field.rows, cursorRow: rows.count + field.cursorRow, cursorColumn: field.cursorColumn)
    }

    /// The first rows of a group; the last one is shorter when it says that some are missing, and how many where each
    /// row is a thing of its own.
    private static func fold(
        _ shown: Int, of count: Int, _ width: Int, isCounted: Bool = false, _ row: (Int, Int) -> Row
    ) -> [Row] {
        (0..<shown).map { index in
            guard index == shown - 1, shown < count else { return row(index, width) }
            let more = StyledText(isCounted ? "  and \(count - shown) more" : "  and more", .quiet).cells
            return (row(index, max(0, width - more.columns)) + more).cut(to: width)
        }
    }

    /// Words in columns, read downwards as ls(1) sets them; for hints and lists.
    package static func columns(_ words: [String], width: Int) -> [StyledText] {
        let cells = words.map { StyledText($0).cells.cut(to: max(1, width)) }
        let widest = (cells.map(\.columns).max() ?? 0) + 2
        let perRow = max(1, (width + 2) / max(1, widest))
        let height = (cells.count + perRow - 1) / perRow
        return (0..<height).map { row in
            var line = ""
            for (place, index) in stride(from: row, to: cells.count, by: height).enumerated() {
                let used = ColumnWidth.columns(of: line)
                line += String(repeating: " ", count: max(0, place * widest - used))
                line += cells[index].map(\.text).joined()
            }
            return StyledText(line)
        }
    }
}
