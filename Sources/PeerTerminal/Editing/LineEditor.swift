internal import PeerModel

/// What a key led to, beside the text that is shown.
package enum LineEvent: Equatable, Sendable {
    /// The text or the cursor may have changed; nothing else is to be done.
    case edited
    case submitted(String)
    /// The text holds pasted lines, so many in all: ask whether it is one message; the next Enter submits it, whatever
    /// was edited before.
    case confirm(lines: Int)
    /// Several ways to go on; Tab was pressed.
    case candidates([String])
    /// More than so many bytes of UTF-8: nothing of it was inserted.
    case tooLong(limit: Int)
    /// Ctrl-C on an empty line.
    case interrupt
    /// Ctrl-D on an empty line.
    case endOfInput
    /// Ctrl-Z.
    case suspend
    /// Ctrl-L: draw all anew.
    case redraw
    /// The key means nothing here.
    case bell
}

/// Edits one input with the keys of Emacs, by grapheme cluster; pure: keys in, events out, `view` for the screen.
package struct LineEditor: Sendable {
    /// How many lines are kept for the arrow keys.
    package static let historyLines = 1000
    /// Sixteen of the longest; older ones go first.
    package static let historyBytes = 256 << 10

    var buffer = EditBuffer()
    var history = InputHistory()
    var search: HistorySearch?
    private let limit: Int
    private var kills = KillRing()
    private var lastAction = Action.other
    /// The text holds pasted lines that nobody has confirmed.
    private var hasPastedLines = false
    /// It was asked whether they are one message.
    private var isConfirming = false

    private enum Action: Equatable {
        case other, kill
        /// The clusters that came by it, for Alt-Y.
        case yank(Range<Int>)
    }

    /// An empty line; `limit` is the size of the text in UTF-8.
    package init(limit: Int = Limits.text) { self.limit = limit }

    package var text: String { buffer.text }
    package var isEmpty: Bool { buffer.isEmpty }
    /// How many lines the next Enter submits, where that was asked.
    package var confirmedLines: Int? {
        isConfirming && search == nil && lineCount > 1 ? lineCount : nil
    }
    private var lineCount: Int { buffer.characters.count { $0 == "\n" } + 1 }

    /// Adds a line for the arrow keys, as if it had been submitted.
    package mutating func remember(_ line: String) { history.add(line) }

    /// Takes one key; `completer` is asked when it is Tab.
    package mutating func handle(_ key: Key, completer: Completer = { _ in [] }) -> LineEvent {
        if search != nil, let event = handleInSearch(key) { return event }
        let before = lastAction
        lastAction = .other
        switch key {
        case .text(let text): return insert(EditBuffer.clean(text))
        case .paste(let text): return paste(text)
        case .pasteTooLong: return .tooLong(limit: limit)
        case .enter: return submit()
        case .newline: return insert("\n")
        case .tab: return complete(completer)
        case .control(let character): return handleControl(character, after: before)
        case .alt(let character): return handleAlt(character, after: before)
        case .backspaceWord: return kill(buffer.wordStart..<buffer.cursor, .backward, after: before)
        case .deleteWord: return kill(buffer.cursor..<buffer.wordEnd, .forward, after: before)
        case .up, .down: return move(isUp: key == .up)
        case .backspace, .delete, .left, .right, .wordLeft, .wordRight, .home, .end: return edit(key)
        case .backTab, .escape, .pageUp, .pageDown: return .bell
        }
    }

    private mutating func handleControl(_ character: Character, after before: Action) -> LineEvent {
        switch character {
        case "a": return edit(.home)
        case "e": return edit(.end)
        case "b": return edit(.left)
        case "f": return edit(.right)
        case "d": return isEmpty ? .endOfInput : edit(.delete)
        case "h": return edit(.backspace)
        case "p", "n": return move(isUp: character == "p")
        case "k": return killLine(after: before)
        case "u": return kill(buffer.lineStart..<buffer.cursor, .backward, after: before)
        case "w": return kill(buffer.unbrokenStart..<buffer.cursor, .backward, after: before)
        case "y": return yank()
        case "t": return transpose()
        case "l": return .redraw
        case "r": return beginSearch()
        case "c": return interrupt()
        case "z": return .suspend
        default: return .bell
        }
    }

    private mutating func handleAlt(_ character: Character, after before: Action) -> LineEvent {
        switch character {
        case "b", "B": return edit(.wordLeft)
        case "f", "F": return edit(.wordRight)
        case "d", "D": return kill(buffer.cursor..<buffer.wordEnd, .forward, after: before)
        case "y", "Y": return yankOlder(after: before)
        default: return .bell
        }
    }

    // MARK: Text

    /// Inserts text in place of clusters unless the whole would be too long.
    mutating func replace(_ range: Range<Int>, with text: String) -> LineEvent {
        let removed = buffer.characters[range].reduce(0) { $0 + $1.utf8.count }
        guard buffer.byteCount - removed + text.utf8.count <= limit else { return .tooLong(limit: limit) }
        buffer.replace(range, with: text)
        return .edited
    }

    private mutating func insert(_ text: String) -> LineEvent { replace(buffer.cursor..<buffer.cursor, with: text) }

    private mutating func paste(_ text: String) -> LineEvent {
        var text = EditBuffer.clean(text)
        while text.last == "\n" { text.removeLast() }  // a line copied with its end is still one line
        let event = insert(text)
        if event == .edited, text.contains("\n") { (hasPastedLines, isConfirming) = (true, false) }
        return event
    }

    private mutating func submit() -> LineEvent {
        let text = buffer.text
        if hasPastedLines, !isConfirming, text.contains("\n") {
            isConfirming = true
            return .confirm(lines: lineCount)
        }
        clear()
        history.add(text)
        return .submitted(text)
    }

    private mutating func interrupt() -> LineEvent {
        guard !isEmpty else { return .interrupt }
        clear()
        return .edited
    }

    /// Empties the line; the history goes on from the newest.
    package mutating func clear() {
        buffer = EditBuffer()
        history.leave()
        (hasPastedLines, isConfirming) = (false, false)
    }

    // MARK: Moving and deleting

    private mutating func edit(_ key: Key) -> LineEvent {
        let cursor = buffer.cursor
        switch key {
        case .left: buffer.move(to: cursor - 1)
        case .right: buffer.move(to: cursor + 1)
        case .wordLeft: buffer.move(to: buffer.wordStart)
        case .wordRight: buffer.move(to: buffer.wordEnd)
        case .home: buffer.move(to: buffer.lineStart)
        case .end: buffer.move(to: buffer.lineEnd)
        case .backspace where cursor > 0: buffer.remove(cursor - 1..<cursor)
        case .delete where cursor < buffer.characters.count: buffer.remove(cursor..<cursor + 1)
        default: return .bell
        }
        return .edited
    }

    /// Through the lines of the text, and beyond its first and last one through the history.
    private mutating func move(isUp: Bool) -> LineEvent {
        if let place = isUp ? buffer.above : buffer.below {
            buffer.move(to: place)
            return .edited
        }
        guard let line = isUp ? history.older(showing: buffer.text) : history.newer() else { return .bell }
        buffer = EditBuffer(line)
        return .edited
    }

    private mutating func transpose() -> LineEvent {
        // At the end the last two change places, elsewhere the two around the cursor.
        let right = buffer.cursor == buffer.lineEnd ? buffer.cursor - 1 : buffer.cursor
        guard right > buffer.lineStart else { return .bell }
        let pair = String(buffer.characters[right]) + String(buffer.characters[right - 1])
        buffer.replace(right - 1..<right + 1, with: pair)
        return .edited
    }

    // MARK: Cutting

    private mutating func kill(
        _ range: Range<Int>, _ direction: KillRing.Direction, after before: Action
    ) -> LineEvent {
        kills.add(buffer.remove(range), direction, continues: before == .kill)
        lastAction = .kill
        return .edited
    }

    private mutating func killLine(after before: Action) -> LineEvent {
        let end = buffer.lineEnd
        // At the end of a line its end goes, as in Emacs.
        let isAtEnd = end == buffer.cursor && end < buffer.characters.count
        return kill(buffer.cursor..<(isAtEnd ? end + 1 : end), .forward, after: before)
    }

    private mutating func yank() -> LineEvent {
        guard let text = kills.current else { return .bell }
        let start = buffer.cursor
        let event = insert(text)
        if event == .edited { lastAction = .yank(min(start, buffer.cursor)..<buffer.cursor) }
        return event
    }

    private mutating func yankOlder(after before: Action) -> LineEvent {
        guard case .yank(let range) = before else { return .bell }
        kills.rotate()
        let event = replace(range, with: kills.current ?? "")
        if event == .edited { lastAction = .yank(min(range.lowerBound, buffer.cursor)..<buffer.cursor) }
        return event
    }
}
