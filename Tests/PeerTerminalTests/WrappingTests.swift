import PeerModel
import TestSupport
import Testing

@testable import PeerTerminal

@Suite struct WrappingTests {
    private func rows(_ text: String, _ width: Int) -> [String] {
        StyledText(text).cells.wrapped(to: width).map { $0.map(\.text).joined() }
    }

    @Test(
        "Lines are wrapped between words, and what follows is indented",
        arguments: [
            ("short", 20, ["short"]),
            ("twenty columns, whole", 21, ["twenty columns, whole"]),
            ("ada: the words go on below", 12, ["ada: the", "  words go", "  on below"]),
            ("ada: blanks   at   ends", 12, ["ada: blanks", "  at   ends"]),
            ("  | a second line of a text", 16, ["  | a second", "    line of a", "    text"]),
            ("a averyveryverylongword b", 12, ["a averyveryv", "  erylongwor", "  d b"]),
            ("bob: 漢字漢字漢字", 8, ["bob: 漢", "  字漢字", "  漢字"]),
            ("narrow it is", 3, ["nar", "row", "it", "is"]),
        ] as [(String, Int, [String])])
    func cases(text: String, width: Int, expected: [String]) {
        #expect(rows(text, width) == expected)
    }

    @Test(
        "A long link or hash is one row for the terminal to wrap, and what follows it stands behind a bar",
        arguments: [
            (
                "ada: see https://example.org/a/long/path, please",
                ["ada: see", "  https://example.org/a/long/path,", "  | please"]
            ),
            ("https://example.org:8080/of/some/length", ["https://example.org:8080/of/some/length"]),
            (
                "  | https://example.org/of/some/length a b",
                ["  |", "    https://example.org/of/some/length", "  | a b"]
            ),
            (
                "a 1111111111111111111 22222222222222222 b",
                ["a", "  1111111111111111111", "  | 22222222222222222", "  | b"]
            ),
            ("ab 111111111111111111 b", ["ab", "  111111111111111111", "  b"]),
            ("  one 1111111111111111111111", ["  one", "  1111111111111111111111"]),
            ("  11111111111111111111111 a", ["  11111111111111111111111", "  | a"]),
            // Whatever a name may be made of.
            ("eve: 11111111111111111root$:yes", ["eve: 111111111111111", "  11root$:yes"]),
            // A part would begin as the line of a person does.
            ("eve: 111111111111111111bob: yes", ["eve: 111111111111111", "  111bob: yes"]),
            ("eve: 11111111111111111bob:yes1111", ["eve: 111111111111111", "  11bob:yes1111"]),
            ("ada: (www.example.org/of_a/length).", ["ada:", "  (www.example.org/of_a/length)."]),
            ("ada: q83vEjRWeJq83v+/EjRWeA==, yes", ["ada:", "  q83vEjRWeJq83v+/EjRWeA==,", "  | yes"]),
            // Words that are joined could read as a sentence of the program.
            (
                "ada: xxxxxxxxxxxxxxxChat_ended_by_the_host.",
                ["ada: xxxxxxxxxxxxxxx", "  Chat_ended_by_the_", "  host."]
            ),
            ("ada: xxxxxxxxxxxxxxxxxxx<U+00AD>", ["ada: xxxxxxxxxxxxxxx", "  xxxx<U+00AD>"]),
            // Other widths than one column are not to be relied on.
            ("ada: 漢字漢字漢字漢字漢字漢字", ["ada: 漢字漢字漢字漢", "  字漢字漢字"]),
        ] as [(String, [String])])
    func longWords(text: String, expected: [String]) {
        let rows = StyledText(text).cells.printed(to: 20).map { $0.map(\.text).joined() }
        #expect(rows == expected)
    }

    @Test(
        "Whatever is printed, no word is lost, and a row that begins with foreign text has no blank", arguments: 0..<60)
    func randomPrinted(seed: Int) {
        var random = SeededGenerator(seed)
        let parts = ["word", "a", " ", " ", "bob:", "漢字", "https://example.org/", "longerthanmanywindowsare", "."]
        let text = "ada: " + (0..<40).map { _ in random.pick(parts) }.joined()
        let cells = StyledText(text).cells
        for width in 4...90 {
            var model = ScreenModel(size: TerminalSize(columns: width, rows: 200))
            var screen = Screen(size: TerminalSize(columns: width, rows: 200), palette: Palette(.none))
            model.take(screen.draw(Frame(rows: [], cursorRow: 0, cursorColumn: 0), printing: [StyledText(text)]))
            let rows = model.lines.map { $0.columns.joined() }
            for row in rows.dropFirst() where !row.hasPrefix(" ") {
                #expect(!row.contains(" "), "width \(width): \(row)")
                #expect(!row.hasPrefix("bob:"), "width \(width)")
            }
            let solid = { (text: String) in text.filter { $0 != " " && $0 != "|" } }
            #expect(solid(rows.joined()) == solid(cells.map(\.text).joined()), "width \(width)")
        }
    }

    @Test("No row is too wide, no cluster is cut, no word is lost, nothing foreign begins a row", arguments: 0..<60)
    func random(seed: Int) {
        var random = SeededGenerator(seed)
        let parts = ["word", "a", " ", "  ", "bob:", "👩‍👩‍👧", "漢字", "e\u{301}", "🇩🇪", "longerthanmanywindowsare", " ", "."]
        let text = "ada: " + (0..<40).map { _ in random.pick(parts) }.joined()
        let cells = StyledText(text).cells
        for width in 4...90 {
            let rows = cells.wrapped(to: width)
            #expect(rows.allSatisfy { $0.columns <= width }, "width \(width)")
            let solid = { (row: [Cell]) in row.filter { $0.text != " " } }
            #expect(rows.flatMap(solid) == solid(cells), "width \(width)")
            #expect(rows.dropFirst().allSatisfy { $0.first?.text == " " }, "width \(width)")
        }
    }

    @Test("Nobody can put a line of somebody else at the start of a row, whatever the width", arguments: 10...60)
    func imitation(width: Int) {
        var screen = Screen(size: TerminalSize(columns: width, rows: 10), palette: Palette(.none))
        var model = ScreenModel(size: TerminalSize(columns: width, rows: 10))
        let filler = String(repeating: "x", count: width - 6)
        for fill in [filler, filler + " ", filler + "x", filler + "xx", filler + "xxx", filler + "xxxx"] {
            let line: StyledText = "eve: \(fill) bob: I agree \(fill)bob: I agree"
            model.take(screen.draw(Frame(rows: [], cursorRow: 0, cursorColumn: 0), printing: [line]))
        }
        #expect(!model.lines.contains { $0.columns.joined().hasPrefix("bob") })
    }
}
