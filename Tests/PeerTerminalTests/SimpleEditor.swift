@testable import PeerTerminal

/// The least that an editor can be: the text before the cursor and the text behind it.
struct SimpleEditor {
    var before: [Character] = []
    var after: [Character] = []
    var killed = ""
    var wasKill = false
    let limit: Int
    /// The lines entered before, oldest first, and the one of them that is shown.
    var lines: [String] = []
    var shownLine: Int?
    private var draft = ""
    private var search: Search?

    /// A search through the lines: what is looked for, where it was found last, and what was there before.
    private struct Search {
        var query = ""
        var found: Int?
        let before: [Character]
        let after: [Character]
    }

    init(limit: Int) { self.limit = limit }

    var shown: String { String(before) + "|" + String(after) }

    /// `true` when the search took the key; it ends with any other.
    private mutating func handleInSearch(_ key: Key) -> Bool {
        guard var current = search else { return false }
        var newest = lines.count - 1
        switch key {
        case .text(let text):
            current.query += Self.clean(text)
            newest = current.found ?? newest
        case .backspace:
            guard !current.query.isEmpty else { return true }
            current.query.removeLast()
        case .control("r"): newest = (current.found ?? lines.count) - 1
        case .control("g"):
            (before, after, search) = (current.before, current.after, nil)
            return true
        default:
            search = nil
            return key == .escape
        }
        if current.query.isEmpty {
            (current.found, before, after) = (nil, current.before, current.after)
        } else if let found = stride(from: newest, through: 0, by: -1).first(where: {
            lines[$0].contains(current.query)
        }) {
            current.found = found
            show(lines[found])
        }
        search = current
        return true
    }

    private mutating func show(_ line: String) { (before, after) = (Array(line), []) }

    /// Empties it, and keeps what was there.
    mutating func submit() {
        let text = String(before + after)
        if !text.isEmpty, text != lines.last { lines.append(text) }
        (before, after, search, shownLine) = ([], [], nil, nil)
    }

    private mutating func moveUp() {
        if let end = before.lastIndex(of: "\n") {
            let column = before.count - end - 1
            let start = before[..<end].lastIndex(of: "\n").map { $0 + 1 } ?? 0
            after = before[min(start + column, end)...] + after
            before.removeSubrange(min(start + column, end)...)
        } else if let shown = shownLine ?? (lines.isEmpty ? nil : lines.count), shown > 0 {
            if shownLine == nil { draft = String(before + after) }
            shownLine = shown - 1
            show(lines[shown - 1])
        }
    }

    private mutating func moveDown() {
        if let end = after.firstIndex(of: "\n") {
            let column = before.count - (before.lastIndex(of: "\n").map { $0 + 1 } ?? 0)
            let below = after[(end + 1)...].prefix { $0 != "\n" }
            let count = end + 1 + min(column, below.count)
            before += after.prefix(count)
            after.removeFirst(count)
        } else if let shown = shownLine {
            shownLine = shown + 1 < lines.count ? shown + 1 : nil
            show(shownLine.map { lines[$0] } ?? draft)
        }
    }

    private static func clean(_ text: String) -> String {
        text.replacing("\r\n", with: "\n").filter { $0 != "\u{1B}" }
    }

    mutating func handle(_ key: Key) {
        if handleInSearch(key) { return }
        let isKill = wasKill
        wasKill = false
        switch key {
        case .text(let text), .paste(let text):
            var text = Self.clean(text)
            if case .paste = key { while text.hasSuffix("\n") { text.removeLast() } }
            insert(text)
        case .newline: insert("\n")
        case .tab: insert("oo")  // what the test completes every word with
        case .up: moveUp()
        case .down: moveDown()
        case .control("r"): search = Search(before: before, after: after)
        case .control("y"): insert(killed)
        case .left: if let last = before.popLast() { after.insert(last, at: 0) }
        case .right: if !after.isEmpty { before.append(after.removeFirst()) }
        case .home: moveLeft { $0 != "\n" }
        case .end: moveRight { $0 != "\n" }
        case .wordLeft:
            moveLeft { !Self.isInWord($0) }
            moveLeft(while: Self.isInWord)
        case .wordRight:
            moveRight { !Self.isInWord($0) }
            moveRight(while: Self.isInWord)
        case .backspace: if before.popLast() != nil { settle() }
        case .delete:
            if !after.isEmpty {
                after.removeFirst()
                settle()
            }
        case .backspaceWord:
            kill(isForward: false, isKill) {
                $0.moveLeft { !Self.isInWord($0) }
                $0.moveLeft(while: Self.isInWord)
            }
        case .deleteWord:
            kill(isForward: true, isKill) {
                $0.moveRight { !Self.isInWord($0) }
                $0.moveRight(while: Self.isInWord)
            }
        case .control("u"): kill(isForward: false, isKill) { $0.moveLeft { $0 != "\n" } }
        case .control("w"):
            kill(isForward: false, isKill) {
                $0.moveLeft { $0.isWhitespace }
                $0.moveLeft { !$0.isWhitespace }
            }
        case .control("k"):
            kill(isForward: true, isKill) { editor in
                if editor.after.first == "\n" { editor.handle(.right) } else { editor.moveRight { $0 != "\n" } }
            }
        case .control("t"): transpose()
        default: break
        }
    }

    private static func isInWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    private mutating func moveLeft(while condition: (Character) -> Bool) {
        while let last = before.last, condition(last) { after.insert(before.removeLast(), at: 0) }
    }

    private mutating func moveRight(while condition: (Character) -> Bool) {
        while let first = after.first, condition(first) { before.append(after.removeFirst()) }
    }

    private mutating func insert(_ text: String) {
        guard (String(before) + text + String(after)).utf8.count <= limit else { return }
        before += Array(text)
        settle()
    }

    private mutating func kill(isForward: Bool, _ wasKill: Bool, _ move: (inout SimpleEditor) -> Void) {
        var moved = self
        move(&moved)
        let count = isForward ? after.count - moved.after.count : before.count - moved.before.count
        let cut = isForward ? String(after.prefix(count)) : String(before.suffix(count))
        if isForward { after.removeFirst(count) } else { before.removeLast(count) }
        settle()
        self.wasKill = true
        guard !cut.isEmpty else { return }
        killed = wasKill && !killed.isEmpty ? (isForward ? killed + cut : cut + killed) : cut
    }

    private mutating func transpose() {
        if after.isEmpty || after.first == "\n" {
            guard let last = before.last, last != "\n" else { return }
            after.insert(before.removeLast(), at: 0)
            guard let previous = before.last, previous != "\n" else { return before.append(after.removeFirst()) }
        }
        guard let left = before.last, left != "\n", let right = after.first else { return }
        before.removeLast()
        after.removeFirst()
        before += [right, left]
        settle()
    }

    /// Clusters anew; the cursor goes behind one that it would stand in.
    private mutating func settle() {
        let size = String(before).utf8.count
        let all = Array(String(before) + String(after))
        (before, after) = ([], [])
        for character in all {
            if String(before).utf8.count < size { before.append(character) } else { after.append(character) }
        }
    }
}
