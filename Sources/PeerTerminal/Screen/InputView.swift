/// What is being entered, with what stands before it.
package struct InputView: Equatable, Sendable {
    package let prompt: StyledText
    let characters: [Character]
    let cursor: Int

    package init(prompt: StyledText) { self.init(prompt: prompt, characters: [], cursor: 0) }

    init(prompt: StyledText, characters: [Character], cursor: Int) {
        self.prompt = prompt
        self.characters = characters
        self.cursor = cursor
    }

    /// The rows it takes, and the cursor's place in them: never behind the last column.
    func frame(width: Int) -> Frame {
        var rows: [Row] = [prompt.cells.cut(to: width / 2)]
        var column = rows[0].columns
        var place = (row: 0, column: 0)
        func breakRow() {
            rows.append([])
            column = 0
        }
        for (index, character) in characters.enumerated() {
            let isLineEnd = character == "\n"
            var cell = isLineEnd ? nil : Cell(entered: character)
            if let columns = cell?.columns, columns > width { cell = Cell("\u{FFFD}", .plain) }
            if column + (cell?.columns ?? 0) > width || index == cursor && column >= width { breakRow() }
            if index == cursor { place = (rows.count - 1, column) }
            if let cell {
                rows[rows.count - 1].append(cell)
                column += cell.columns
            } else {
                breakRow()
            }
        }
        if cursor >= characters.count {
            if column >= width { breakRow() }
            place = (rows.count - 1, column)
        }
        return Frame(rows: rows, cursorRow: place.row, cursorColumn: place.column)
    }
}

extension LineEditor {
    /// What is to be shown of it; while searching, the search takes the prompt's place.
    package func view(prompt: StyledText) -> InputView {
        guard let search else {
            return InputView(prompt: prompt, characters: buffer.characters, cursor: buffer.cursor)
        }
        let label = (search.hasFailed ? "not found: " : "search: ") + search.query + " > "
        return InputView(
            prompt: StyledText(label, search.hasFailed ? .warning : .question), characters: buffer.characters,
            cursor: buffer.cursor)
    }
}
