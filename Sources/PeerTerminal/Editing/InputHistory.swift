/// The lines entered before, for the arrow keys and the search.
struct InputHistory: Sendable {
    private(set) var lines: [String] = []
    private var byteCount = 0
    /// Which line is shown; `nil` for the one being written.
    private var position: Int?
    private var draft = ""

    mutating func add(_ line: String) {
        position = nil
        guard !line.isEmpty, line != lines.last else { return }
        lines.append(line)
        byteCount += line.utf8.count
        while lines.count > LineEditor.historyLines || byteCount > LineEditor.historyBytes, lines.count > 1 {
            byteCount -= lines.removeFirst().utf8.count
        }
    }

    /// The line before the one that is shown; keeps what was being written for the way back.
    mutating func older(showing text: String) -> String? {
        let next = (position ?? lines.count) - 1
        guard next >= 0 else { return nil }
        if position == nil { draft = text }
        position = next
        return lines[next]
    }

    mutating func newer() -> String? {
        guard let current = position else { return nil }
        position = current + 1 < lines.count ? current + 1 : nil
        return position.map { lines[$0] } ?? draft
    }

    /// Back to the line being written.
    mutating func leave() { position = nil }

    /// The newest line before `end` that holds the text.
    func match(_ query: String, before end: Int) -> Int? {
        lines[..<max(0, min(end, lines.count))].lastIndex { $0.contains(query) }
    }

    /// The oldest line behind `start` that holds the text.
    func match(_ query: String, after start: Int) -> Int? {
        lines.dropFirst(start + 1).firstIndex { $0.contains(query) }
    }
}
