/// Finished lines are wrapped here and not by the terminal: between words, and with what follows indented, so that no
/// part of a long text can stand at the start of a row and pass for a line of the program or of another person.
extension Row {
    /// In rows of at most so many columns; a line that fits stays as it is.
    ///
    /// A word that is longer than a row is cut between clusters. What is indented or behind a bar goes on below its own
    /// start, everything else two columns in.
    func wrapped(to width: Int) -> [Row] {
        guard columns > width, width > 0 else { return [self] }
        var wrapper = Wrapper(width: width, indent: hang(in: width))
        var blanks = Row(), word = Row()
        for cell in self {
            if cell.text != " " {
                word.append(cell)
            } else {
                wrapper.add(word, behind: blanks)
                (blanks, word) = ((word.isEmpty ? blanks : []) + [cell], [])
            }
        }
        wrapper.add(word, behind: blanks)
        return wrapper.rows
    }

    /// How far the rows behind the first one are indented.
    private func hang(in width: Int) -> Int {
        let lead = Row(prefix { $0.text == " " || $0.text == "|" }).columns
        return Swift.min(lead == 0 ? 2 : lead, width / 4)
    }
}

/// Sets words into rows.
private struct Wrapper {
    private let width: Int
    private let indent: Row
    private(set) var rows: [Row] = [[]]
    /// The last row has an indent at most.
    private var isFresh = true

    init(width: Int, indent: Int) {
        self.width = width
        self.indent = Row(repeating: Cell(" ", .plain), count: indent)
    }

    /// Blanks at the end of a row are dropped.
    mutating func add(_ word: Row, behind blanks: Row) {
        guard !word.isEmpty else { return }
        let gap = rows[rows.count - 1].columns + blanks.columns
        let fitsNext = word.columns <= width - indent.count
        // A word that is too long for any row begins in this one, if that much fits.
        if !isFresh, fitsNext ? gap + word.columns > width : gap + word[0].columns > width {
            breakRow()
        } else if gap < width {
            rows[rows.count - 1] += blanks
        }
        for cell in word {
            if rows[rows.count - 1].columns + cell.columns > width, !rows[rows.count - 1].isEmpty { breakRow() }
            rows[rows.count - 1].append(cell)
        }
        isFresh = false
    }

    private mutating func breakRow() {
        rows.append(indent)
        isFresh = true
    }
}
