@testable import PeerTerminal

/// A terminal for exactly the sequences that the screen sends; anything else is noted in `faults`.
///
/// It keeps all rows, those that have scrolled off included, so nothing that was printed can get lost unnoticed.
struct ScreenModel {
    struct Line: Equatable {
        /// One text a column; the second column of a wide cluster is empty.
        var columns: [String] = []
        /// The terminal has wrapped here, so the next row belongs to the same line.
        var isWrapped = false
    }

    private(set) var size: TerminalSize
    private(set) var lines = [Line()]
    private(set) var faults: [String] = []
    /// The first row that the screen shows.
    private var top = 0
    private(set) var row = 0
    private(set) var column = 0
    /// The last column has been written, and the next text goes to the next row.
    private var isPending = false
    private var wraps = true
    private var isSynchronized = false
    let reflows: Bool
    /// Terminals differ in the widths of emoji and new characters.
    var width: @Sendable (Character) -> Int = { ColumnWidth.columns(of: $0) }

    init(size: TerminalSize, reflows: Bool = true) {
        self.size = size
        self.reflows = reflows
    }

    /// What is to be seen, rows that the terminal wrapped joined to one.
    var texts: [String] {
        var result: [String] = [], joined = ""
        for line in lines {
            joined += line.columns.joined()
            if line.isWrapped { continue }
            result.append(joined)
            joined = ""
        }
        while result.last == "" { result.removeLast() }
        return result
    }

    /// The row behind so many lines.
    func firstRow(behind count: Int) -> Int {
        var ends = lines.indices.filter { !lines[$0].isWrapped }
        ends.insert(-1, at: 0)
        return ends[count] + 1
    }

    mutating func take(_ bytes: [UInt8]) {
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        while let character = rest.first {
            if character == "\u{1B}" {
                rest = takeSequence(rest.dropFirst())
                continue
            }
            rest.removeFirst()
            switch character {
            case "\r": (column, isPending) = (0, false)
            case "\r\n": newLine()
            default: put(character)
            }
        }
        if isSynchronized || !wraps { faults.append("a frame ends in another mode than it began") }
    }

    private mutating func takeSequence(_ text: Substring) -> Substring {
        let body = text.prefix { !$0.isLetter }
        let name = text.dropFirst(body.count).first.map { String($0) } ?? ""
        let number = Int(body.dropFirst()) ?? (body.count == 1 ? 1 : -1)
        switch (body.first, name) {
        case ("[", "A") where number > 0: (row, isPending) = (max(top, row - number), false)
        case ("[", "B") where number > 0:
            isPending = false
            row = min(top + size.rows - 1, row + number)
            while row >= lines.count { lines.append(Line()) }
        case ("[", "G") where number > 0 && number <= size.columns: (column, isPending) = (number - 1, false)
        case ("[", "K") where body == "[":
            if column != 0 || isPending { faults.append("erases from the middle of a row") }
            lines[row].columns.removeSubrange(min(column, lines[row].columns.count)...)
            lines[row].isWrapped = false
        case ("[", "J") where body == "[":
            if column != 0 || isPending { faults.append("erases from the middle of a row") }
            if row == top { faults.append("erases the whole screen, which tmux keeps a copy of") }
            lines[row] = Line()
            lines.removeSubrange((row + 1)...)
        case ("[", "h") where body == "[?7": wraps = true
        case ("[", "l") where body == "[?7": wraps = false
        case ("[", "h") where body == "[?2026": isSynchronized = true
        case ("[", "l") where body == "[?2026": isSynchronized = false
        case ("[", "m"): break
        default: faults.append("unknown: \(body)\(name)")
        }
        return text.dropFirst(body.count + name.count)
    }

    private mutating func newLine() {
        (column, isPending) = (0, false)
        row += 1
        if row == lines.count { lines.append(Line()) }
        top = max(top, row - size.rows + 1)
    }

    private mutating func put(_ character: Character) {
        let width = width(character)
        if width == 0 { faults.append("writes \(character.unicodeScalars)") }
        if isPending || column + width > size.columns {
            guard wraps else { return }  // overwriting the last column, which no frame should do
            lines[row].isWrapped = true
            newLine()
        }
        while lines[row].columns.count < column + width { lines[row].columns.append(" ") }
        lines[row].columns[column] = String(character)
        for extra in 1..<max(1, width) { lines[row].columns[column + extra] = "" }
        column += width
        isPending = column == size.columns
        if isPending { column -= 1 }
    }

    // MARK: Another size

    mutating func resize(to size: TerminalSize) {
        let old = lines, place = (row: row, column: column)
        if reflows, size.columns != self.size.columns {
            lines = []
            var joined: [String] = []
            for (index, line) in old.enumerated() {
                let cursor = index == place.row ? joined.count + place.column : nil
                // Where the cursor is, blanks count as written.
                if let cursor { row = -1 - cursor }
                joined += line.columns
                if line.isWrapped { continue }
                let offset = row < 0 ? -1 - row : nil
                wrap(joined, cursor: offset, width: size.columns)
                joined = []
            }
        } else if size.columns < self.size.columns {
            for index in lines.indices { lines[index].columns = Array(lines[index].columns.prefix(size.columns)) }
            column = min(column, size.columns - 1)
        }
        self.size = size
        isPending = false
        top = max(0, min(top, row), row - size.rows + 1)
        if lines.count - top > size.rows { top = min(row, lines.count - size.rows) }
    }

    /// Sets one line anew, and the cursor in it if it is `cursor` columns from its start.
    private mutating func wrap(_ columns: [String], cursor: Int?, width: Int) {
        var line = Line()
        for (index, text) in columns.enumerated() {
            let isWide = index + 1 < columns.count && columns[index + 1].isEmpty && !text.isEmpty
            if line.columns.count + (isWide ? 2 : 1) > width {
                line.isWrapped = true
                lines.append(line)
                line = Line()
            }
            if index == cursor { (row, column) = (lines.count, line.columns.count) }
            line.columns.append(text)
        }
        if let cursor, cursor >= columns.count {
            // Behind a full row it stays there, as in tmux, until the next width.
            (row, column) = (lines.count, min(width, line.columns.count + cursor - columns.count))
        }
        lines.append(line)
    }
}
