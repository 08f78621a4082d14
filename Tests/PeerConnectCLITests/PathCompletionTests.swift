import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Tab in paths, and what the parser makes of what it adds.
struct PathCompletionTests {
    private static let home = "/home/me"

    /// Begins with so many bytes as the pattern; that is all that Tab asks for.
    private static func matches(_ paths: [String]) -> @Sendable (String) -> [String] {
        { pattern in
            var start = "", isEscaped = false
            for character in pattern.dropLast() {
                if !isEscaped, character == "\\" {
                    isEscaped = true
                } else {
                    start.append(character)
                    isEscaped = false
                }
            }
            return paths.filter { $0.hasPrefix(start) }
        }
    }

    private static func parser(_ paths: [String]) -> PromptParser {
        PromptParser(paths: PathExpander(home: home, matches: matches(paths), isFolder: { $0.hasSuffix("~") }))
    }

    private static func completed(_ text: String, _ parser: PromptParser) throws -> String {
        let completer = ChatCompleter(board: LiveBoard(me: try peer("me", 9)), names: NameBook(), paths: parser.paths)
        var editor = LineEditor()
        for character in text { _ = editor.handle(.text(String(character)), completer: completer.candidates) }
        _ = editor.handle(.tab, completer: completer.candidates)
        return editor.text
    }

    @Test(
        "A home folder that quotes make a mere ~ is completed as one, and a bare one stays bare",
        arguments: [
            ("/send '~/s/it", "/send '~/s/it"), ("/send ~/s/it", #"/send ~/s/it\'s\ me "#),
            ("/send ~/'s/it", #"/send ~/'s/it'\''s me' "#), ("/send '~/l", "/send '~/lit' "),
            (#"/send "~"/l"#, #"/send \~/lit "#), (#"/send \~/l"#, #"/send \~/lit "#),
            ("/send ''~/s", #"/send ~/s/it\'s\ me "#),
            (#"/send \@"#, #"/send \@x "#), ("/send ~", "/send ~/"),
        ])
    func home(text: String, expected: String) throws {
        let parser = Self.parser([Self.home + "/s/it's me", "~/lit", "@x", Self.home + "s"])
        #expect(try Self.completed(text, parser) == expected)
    }

    /// The path that a line sends, its last quote closed; `nil` for what is no path yet.
    private static func path(_ line: String, _ parser: PromptParser) -> String? {
        if line == "/send " { return "" }
        for end in ["", "'", "\""] where ShellWord.split(line + end) != nil {
            guard case .command(.send(let paths, let to)) = parser.parse(line + end), to.isEmpty else { return nil }
            return paths.count == 1 ? paths[0] : nil
        }
        return nil
    }

    @Test("Whatever Tab adds, the parser reads back as the path that was begun", arguments: 1...20)
    func agrees(seed: Int) throws {
        var random = Numbers(seed)
        let letters = ["a", "b", "~", "@", "'", "\"", "\\", " ", "*", "?", "[", "]", "$", "#", "é", "/"]
        var changed = 0
        for _ in 0..<200 {
            let names = (0..<3).map { _ in (0..<4).map { _ in random.pick(letters) }.joined() }
            let starts = [Self.home + "/", "", "~", "~/", "@"]
            let parser = Self.parser(names.map { random.pick(starts) + $0 })
            let whole = random.pick(["~/", "~", "@", ""]) + random.pick(names)
            let typed = "/send " + Self.spelled(whole, &random)
            let before = String(typed.prefix(Int.random(in: 6...typed.count, using: &random)))
            // A backslash protects what is typed next, and an @ names a peer.
            guard !before.hasSuffix("\\"), let begun = Self.path(before, parser) else { continue }
            let after = try Self.completed(before, parser)
            guard after != before else { continue }
            changed += 1
            let path = try #require(Self.path(after, parser), "\(before) became \(after)")
            #expect(path.hasPrefix(begun), "\(before) became \(after)")
            #expect(
                parser.paths.matches("*").contains { ($0 + "/").hasPrefix(path) } || path == Self.home + "/",
                "\(before) became \(after)")
        }
        #expect(changed > 20)
    }

    /// In one of the ways a path can be typed; the `~` of a home folder is bare in some.
    private static func spelled(_ path: String, _ random: inout Numbers) -> String {
        let isBare = path.hasPrefix("~/") && random.pick([true, false])
        let rest = isBare ? String(path.dropFirst(2)) : path
        let escaped = { (special: String) in
            rest.map { special.contains($0) ? "\\\($0)" : String($0) }.joined()
        }
        let text =
            switch random.pick([0, 1, 2]) {
            case 0: escaped(" '\"\\*?[]~@")
            case 1: "'" + rest.replacing("'", with: "'\\''")
            default: "\"" + escaped("\"\\")
            }
        return (isBare ? "~/" : "") + text
    }

    /// SplitMix64: the same numbers in every run.
    struct Numbers: RandomNumberGenerator {
        private var state: UInt64
        init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }

        mutating func pick<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: elements.indices, using: &self)]
        }
    }
}
