import PeerModel
import Testing

@testable import PeerTerminal

@Suite struct WidthTests {
    @Test(
        "A cluster has the width that terminals give it",
        arguments: [
            ("", 0), ("a", 1), ("~", 1), ("é", 1), ("e\u{301}", 1), ("o\u{308}\u{304}", 1), ("\u{301}", 0),
            ("\u{200B}", 0),
            ("\u{7}", 0), ("ß", 1), ("я", 1), ("ﷺ", 1), ("\u{AD}", 1), ("\u{0600}", 1),
            ("漢", 2), ("か\u{3099}", 2), ("Ａ", 2), ("ｱ", 1), ("、", 2), ("\u{3000}", 2), ("〿", 1), ("㉈", 1), ("㉐", 2),
            ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1161}", 0), ("\u{20000}", 2), ("\u{3FFFD}", 2),
            ("\u{17000}", 2),
            ("क्षि", 2), ("நி", 1), ("ก็", 1),
            ("😀", 2), ("👩‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇩🇪", 2), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("⌚", 2), ("☎", 1), ("☎\u{FE0F}", 2), ("⌚\u{FE0E}", 1),
            ("1\u{FE0F}\u{20E3}", 2), ("1", 1), ("❤\u{FE0F}‍🔥", 2), ("…", 1), ("█", 1), ("─", 1), ("\u{1F1E9}", 2),
        ])
    func cluster(text: String, columns: Int) {
        #expect(text.count <= 1)
        #expect(ColumnWidth.columns(of: text) == columns)
    }

    @Test("Marks without a letter get a base of their own on the screen")
    func marksAlone() {
        let cells = StyledText("\u{301}a").cells
        #expect(cells.map(\.text) == ["\u{25CC}\u{301}", "a"] && cells.columns == 2)
    }

    @Test("What is invisible or dangerous in the input is spelled out and counted")
    func entered() {
        #expect(Cell(entered: "\u{202E}").text == "<U+202E>" && Cell(entered: "\u{202E}").columns == 8)
        #expect(Cell(entered: "\t").columns == 4)
        #expect(Cell(entered: "\u{1B}").text == "␛")
    }

    @Test("Text is cut at the border of a cluster, at the end and in the middle", arguments: 0...12)
    func cut(width: Int) {
        let row = StyledText("漢字👩‍👩‍👧ab🇩🇪c").cells
        #expect(row.columns == 11)
        for cut in [row.cut(to: width), row.cutInMiddle(to: width)] {
            #expect(cut.columns <= width && (cut == row) == (width >= 11))
            #expect(cut.columns >= min(width, 11) - 2)
            #expect(width >= 11 || width == 0 || cut.contains { $0.text == "…" })
        }
    }

    @Test("Styled text is harmless, whatever it is made of")
    func harmless() {
        let text = StyledText("a\u{1B}[2J\n\u{9B}b\u{202E}", .bad)
        #expect(
            text.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value) && $0 != "\u{202E}" })
        #expect("\(text.text)".contains("␛[2J␊"))
    }

    @Test("The colours of the 256 can be read on black and on white")
    func contrast() {
        func linear(_ value: Int) -> Double {
            let part = Double(value) / 255
            return part <= 0.04045 ? part / 12.92 : powed((part + 0.055) / 1.055)
        }
        func powed(_ base: Double) -> Double {
            // base^2.4 as (base^12)^(1/5), by Newton's method.
            let goal = (0..<12).reduce(1.0) { value, _ in value * base }
            return (0..<60).reduce(1.0) { root, _ in root - (root - goal / (root * root * root * root)) / 5 }
        }
        func channels(_ index: Int) -> [Int] {
            if index >= 232 { return Array(repeating: 8 + 10 * (index - 232), count: 3) }
            let steps = [0, 95, 135, 175, 215, 255], cube = index - 16
            return [steps[cube / 36], steps[cube / 6 % 6], steps[cube % 6]]
        }
        let used =
            Palette.indexedPeers + [
                Palette.indexedQuiet, Palette.indexedGood, Palette.indexedWarning, Palette.indexedBad,
            ]
        #expect(Set(used).count == used.count)
        for index in used {
            let part = channels(index).map(linear)
            let luminance = 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]
            #expect(1.05 / (luminance + 0.05) >= 3.9 && (luminance + 0.05) / 0.05 >= 3.9, "\(index)")
        }
    }

    @Test("A peer keeps its colour, peers differ, and without colour there is no sequence at all")
    func palette() throws {
        let ids = try (0..<64).map { number in
            PeerID(try #require(Digest((0..<32).map { UInt8(truncatingIfNeeded: number * 7 + $0) })))
        }
        let palette = Palette(.indexed)
        #expect(Set(ids.map { palette.start(.peer($0)) }).count == Palette.indexedPeers.count)
        #expect(Set(ids.map { Palette(.theme).start(.peer($0)) }).count == Palette.themePeers.count)
        #expect(ids.allSatisfy { palette.start(.peer($0)) == Palette(.indexed).start(.peer($0)) })
        for ink in [Ink.plain, .quiet, .own, .good, .warning, .bad, .question, .peer(ids[0])] {
            #expect(Palette(.none).start(ink).isEmpty)
        }
    }
}
