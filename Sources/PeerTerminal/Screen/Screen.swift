/// Keeps the live area below the finished lines: says which bytes lead from the last frame to the next; pure.
///
/// Finished lines are printed once, as the terminal's own lines, and never touched again. All bytes of a frame belong
/// in one write; terminals that know synchronized output (mode 2026) show it whole. Nothing else may write to the
/// terminal while a frame stands.
package struct Screen: Sendable {
    private let palette: Palette
    private let reflows: Bool
    private var size: TerminalSize
    /// What stands on the screen, for a width of `drawnWidth`; without rows when nothing does.
    private var drawn = Frame(rows: [], cursorRow: 0, cursorColumn: 0)
    private var drawnWidth: Int
    private var isUnsure = true

    /// `reflows`: the terminal wraps lines anew when its width changes, as all but xterm itself do.
    package init(size: TerminalSize, palette: Palette, reflows: Bool = true) {
        self.size = size
        self.palette = palette
        self.reflows = reflows
        drawnWidth = size.columns
    }

    /// How many rows of the live area stand below the cursor's; `nil` when nothing stands.
    package var rowsBelowCursor: Int? { drawn.rows.isEmpty ? nil : drawn.rows.count - 1 - drawn.cursorRow }

    /// The window has another size; the next frame draws all anew.
    package mutating func resize(to size: TerminalSize) {
        self.size = size
        isUnsure = true
    }

    /// The next frame draws all anew, as Ctrl-L asks for.
    package mutating func refresh() { isUnsure = true }

    /// Another program has used the terminal, or it was restored: the cursor is on a fresh line and nothing stands.
    package mutating func forget() {
        drawn = Frame(rows: [], cursorRow: 0, cursorColumn: 0)
        isUnsure = true
    }

    /// The bytes that print finished lines and show the frame; empty when nothing changes.
    package mutating func draw(_ frame: Frame, printing lines: [StyledText] = []) -> [UInt8] {
        let frame = clipped(frame)
        var pen = Pen(palette: palette, width: size.columns, row: drawn.cursorRow, column: drawn.cursorColumn)
        if isUnsure || !lines.isEmpty || frame.rows.isEmpty {
            eraseAll(&pen)
            for line in lines { line.cells.printed(to: size.columns).forEach { pen.printLine($0) } }
            for (index, row) in frame.rows.enumerated() {
                if index > 0 { pen.newRow() }
                pen.write(row[...])
            }
            pen.isWhole = true
        } else {
            update(to: frame.rows, &pen)
        }
        if !frame.rows.isEmpty { pen.move(row: frame.cursorRow, column: frame.cursorColumn) }
        drawn = frame
        drawnWidth = size.columns
        isUnsure = false
        return pen.finish()
    }

    /// Takes the live area off the screen and leaves the cursor at the start of a line: before stopping, leaving, or
    /// letting another program write.
    package mutating func clear() -> [UInt8] {
        var pen = Pen(palette: palette, width: size.columns, row: drawn.cursorRow, column: drawn.cursorColumn)
        eraseAll(&pen)
        forget()
        return pen.finish()
    }

    // MARK: Parts

    /// To the top of what stands, and all of it away.
    private func eraseAll(_ pen: inout Pen) {
        let standing = standingRows
        pen.row = standing.aboveCursor
        pen.column = nil
        pen.move(row: 0, column: 0)
        guard standing.total > 0 else { return }
        pen.eraseRest()
        guard standing.total > 1 else { return }
        // Not from the first row: tmux takes that, in the corner of its screen, for a wish to keep a copy of all that
        // stands.
        pen.move(row: 1, column: 0)
        pen.eraseBelow()
        pen.move(row: 0, column: 0)
    }

    /// How many rows the live area has, and has above the cursor, after the terminal may have wrapped them.
    private var standingRows: (aboveCursor: Int, total: Int) {
        let width = size.columns
        guard reflows, width < drawnWidth, !drawn.rows.isEmpty else { return (drawn.cursorRow, drawn.rows.count) }
        let heights = drawn.rows.map { Self.rows(of: $0.flatMap(\.widths), in: width) }
        var column = 0
        let row = drawn.rows[drawn.cursorRow].flatMap(\.widths)
        let before = row.prefix { next in
            column += next
            return column <= drawn.cursorColumn
        }
        // With what it stands on; behind the last one it stays in its row, full or not.
        let within = Self.rows(of: Array(row.prefix(before.count + 1)), in: width) - 1
        return (heights[..<drawn.cursorRow].reduce(within, +), heights.reduce(0, +))
    }

    /// How many rows characters of these widths take when they are wrapped.
    private static func rows(of widths: [Int], in width: Int) -> Int {
        var rows = 1, column = 0
        for next in widths {
            if column + next > width { (rows, column) = (rows + 1, 0) }
            column += next
        }
        return rows
    }

    private func update(to rows: [Row], _ pen: inout Pen) {
        for (index, row) in rows.enumerated() {
            guard index < drawn.rows.count else {
                pen.move(row: index - 1, column: nil)
                pen.newRow()
                pen.write(row[...])
                continue
            }
            let old = drawn.rows[index]
            guard old != row else { continue }
            let isCertain = old.allSatisfy(\.isASCII) && row.allSatisfy(\.isASCII)
            if isCertain, row.columns >= old.columns {
                let same = zip(old, row).prefix { $0 == $1 }.count
                pen.move(row: index, column: row[..<same].reduce(0) { $0 + $1.columns })
                pen.write(row[same...])
            } else {
                // Erased whole, and before it is written: behind a full row an erasure takes the last cell, and tmux goes
                // on counting the cells that were erased from the middle of a row when it wraps for another width.
                pen.move(row: index, column: 0)
                pen.eraseRest()
                pen.write(row[...])
            }
        }
        if rows.count < drawn.rows.count {
            pen.move(row: rows.count, column: 0)
            pen.eraseBelow()
        }
    }

    /// What fits the screen, whatever the caller gives.
    private func clipped(_ frame: Frame) -> Frame {
        var frame = frame.window(rows: size.rows)
        frame.rows = frame.rows.map { $0.fitting(size.columns) }
        frame.cursorColumn = max(0, min(frame.cursorColumn, size.columns - 1))
        frame.cursorRow = max(0, min(frame.cursorRow, frame.rows.count - 1))
        return frame
    }
}
