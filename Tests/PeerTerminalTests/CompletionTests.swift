import Testing

@testable import PeerTerminal

@Suite struct CompletionTests {
    private static let names = [
        "/peers", "/send", "my file.txt", "my other.txt", "don't.txt", "a\"b.txt", "x*y.txt", "Bob", "日本.txt",
    ]

    /// The names that begin with the word.
    private static func completer(_ query: CompletionQuery) -> [CompletionCandidate] {
        names.filter { $0.lowercased().hasPrefix(query.word.lowercased()) }.map { CompletionCandidate($0) }
            + (query.word.isEmpty || "dir/".hasPrefix(query.word) ? [CompletionCandidate("dir/", isWhole: false)] : [])
    }

    private static func editor(_ text: String) -> LineEditor {
        var editor = LineEditor()
        editor.handle([.text(text)])
        return editor
    }

    @Test(
        "What Tab adds is quoted as it was begun, and means the same words to a shell",
        arguments: [
            ("/se", "/send "), ("/send di", "/send dir/"), ("/send don", #"/send don\'t.txt "#),
            ("/send 'don", #"/send 'don'\''t.txt' "#),
            (#"/send "don"#, #"/send "don't.txt" "#), ("/send a", #"/send a\"b.txt "#),
            (#"/send "a"#, #"/send "a\"b.txt" "#),
            ("/send 'a", #"/send 'a"b.txt' "#), ("/send x", #"/send x\*y.txt "#), ("/send m", #"/send my\ "#),
            (#"/send my\ f"#, #"/send my\ file.txt "#), ("/send 'my o", "/send 'my other.txt' "),
            ("/send 日", "/send 日本.txt "),
            ("/send one 'two three' bo", "/send one 'two three' Bob "), ("/send b", "/send Bob "),
            ("it's bo", "it's Bob "), ("my f", "my f"), ("//pe", "//pe"),
        ])
    func quoting(text: String, completed: String) {
        var editor = Self.editor(text)
        _ = editor.handle(.tab, completer: Self.completer)
        #expect(editor.text == completed)
    }

    @Test("Several ways to go on are listed when there is nothing more they share")
    func list() {
        var editor = Self.editor("/send m")
        #expect(editor.handle(.tab, completer: Self.completer) == .edited)
        #expect(editor.handle(.tab, completer: Self.completer) == .candidates(["my file.txt", "my other.txt"]))
        #expect(editor.text == #"/send my\ "#)
        #expect(editor.handle(.tab) == .bell)
    }

    @Test("Letters that were typed are never taken away by candidates of another case")
    func otherCase() {
        var editor = Self.editor("/invite bo")
        let completer: Completer = { _ in [CompletionCandidate("Bob"), CompletionCandidate("bobby")] }
        #expect(editor.handle(.tab, completer: completer) == .candidates(["Bob", "bobby"]))
        #expect(editor.text == "/invite bo")
    }

    @Test("The question names the words before, without quotes, and what stands behind the cursor stays")
    func query() {
        var editor = Self.editor(#"/send @"Ada L" '~/x y/z' end"#)
        editor.handle(Array(repeating: .left, count: 5))
        var asked: CompletionQuery?
        _ = editor.handle(.tab) { query in
            asked = query
            return []
        }
        #expect(asked?.earlier == ["/send", "@Ada L"] && asked?.word == "~/x y/z")
        #expect(asked?.line == #"/send @"Ada L" '~/x y/z' end"#)
        _ = editor.handle(.tab) { [CompletionCandidate($0.word + "oo")] }
        #expect(editor.text == #"/send @"Ada L" '~/x y/zoo' end"#)
    }

    @Test("A completion that would be too long is refused")
    func tooLong() {
        var editor = LineEditor(limit: 8)
        editor.handle([.text("/send x")])
        #expect(editor.handle(.tab) { _ in [CompletionCandidate("xylophone")] } == .tooLong(limit: 8))
        #expect(editor.text == "/send x")
    }
}
