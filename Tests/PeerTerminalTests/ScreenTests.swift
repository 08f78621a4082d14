import PeerModel
import TestSupport
import Testing

@testable import PeerTerminal

@Suite struct ScreenTests {
    /// A screen, the terminal it draws on, and what both must have in common: the finished lines, then the rows of the
    /// frame.
    struct Scene {
        var screen: Screen
        var model: ScreenModel
        var printed: [String] = []
        var frame = Frame(rows: [], cursorRow: 0, cursorColumn: 0)

        init(_ size: TerminalSize, depth: ColorDepth = .indexed, reflows: Bool = true) {
            screen = Screen(size: size, palette: Palette(depth), reflows: reflows)
            model = ScreenModel(size: size, reflows: reflows)
        }

        @discardableResult
        mutating func draw(_ area: LiveArea, printing lines: [StyledText] = []) -> [UInt8] {
            frame = area.frame(for: model.size)
            printed += lines.flatMap { $0.cells.printed(to: model.size.columns) }.map { $0.map(\.text).joined() }
            let bytes = screen.draw(frame, printing: lines)
            model.take(bytes)
            return bytes
        }

        /// The rows of the reference: what was printed, then the frame, each without blanks at its end.
        var expected: [String] {
            var rows = printed + frame.rows.map { row in row.map(\.text).joined() }
            while rows.last == "" { rows.removeLast() }
            return rows
        }

        /// What the terminal shows of the input before and from the cursor on, under so many other rows.
        func input(below rows: Int) -> (before: String, after: String) {
            let start = model.firstRow(behind: printed.count) + rows
            let above = model.lines[start..<model.row].flatMap(\.columns)
            let row = model.lines[model.row].columns, below = model.lines[(model.row + 1)...].flatMap(\.columns)
            return (
                (above + row.prefix(model.column)).joined(), (row.dropFirst(model.column) + below).joined()
            )
        }

        func check(_ what: Comment) {
            #expect(model.faults.isEmpty, what)
            #expect(model.texts == expected, what)
            #expect(frame.rows.count < model.size.rows || model.size.rows == 1, what)
            #expect(model.column == frame.cursorColumn, what)
            #expect(model.row == model.firstRow(behind: printed.count) + frame.cursorRow, what)
        }
    }

    static func area(_ text: String, cursor: Int? = nil, status: String = "") -> LiveArea {
        var area = LiveArea()
        area.status = StyledText(status, .quiet)
        let characters = Array(text)
        area.input = InputView(prompt: "> ", characters: characters, cursor: cursor ?? characters.count)
        return area
    }

    @Test("A letter costs a letter, and the same frame nothing")
    func minimal() {
        var scene = Scene(TerminalSize(columns: 40, rows: 10))
        scene.draw(Self.area("a"))
        #expect(scene.draw(Self.area("ab")) == Array("b".utf8))
        #expect(scene.draw(Self.area("ab")).isEmpty)
        #expect(scene.draw(Self.area("ab", cursor: 1)) == Array("\u{1B}[4G".utf8))
        #expect(scene.draw(Self.area("a")) == Array("\r\u{1B}[K> a".utf8))
        scene.check("at the end")
    }

    @Test("A finished line goes above what is being typed, which stays with its cursor")
    func undisturbed() {
        var scene = Scene(TerminalSize(columns: 40, rows: 10))
        let area = Self.area("half a line", cursor: 4, status: "2 members")
        scene.draw(area)
        for number in 1...20 {
            scene.draw(area, printing: [StyledText("line \(number) " + String(repeating: "x", count: number * 5))])
            scene.check("after \(number)")
        }
        #expect(scene.model.texts.suffix(2) == ["2 members", "> half a line"])
    }

    @Test("Taking the live area away leaves the finished lines and the cursor on a fresh row")
    func clear() {
        var scene = Scene(TerminalSize(columns: 20, rows: 5))
        scene.draw(Self.area(String(repeating: "long ", count: 20), status: "status"), printing: ["one", "two"])
        #expect(scene.screen.rowsBelowCursor == 0)
        scene.model.take(scene.screen.clear())
        #expect(scene.model.texts == ["one", "two"] && scene.model.column == 0 && scene.model.row == 2)
        #expect(scene.screen.rowsBelowCursor == nil)
        scene.draw(Self.area("again"))
        scene.check("afterwards")
    }

    @Test("An input longer than the window is edited in its middle at every width", arguments: [40, 20, 200, 7, 3])
    func longInput(width: Int) {
        var scene = Scene(TerminalSize(columns: width, rows: 10))
        var editor = LineEditor()
        editor.handle([.text((0..<30).map { "wörd\($0) 漢👩‍👩‍👧" }.joined(separator: " "))])
        var random = SeededGenerator(width)
        for step in 0..<200 {
            editor.handle([
                random.pick([
                    .left, .left, .left, .wordLeft, .right, .text("é"), .text("字"), .backspace, .home, .end, .newline,
                ])
            ])
            var area = Self.area("", status: "status")
            area.input = editor.view(prompt: "> ")
            scene.draw(area)
            scene.check("step \(step)")
            // The cursor stands on the cluster that it is said to stand on.
            let view = editor.view(prompt: "")
            guard view.cursor < view.characters.count, view.characters[view.cursor] != "\n", width > 4 else { continue }
            let columns = scene.model.lines[scene.model.row].columns
            #expect(columns[scene.model.column] == String(view.characters[view.cursor]), "step \(step)")
        }
    }

    @Test(
        "A line of 300 characters is edited in its middle at 40 columns, then at 20 and at 200",
        arguments: [true, false])
    func longInputResized(reflows: Bool) {
        var scene = Scene(TerminalSize(columns: 40, rows: 30), reflows: reflows)
        var editor = LineEditor()
        editor.handle([.text(String((0..<300).map { Character(UnicodeScalar(97 + UInt8($0 % 26))) }))])
        func draw(_ what: Comment, printing lines: [StyledText] = []) {
            var area = Self.area("", status: "status")
            area.input = editor.view(prompt: "> ")
            scene.draw(area, printing: lines)
            scene.check(what)
        }
        draw("as it was typed", printing: ["a line before"])
        editor.handle(Array(repeating: .left, count: 150))
        draw("in the middle")
        for key in [Key.text("X"), .backspace, .text("漢"), .delete] {
            editor.handle([key])
            draw("edited")
        }
        for size in [(20, 40), (200, 24), (40, 30)] {
            scene.model.resize(to: TerminalSize(columns: size.0, rows: size.1))
            scene.screen.resize(to: TerminalSize(columns: size.0, rows: size.1))
            draw("\(size.0) columns", printing: size.0 == 200 ? ["one more"] : [])
            editor.handle([.text("z")])
            draw("edited at \(size.0) columns")
        }
    }

    @Test("Whatever frames and lines come, the screen shows the finished lines and the last frame", arguments: 0..<30)
    func random(seed: Int) {
        var random = SeededGenerator(seed)
        let size = random.pick([(80, 24), (40, 10), (20, 5), (9, 3), (5, 2), (12, 1)])
        var scene = Scene(TerminalSize(columns: size.0, rows: size.1), depth: random.pick([.none, .theme, .indexed]))
        for step in 0..<80 {
            let area = Self.randomArea(&random)
            let count = random.pick([0, 0, 0, 0, 1, 1, 2, 7])
            scene.draw(area, printing: (0..<count).map { _ in Self.randomText(&random) + "." })
            scene.check("seed \(seed), step \(step)")
            if Int.random(in: 0..<20, using: &random) == 0 { scene.screen.refresh() }
        }
    }

    @Test("Another size leaves nothing of the old frame behind and takes nothing of the lines", arguments: 0..<40)
    func resize(seed: Int) {
        var random = SeededGenerator(1000 + seed)
        let reflows = Bool.random(using: &random)
        var scene = Scene(TerminalSize(columns: 40, rows: 10), reflows: reflows)
        for step in 0..<40 {
            let lines = (0..<random.pick([0, 0, 1, 3])).map { _ in
                StyledText(random.pick(["short", "a line", "漢字 wide"]))
            }
            scene.draw(Self.randomArea(&random), printing: lines)
            scene.check("seed \(seed), step \(step)")
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            // Widths that the finished lines fit, since a terminal that does not wrap anew cuts them; and rows enough
            // that the old frame does not scroll out of reach.
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let size = TerminalSize(
                    columns: random.pick([10, 20, 40, 41, 100, 200]), rows: random.pick([300, 400]))
                scene.model.resize(to: size)
                scene.screen.resize(to: size)
            }
        }
    }

    @Test("A terminal that sees other widths shows the same text", arguments: [1, 6])
    func otherWidths(family: Int) {
        var scene = Scene(TerminalSize(columns: 200, rows: 10))
        scene.model.width = { $0 == "👩‍👩‍👧" ? family : ColumnWidth.columns(of: $0) }
        var random = SeededGenerator(family)
        var editor = LineEditor()
        for step in 0..<300 {
            for _ in 0..<3 {
                editor.handle([random.pick([.text("👩‍👩‍👧"), .text("ab"), .text("cd"), .left, .backspace, .home, .end])])
            }
            if editor.text.count > 30 { editor.clear() }
            var area = Self.area("", status: "👩‍👩‍👧 \(step / 7) members")
            area.input = editor.view(prompt: "> ")
            scene.draw(area, printing: step % 50 == 0 ? ["👩‍👩‍👧 line"] : [])
            #expect(scene.model.texts == scene.expected, "step \(step)")
        }
        #expect(scene.model.faults.isEmpty)
    }

    @Test("Rows that such a terminal finds too wide are cut by it, and no line is lost")
    func otherWidthsInNarrowRows() {
        var scene = Scene(TerminalSize(columns: 20, rows: 8))
        scene.model.width = { $0 == "👩‍👩‍👧" ? 6 : ColumnWidth.columns(of: $0) }
        for step in 0..<40 {
            let families = String(repeating: "👩‍👩‍👧", count: 3 + step % 5)
            scene.draw(Self.area(families + "abc", status: families), printing: step % 3 == 0 ? ["line \(step)"] : [])
            #expect(scene.model.texts.prefix(scene.printed.count) == scene.printed[...], "step \(step)")
            #expect(scene.model.lines.allSatisfy { !$0.isWrapped }, "step \(step)")
            #expect(scene.model.row == scene.printed.count + scene.frame.cursorRow, "step \(step)")
        }
        #expect(scene.model.faults.isEmpty)
    }

    static func randomText(_ random: inout SeededGenerator) -> StyledText {
        let words = [
            "a", "word", "wörter", "漢字", "👩‍👩‍👧", "🇩🇪", "x\u{1B}[2Jy", "\u{301}", "  ", "12:30",
            String(repeating: "long", count: 12),
        ]
        var text = StyledText()
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            text.append(random.pick(words), random.pick([.plain, .plain, .bad, .quiet, .question]))
        }
        return text
    }

    static func randomArea(_ random: inout SeededGenerator) -> LiveArea {
        func texts(_ atMost: Int) -> [StyledText] {
            (0..<Int.random(in: 0...atMost, using: &random)).map { _ in randomText(&random) + "!" }
        }
        var area = LiveArea()
        area.waiting = texts(2)
        area.questions = texts(2)
        area.hints = texts(1)
        if Bool.random(using: &random) { area.status = randomText(&random) }
        area.transfers = (0..<Int.random(in: 0...2, using: &random)).map { number in
            ProgressLine(
                label: "#\(number)", name: "file 漢.bin", done: UInt64.random(in: 0...2000, using: &random),
                total: random.pick([nil, 1000]), rate: random.pick([nil, 0, 250]))
        }
        let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            random.pick(["a", "bc ", "漢", "👩‍👩‍👧", "\n", "\t", "\u{202E}", "a longer piece of text "])
        }
        let characters = Array(text.joined())
        area.input = InputView(
            prompt: "> ", characters: characters, cursor: Int.random(in: 0...characters.count, using: &random))
        return area
    }
}
