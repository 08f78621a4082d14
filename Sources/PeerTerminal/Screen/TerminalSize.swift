internal import CTerminal

/// How many columns and rows the terminal shows.
package struct TerminalSize: Hashable, Sendable {
    package let columns: Int
    package let rows: Int

    /// A size of nothing, which some terminals report when they do not know, is taken as 80 × 24.
    package init(columns: Int, rows: Int) {
        self.columns = columns > 0 ? min(columns, 10_000) : 80
        self.rows = rows > 0 ? min(rows, 10_000) : 24
    }
    /// Of the terminal behind a descriptor; `nil` when it is none.
    package init?(of descriptor: CInt) {
        var columns: CInt = 0, rows: CInt = 0
        guard pct_size(descriptor, &columns, &rows) else { return nil }
        self.init(columns: Int(columns), rows: Int(rows))
    }
}
