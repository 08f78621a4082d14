@testable import PeerTerminal

/// The least that an editor can be: the text before the cursor and the text behind it.
struct SimpleEditor {
    var before: [Character] = []
    var after: [Character] = []
    var killed = ""
    var wasKill = false
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var shown: String { String(before) + "|" + String(after) }

    mutating func handle(_ key: Key) {
        let isKill = wasKill
        wasKill = false
        switch key {
        case .text(let text), .paste(let text):
            var text = text.replacing("\r\n", with: "\n").filter { $0 != "\u{1B}" }
            if case .paste = key { while text.hasSuffix("\n") { text.removeLast() } }
            insert(text)
        case .newline: insert("\n")
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
