import PeerModel
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

    @Test("No row is too wide, no cluster is cut, no word is lost, nothing foreign begins a row", arguments: 0..<60)
    func random(seed: Int) {
        var random = Seeded(seed)
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
        for fill in [filler, filler + " ", filler + "x", filler + "xx"] {
            let line: StyledText = "eve: \(fill) bob: I agree \(fill)bob: I agree"
            model.take(screen.draw(Frame(rows: [], cursorRow: 0, cursorColumn: 0), printing: [line]))
        }
        #expect(!model.lines.contains { $0.columns.joined().hasPrefix("bob") })
    }
}
