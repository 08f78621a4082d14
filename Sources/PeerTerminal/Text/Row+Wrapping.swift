internal import PeerModel

/// Finished lines are wrapped here and not by the terminal: between words, and with what follows indented, so that no
/// part of a long text can stand at the start of a row and pass for a line of the program or of another person.
extension Row {
    /// In rows of at most so many columns; a line that fits stays as it is.
    ///
    /// A word that is longer than a row is cut between clusters. What is indented or behind a bar goes on below its own
    /// start, everything else two columns in.
    func wrapped(to width: Int) -> [Row] { wrapped(to: width, leavesLongWords: false) }

    /// Like `wrapped(to:)`, but for a finished line: a long link or hash in ASCII is one row that the terminal wraps
    /// itself, so that it is selected, opened and copied as one.
    ///
    /// The parts of such a word stand at the start of rows. They cannot pass for a line of a person: behind a name comes
    /// a colon, and a word of which a part would begin that way is cut instead. Nor for a sentence of the program: all of
    /// these have blanks, no part of a word has one, and what follows such a word stands in the next row behind a bar,
    /// which in all lines means that a text goes on.
    func printed(to width: Int) -> [Row] { wrapped(to: width, leavesLongWords: true) }

    private func wrapped(to width: Int, leavesLongWords: Bool) -> [Row] {
        guard columns > width, width > 0 else { return [self] }
        var wrapper = Wrapper(width: width, indent: hang(in: width), leavesLongWords: leavesLongWords)
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
    /// Where there is less room a bar and a word are not worth it.
    private static let leavesAtLeast = 16
    private static let bar: Row = "  | ".map { Cell($0, .plain) }

    private let width: Int
    private let indent: Row
    private let leavesLongWords: Bool
    private(set) var rows: [Row] = [[]]
    /// The last row has an indent at most.
    private var isFresh = true
    /// The last row is a word that the terminal wraps.
    private var isLeft = false

    init(width: Int, indent: Int, leavesLongWords: Bool) {
        self.width = width
        self.indent = Row(repeating: Cell(" ", .plain), count: indent)
        self.leavesLongWords = leavesLongWords && width >= Self.leavesAtLeast
    }

    /// Blanks at the end of a row are dropped.
    mutating func add(_ word: Row, behind blanks: Row) {
        guard !word.isEmpty else { return }
        if isLeft {
            breakRow(Self.bar)
        } else if isFresh, blanks.columns < width {
            rows[rows.count - 1] += blanks
        }
        let gap = isFresh ? 0 : blanks.columns
        let start = isFresh ? rows[rows.count - 1].columns : indent.count
        let fitsNext = word.columns <= width - start
        if leavesLongWords, !fitsNext, leave(word, from: start) { return }
        // A word that is too long for any row begins in this one, if that much fits.
        let needed = gap + (fitsNext ? word.columns : word[0].columns)
        if !isFresh, rows[rows.count - 1].columns + needed > width {
            breakRow(indent)
        } else if !isFresh {
            rows[rows.count - 1] += blanks
        }
        for cell in word {
            if rows[rows.count - 1].columns + cell.columns > width, !rows[rows.count - 1].isEmpty { breakRow(indent) }
            rows[rows.count - 1].append(cell)
        }
        isFresh = false
    }

    /// Leaves a word to the terminal, in a row of its own, if no part of it may be taken for something else.
    private mutating func leave(_ word: Row, from start: Int) -> Bool {
        guard word.allSatisfy(\.isASCII), Self.isWorthLeaving(word) else { return false }
        for part in stride(from: width - start, to: word.count, by: width) where Self.beginsLikeName(word[part...]) {
            return false
        }
        if !isFresh { breakRow(indent) }
        rows[rows.count - 1] += word
        (isFresh, isLeft) = (false, true)
        return true
    }

    /// A link, or letters and digits as of a hash: in base 16, 32 or 64 (RFC 4648).
    ///
    /// What else is made of words, with `_` or a dot between them, could end in a row that reads as a sentence.
    private static func isWorthLeaving(_ word: Row) -> Bool {
        let text: String = word.map(\.text).joined()
        let inner = text.drop { "(<[{\"'".contains($0) }
        if inner.hasPrefix("www.") || inner.drop(while: { $0.isLetter }).hasPrefix("://") { return true }
        let end = inner.reversed().prefix { ".,;!?)>]}\"'".contains($0) }.count
        return inner.dropLast(end).allSatisfy { $0.isLetter || $0.isNumber || "+/=".contains($0) }
    }

    /// Whether a colon comes so early that a name could stand before it: of 63 bytes at most, whatever it is made of.
    private static func beginsLikeName(_ part: ArraySlice<Cell>) -> Bool {
        part.prefix(DisplayName.maximumBytes + 1).contains { $0.text == ":" }
    }

    private mutating func breakRow(_ start: Row) {
        rows.append(start)
        (isFresh, isLeft) = (true, false)
    }
}
