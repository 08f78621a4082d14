/// Collects the bytes of one frame, and knows where they leave the cursor.
struct Pen {
    private let palette: Palette
    private let width: Int
    /// Counted from the top of the live area.
    var row: Int
    /// `nil` where the terminal may see it differently: behind the last column, or behind what it may give another
    /// width.
    var column: Int?
    /// The frame is drawn whole.
    var isWhole = false

    /// What was there to be sent when the last finished line was added; before the rows, and wrapped.
    private var printed = ""
    private var text = ""
    private var writtenRows = 0
    private var needsGuard = false

    init(palette: Palette, width: Int, row: Int, column: Int?) {
        self.palette = palette
        self.width = width
        self.row = row
        self.column = column
    }

    /// Moves within the rows that are there; a column of `nil` is any.
    mutating func move(row target: Int, column wanted: Int?) {
        if target < row { text += "\u{1B}[\(row - target)A" }
        if target > row { text += "\u{1B}[\(target - row)B" }
        row = target
        guard let wanted, wanted != column else { return }
        text += wanted == 0 ? "\r" : "\u{1B}[\(wanted + 1)G"
        column = wanted
    }

    /// One row further down, which may scroll.
    mutating func newRow() {
        text += "\r\n"
        row += 1
        column = 0
    }

    mutating func eraseRest() { text += "\u{1B}[K" }
    mutating func eraseBelow() { text += "\u{1B}[J" }

    /// Writes cells that fit the row.
    mutating func write(_ cells: ArraySlice<Cell>) {
        writtenRows += 1
        var used = 0
        var isCertain = column != nil
        put(cells) { cell in
            used += cell.columns
            if !cell.isASCII { isCertain = false }
        }
        if cells.contains(where: { !$0.isASCII }) { needsGuard = true }
        column = column.flatMap { isCertain && $0 + used < width ? $0 + used : nil }
    }

    /// A row of a finished line; should the terminal find it wider than it was counted, it wraps it once more.
    mutating func printLine(_ cells: Row) {
        put(cells[...]) { _ in }
        printed += text + "\r\n"
        text = ""
        (row, column) = (0, 0)
    }

    private mutating func put(_ cells: ArraySlice<Cell>, _ note: (Cell) -> Void) {
        var ink = ""
        for cell in cells {
            let next = palette.start(cell.ink)
            if next != ink {
                if !ink.isEmpty { text += Palette.reset }
                text += next
                ink = next
            }
            text += cell.text
            note(cell)
        }
        if !ink.isEmpty { text += Palette.reset }
    }

    /// All bytes; without automatic wrapping where a terminal could find a row wider than it was counted, and in one
    /// piece where more than one row changes.
    mutating func finish() -> [UInt8] {
        let rows = needsGuard ? "\u{1B}[?7l" + text + "\u{1B}[?7h" : text
        let all = printed + rows
        guard !all.isEmpty, isWhole || writtenRows > 1 else { return Array(all.utf8) }
        return Array(("\u{1B}[?2026h" + all + "\u{1B}[?2026l").utf8)
    }
}
