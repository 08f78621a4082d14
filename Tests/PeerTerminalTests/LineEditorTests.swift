import TestSupport
import Testing

@testable import PeerTerminal

extension LineEditor {
    /// Takes keys and gives the last event.
    @discardableResult
    mutating func handle(_ keys: [Key]) -> LineEvent { keys.map { handle($0) }.last ?? .edited }

    /// The text with the cursor as `|`.
    var shown: String {
        let view = view(prompt: "")
        return String(view.characters[..<view.cursor]) + "|" + String(view.characters[view.cursor...])
    }
}

@Suite struct LineEditorTests {
    @Test(
        "The keys of Emacs move and delete",
        arguments: [
            ([.text("héllo")], "héllo|"), ([.text("ab"), .left], "a|b"),
            ([.text("ab"), .control("b"), .text("x")], "ax|b"),
            ([.text("ab"), .control("a"), .control("f")], "a|b"), ([.text("ab"), .home, .end], "ab|"),
            ([.text("ab"), .control("a"), .control("e")], "ab|"), ([.text("ab"), .control("h")], "a|"),
            ([.text("ab"), .home, .control("d")], "|b"), ([.text("ab"), .home, .delete], "|b"),
            ([.text("one two"), .alt("b"), .alt("b")], "|one two"), ([.text("one two"), .home, .alt("f")], "one| two"),
            ([.text("one, two"), .wordLeft, .wordLeft, .wordRight], "one|, two"),
            ([.text("one two"), .home, .alt("d")], "| two"), ([.text("a/b.c d/e.f"), .control("w")], "a/b.c |"),
            ([.text("a/b.c"), .backspaceWord], "a/b.|"), ([.text("one two"), .alt("b"), .control("k")], "one |"),
            ([.text("one two"), .alt("b"), .control("u")], "|two"), ([.text("ab"), .control("t")], "ba|"),
            ([.text("abc"), .left, .control("t")], "acb|"),
            ([.text("a"), .newline, .text("bc"), .control("a")], "a\n|bc"),
            ([.text("ab"), .newline, .text("c"), .up], "a|b\nc"),
            ([.text("ab"), .newline, .text("cd"), .up, .down], "ab\ncd|"),
            ([.text("a"), .newline, .text("b"), .up, .control("k")], "a|b"),
            ([.text("a\u{1B}b\u{7F}c")], "abc|"),
        ] as [([Key], String)])
    func keys(keys: [Key], shown: String) {
        var editor = LineEditor()
        editor.handle(keys)
        #expect(editor.shown == shown)
    }

    @Test("Cuts in a row are one entry of the ring, and Alt-Y goes to the older ones")
    func ring() {
        var editor = LineEditor()
        editor.handle([.text("one two three"), .control("w"), .control("w"), .left, .right, .control("w")])
        #expect(editor.shown == "|")
        editor.handle([.control("y")])
        #expect(editor.shown == "one |")
        editor.handle([.alt("y")])
        #expect(editor.shown == "two three|")
        editor.handle([.alt("y")])
        #expect(editor.shown == "one |")
        #expect(editor.handle([.left, .alt("y")]) == .bell)
    }

    @Test("A cluster moves, is deleted and joins as one")
    func clusters() {
        var editor = LineEditor()
        editor.handle([.text("a👩‍👩‍👧🇩🇪e\u{301}"), .left, .left])
        #expect(editor.shown == "a👩‍👩‍👧|🇩🇪e\u{301}")
        editor.handle([.backspace])
        #expect(editor.shown == "a|🇩🇪e\u{301}")
        editor.handle([.end, .text("\u{308}")])
        #expect(editor.shown == "a🇩🇪e\u{301}\u{308}|")
        editor.handle([.backspace, .backspace])
        #expect(editor.shown == "a|")
        // Its pieces may come one by one.
        for scalar in "👩‍👩‍👧".unicodeScalars { editor.handle([.text(String(scalar))]) }
        #expect(editor.view(prompt: "").characters.count == 2)
        // What comes to stand side by side joins too.
        editor.clear()
        editor.handle([.text("\u{1F1E9}"), .text("-"), .text("\u{1F1EA}"), .left, .backspace])
        #expect(editor.view(prompt: "").characters == ["🇩🇪"] && editor.view(prompt: "").cursor == 1)
    }

    @Test("Ctrl-C clears the line and on an empty one interrupts, Ctrl-D there ends the input")
    func ends() {
        var editor = LineEditor()
        #expect(editor.handle([.text("abc"), .control("c")]) == .edited && editor.isEmpty)
        #expect(editor.handle(.control("c")) == .interrupt)
        #expect(editor.handle(.control("d")) == .endOfInput)
        #expect(editor.handle([.text("x"), .control("d")]) == .bell && editor.text == "x")
        #expect(editor.handle(.control("z")) == .suspend)
        #expect(editor.handle(.control("l")) == .redraw && editor.text == "x")
        #expect(editor.handle(.enter) == .submitted("x") && editor.isEmpty)
        #expect(editor.handle(.enter) == .submitted(""))
    }

    @Test("The arrows walk through the lines entered, and back to what was being written")
    func history() {
        var editor = LineEditor()
        editor.remember("first")
        editor.handle([.text("second"), .enter, .text("second"), .enter, .text("draft"), .up])
        #expect(editor.shown == "second|")
        editor.handle([.control("p"), .text("!")])
        #expect(editor.shown == "first!|")
        #expect(editor.handle(.up) == .bell)
        editor.handle([.down, .control("n")])
        #expect(editor.shown == "draft|")
        #expect(editor.handle(.down) == .bell)
        // Three lines fill one place each; one of several lines is walked through first.
        editor.handle([.control("c"), .text("a"), .newline, .text("b"), .enter, .up, .up])
        #expect(editor.shown == "a|\nb")
        editor.handle([.up])
        #expect(editor.shown == "second|")
    }

    @Test("Ctrl-R finds older lines as the text grows, and leaves without a trace on Ctrl-G")
    func search() {
        var editor = LineEditor()
        for line in ["/send a.txt", "hello ada", "/send b.txt"] { editor.remember(line) }
        editor.handle([.text("draft"), .control("r"), .text("se"), .text("nd")])
        #expect(editor.text == "/send b.txt")
        #expect(editor.view(prompt: "").prompt.text == "search: send > ")
        #expect(editor.handle(.control("r")) == .edited && editor.text == "/send a.txt")
        #expect(editor.handle(.control("r")) == .bell && editor.text == "/send a.txt")
        #expect(editor.view(prompt: "").prompt.text == "not found: send > ")
        editor.handle([.control("s")])
        #expect(editor.text == "/send b.txt")
        editor.handle([.control("g")])
        #expect(editor.shown == "draft|" && editor.view(prompt: "> ").prompt.text == "> ")
        editor.handle([.control("r"), .text("adx"), .backspace])
        #expect(editor.text == "hello ada")
        #expect(editor.handle([.left, .backspace, .enter]) == .submitted("hello aa"))
        #expect(editor.handle([.control("r"), .text("b.t"), .enter]) == .submitted("/send b.txt"))
        #expect(
            editor.handle([.text("x"), .control("r"), .text("zzz"), .control("c")]) == .edited && editor.text == "x")
    }

    @Test("Pasted lines are one text that is confirmed once")
    func paste() {
        var editor = LineEditor()
        editor.handle([.text("say "), .paste("one line\r\n")])
        #expect(editor.handle(.enter) == .submitted("say one line"))
        let lines = (1...300).map { "line \($0)" }
        editor.handle([.paste(lines.joined(separator: "\r") + "\r")])
        #expect(editor.handle(.enter) == .confirm(lines: 300))
        #expect(editor.handle(.text("!")) == .edited && editor.confirmedLines == 300, "an edit asks nothing again")
        editor.handle([.paste("\nmore\nlines")])
        #expect(editor.confirmedLines == nil && editor.handle(.enter) == .confirm(lines: 302), "new lines do")
        #expect(editor.handle(.enter) == .submitted(lines.joined(separator: "\n") + "!\nmore\nlines"))
        #expect(editor.confirmedLines == nil)
        #expect(
            editor.handle([.text("a"), .newline, .text("b"), .enter]) == .submitted("a\nb"), "typed lines are meant")
        editor.handle([.paste("a\nb"), .control("c"), .text("a"), .newline])
        #expect(editor.handle(.enter) == .submitted("a\n"), "what was cleared needs no confirmation")
    }

    @Test("A text that would be too long is refused with the limit, and nothing of it is inserted")
    func limit() {
        var editor = LineEditor(limit: 10)
        #expect(editor.handle(.text("12345678é")) == .edited)
        #expect(editor.handle(.text("x")) == .tooLong(limit: 10))
        #expect(editor.handle([.home, .paste("abc")]) == .tooLong(limit: 10))
        #expect(editor.shown == "|12345678é")
        #expect(editor.handle([.end, .backspace, .text("ab")]) == .edited)
        #expect(editor.handle(.pasteTooLong) == .tooLong(limit: 10))
        #expect(editor.handle(.newline) == .tooLong(limit: 10) && editor.text == "12345678ab")
    }

    @Test("Random keys lead to a simple editor's text and cursor, on the screen too", arguments: 0..<40)
    func reference(seed: Int) {
        var random = SeededGenerator(seed)
        var editor = LineEditor(limit: 200)
        var reference = SimpleEditor(limit: 200)
        for line in ["send a b.txt", "two\nlines e\u{301}", "漢字 a x1"] {
            editor.remember(line)
            reference.lines.append(line)
        }
        let width = random.pick([80, 40, 21])
        var scene = ScreenTests.Scene(TerminalSize(columns: width, rows: 60))
        let texts = [
            "a", "b ", "é", "e", "\u{301}", "\u{200D}", "👩", "👩‍👩‍👧", "\u{1F1E9}", "\u{1F1EA}", "🇩🇪", "漢字", ".", "\u{FE0F}",
            "x1 y2", "\r\n", "क", "\u{94D}",
        ]
        let others: [Key] = [
            .left, .right, .home, .end, .backspace, .delete, .wordLeft, .wordRight, .backspaceWord, .deleteWord,
            .newline, .up, .down, .tab, .enter, .escape,
            .control("k"), .control("u"), .control("w"), .control("t"), .control("y"), .control("r"), .control("g"),
            .paste("p\nq"), .paste("r\u{301}\u{1B}s\n"),
        ]
        for step in 0..<400 {
            let key: Key = Bool.random(using: &random) ? .text(random.pick(texts)) : random.pick(others)
            let event = editor.handle(key) { [CompletionCandidate($0.word + "oo", isWhole: false)] }
            reference.handle(key)
            if case .submitted = event { reference.submit() }
            let what: Comment = "after \(step): \(key)"
            #expect(editor.shown == reference.shown, what)
            guard editor.shown == reference.shown else { return }
            #expect(editor.buffer.byteCount == editor.text.utf8.count && editor.buffer.byteCount <= 200)

            // Some screens see only some of the steps.
            guard step % (1 + seed % 4) == 0 else { continue }
            var area = ScreenTests.area("", status: "status")
            area.input = editor.view(prompt: "> ")
            scene.draw(area, printing: step % 50 == 0 ? ["a line"] : [])
            scene.check(what)
            let prompt = area.input.prompt.cells.cut(to: width / 2).map(\.text).joined()
            let (before, after) = scene.input(below: 1)
            #expect(before == prompt + Self.entered(reference.before, width), what)
            #expect(after == Self.entered(reference.after, width), what)
        }
    }

    /// What is seen of entered text, without the line ends; a cluster that no row can hold is a replacement character.
    private static func entered(_ characters: [Character], _ width: Int) -> String {
        let cells = characters.filter { $0 != "\n" }.map { Cell(entered: $0) }
        return cells.map { $0.columns > width ? "\u{FFFD}" : $0.text }.joined()
    }
}
