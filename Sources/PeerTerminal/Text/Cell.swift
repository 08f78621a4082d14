internal import PeerModel

/// What one grapheme cluster shows on the screen.
struct Cell: Equatable, Sendable {
    /// Free of controls.
    let text: String
    /// At least 1; more than 2 only where something invisible is spelled out.
    let columns: Int
    let ink: Ink

    /// For text that is harmless already.
    init(_ character: Character, _ ink: Ink) {
        let columns = ColumnWidth.columns(of: character)
        // A mark without a letter would sit on what stands before it; U+25CC is the base that Unicode uses to show
        // marks.
        text = columns == 0 ? "\u{25CC}\(character)" : String(character)
        self.columns = max(1, columns)
        self.ink = ink
    }

    /// For the input, which may hold anything but is to be edited by cluster.
    init(entered character: Character) {
        if character == "\t" {
            self.init(text: "    ", columns: 4, ink: .plain)
        } else if let byte = character.asciiValue, 0x20...0x7E ~= byte {
            self.init(text: String(character), columns: 1, ink: .plain)
        } else {
            let shown = SafeText.line(String(character)).map { Cell($0, .plain) }
            self.init(
                text: shown.map(\.text).joined(), columns: shown.reduce(0) { $0 + $1.columns }, ink: .plain)
        }
    }

    private init(text: String, columns: Int, ink: Ink) {
        self.text = text
        self.columns = columns
        self.ink = ink
    }

    /// The widths of its characters, between which a terminal may wrap it.
    var widths: [Int] { columns <= 2 ? [columns] : text.map { ColumnWidth.columns(of: $0) } }

    /// Every terminal gives this the same width.
    var isASCII: Bool { text.utf8.count == columns && text.utf8.allSatisfy { $0 < 0x80 } }
}

/// One row of the screen, from its left.
typealias Row = [Cell]

extension Row {
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// At most so many columns; what is left out is marked by `…`.
    func cut(to width: Int) -> Row {
        guard columns > width else { return self }
        guard width > 0 else { return [] }
        return fitting(width - 1) + [Cell("…", .plain)]
    }

    /// Like `cut`, with the middle left out: of a file name both ends say something.
    func cutInMiddle(to width: Int) -> Row {
        guard columns > width else { return self }
        guard width > 2 else { return cut(to: width) }
        let tail = Row(reversed()).fitting((width - 1) / 2)
        return fitting(width - 1 - tail.columns) + [Cell("…", .plain)] + tail.reversed()
    }

    /// The cells from the left that fit.
    func fitting(_ width: Int) -> Row {
        var used = 0
        return Row(
            prefix { cell in
                used += cell.columns
                return used <= width
            })
    }

    /// Blanks behind it up to so many columns.
    func padded(to width: Int) -> Row {
        self + Row(repeating: Cell(" ", .plain), count: Swift.max(0, width - columns))
    }
}
