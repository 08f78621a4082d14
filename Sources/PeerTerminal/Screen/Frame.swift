/// The rows of the live area, and where the cursor stands in them.
package struct Frame: Equatable, Sendable {
    var rows: [Row]
    var cursorRow: Int
    var cursorColumn: Int

    /// So many rows at most: of those that do not fit the ones above the cursor go first.
    func window(rows limit: Int) -> Frame {
        guard rows.count > limit else { return self }
        // The cursor in the middle where there is more on both sides.
        let start = max(0, min(cursorRow - limit / 2, rows.count - limit))
        return Frame(
            rows: Array(rows[start..<start + limit]), cursorRow: cursorRow - start, cursorColumn: cursorColumn)
    }
}
