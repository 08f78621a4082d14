/// How far one transfer has come, as one row: name, marks, bar, percent, rate, time left.
///
/// Where the width does not do for all, the bar goes first, then the time left, the marks, the rate, and the end of the
/// row.
package struct ProgressLine: Equatable, Sendable {
    /// What stands first and is never cut, such as `#3`.
    package var label: String
    package var name: String
    package var done: UInt64
    /// `nil` when nobody knows how much will come.
    package var total: UInt64?
    /// Bytes a second, `nil` before it is known.
    package var rate: Double?
    /// How far each recipient is, in a few words: `ada 40 %, bob has it`.
    package var marks: String
    /// What is the matter, in place of rate and time left: `paused: disk full`.
    package var note: String?

    package init(
        label: String, name: String, done: UInt64, total: UInt64?, rate: Double? = nil, marks: String = "",
        note: String? = nil
    ) {
        self.label = label
        self.name = name
        self.done = done
        self.total = total
        self.rate = rate
        self.marks = marks
        self.note = note
    }

    private static let nameAtLeast = 8
    private static let bar = 10...30

    /// The row without colours, for where there is no screen.
    package func text(width: Int) -> String { row(width: max(0, width)).map(\.text).joined() }

    func row(width: Int) -> Row {
        let label = label.isEmpty ? Row() : StyledText(label + " ", .quiet).cells
        let name = StyledText(self.name).cells
        let wanted = min(name.columns, Self.nameAtLeast)
        // What stands behind the name, most important first; each with the blank before it.
        var room = width - label.columns - wanted
        func grant(_ field: StyledText?) -> Row? {
            guard let field, !field.isEmpty else { return [] }
            let cells = StyledText("  ").cells + field.cells
            guard cells.columns <= room else { return nil }
            room -= cells.columns
            return cells
        }
        let amount = grant(amount)
        let speed = amount == nil ? nil : grant(note.map { StyledText($0, .warning) } ?? speed)
        let marks = speed == nil ? nil : grant(StyledText(marks, .quiet))
        let timeLeft = speed == nil || note != nil ? nil : grant(timeLeft)
        // A third of the row at most, so that long names leave room for the bar.
        let nameRoom = max(wanted, min(name.columns, width / 3, wanted + room))
        room -= nameRoom - wanted
        var line = label + name.cutInMiddle(to: nameRoom) + (marks ?? [])
        if let fraction, room >= Self.bar.lowerBound + 4 {
            line += StyledText("  " + Self.bar(fraction, columns: min(room - 2, Self.bar.upperBound))).cells
        }
        return (line + [amount, speed, timeLeft].compactMap { $0 }.joined()).cut(to: width)
    }

    /// Between 0 and 1, whatever the numbers say.
    private var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : Double(min(done, total)) / Double(total)
    }

    private var amount: StyledText? {
        guard let total, let fraction else { return StyledText(Self.bytes(Double(done))) }
        // Rounded down: 100 % is said of what is whole.
        let percent = done >= total ? 100 : min(99, Int(fraction * 100))
        return StyledText((percent < 10 ? " " : "") + "\(percent) %")
    }

    private var speed: StyledText? {
        guard let rate, rate.isFinite, rate >= 0 else { return nil }
        return StyledText(Self.bytes(rate) + "/s", .quiet)
    }

    private var timeLeft: StyledText? {
        guard let total, total > done, let rate, rate.isFinite, rate >= 1 else { return nil }
        let seconds = Double(total - done) / rate
        guard seconds < 360_000 else { return nil }  // 100 hours: nobody waits for it, and it does not fit
        let whole = Int(seconds.rounded(.up))
        let parts = whole < 3600 ? [whole / 60, whole % 60] : [whole / 3600, whole / 60 % 60, whole % 60]
        let text = parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
        return StyledText(text + " left", .quiet)
    }

    /// In ASCII: block characters are ambiguous in width, and fonts lack them.
    private static func bar(_ fraction: Double, columns: Int) -> String {
        let inner = columns - 2
        let full = min(inner, Int(fraction * Double(inner)))
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: inner - full) + "]"
    }

    /// `999 B`, `4.2 MB`: powers of 1,000, as file managers and disks count.
    private static func bytes(_ count: Double) -> String {
        var value = min(count, 1e18), unit = 0
        while value >= 999.5, unit < 5 { (value, unit) = (value / 1000, unit + 1) }
        let tenths = Int((value * 10).rounded())
        let number = unit == 0 || tenths >= 100 ? "\(Int(value.rounded()))" : "\(tenths / 10).\(tenths % 10)"
        return number + " " + ["B", "kB", "MB", "GB", "TB", "PB"][unit]
    }
}
