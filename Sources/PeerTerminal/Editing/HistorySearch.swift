/// An incremental search backwards through the history, as Ctrl-R begins it.
struct HistorySearch: Equatable, Sendable {
    var query = ""
    /// The line that is shown, by its place in the history.
    var match: Int?
    var hasFailed = false
    /// What was being written, for the way back.
    let saved: EditBuffer
}

extension LineEditor {
    mutating func beginSearch() -> LineEvent {
        search = HistorySearch(saved: buffer)
        return .edited
    }

    /// Takes a key while searching; `nil` when it ended the search and is to be handled as usual.
    mutating func handleInSearch(_ key: Key) -> LineEvent? {
        guard var current = search else { return nil }
        switch key {
        case .text(let text):
            let query = current.query + EditBuffer.clean(text)
            // Further input than any line is long finds nothing.
            guard query.utf8.count <= 256 else { return .bell }
            current.query = query
            return show(&current, history.match(query, before: (current.match ?? history.lines.count - 1) + 1))
        case .backspace, .control("h"):
            guard !current.query.isEmpty else { return .bell }
            current.query.removeLast()
            return show(&current, history.match(current.query, before: history.lines.count))
        case .control("r"):
            return show(&current, history.match(current.query, before: current.match ?? history.lines.count))
        case .control("s"):
            return show(&current, current.match.flatMap { history.match(current.query, after: $0) })
        case .control("g"), .control("c"):
            buffer = current.saved
            search = nil
            return .edited
        case .escape:
            search = nil
            return .edited
        default:
            search = nil
            return nil
        }
    }

    /// Shows the match, or stays where it was.
    private mutating func show(_ current: inout HistorySearch, _ match: Int?) -> LineEvent {
        defer { search = current }
        if current.query.isEmpty {
            (current.match, current.hasFailed) = (nil, false)
            buffer = current.saved
            return .edited
        }
        current.hasFailed = match == nil
        guard let match else { return .bell }
        current.match = match
        buffer = EditBuffer(history.lines[match])
        return .edited
    }
}
