import PeerModel
import TestSupport
import Testing

@testable import PeerTerminal

extension Frame {
    /// Its rows as text, and the cursor as `|` in them.
    var texts: [String] { rows.map { $0.map(\.text).joined() } }
}

@Suite struct LiveAreaTests {
    private static func full(_ text: String = "typing") -> LiveArea {
        var area = LiveArea()
        area.waiting = ["waiting 1", "waiting 2", "waiting 3"]
        area.transfers = (1...3).map { ProgressLine(label: "#\($0)", name: "file", done: 1, total: 2) }
        area.questions = ["question 1", "question 2", "question 3"]
        area.hints = ["hint"]
        area.status = "status"
        area.input = InputView(prompt: "> ", characters: Array(text), cursor: text.count)
        return area
    }

    @Test("With room enough everything stands in its order")
    func whole() {
        let texts = Self.full().frame(for: TerminalSize(columns: 80, rows: 24)).texts
        #expect(texts[0...2] == ["waiting 1", "waiting 2", "waiting 3"])
        #expect(texts[3].hasPrefix("#1 file") && texts[5].hasPrefix("#3 file"))
        #expect(texts[6...] == ["question 1", "question 2", "question 3", "hint", "status", "> typing"])
    }

    @Test(
        "Where rows are missing they go in a set order, and the input stays",
        arguments: [
            (13, 3, 3, 3, 1, 1), (12, 2, 3, 3, 1, 1), (11, 1, 3, 3, 1, 1), (10, 0, 3, 3, 1, 1), (9, 0, 2, 3, 1, 1),
            (8, 0, 1, 3, 1, 1), (7, 0, 0, 3, 1, 1), (6, 0, 0, 3, 1, 0), (5, 0, 0, 2, 1, 0), (4, 0, 0, 1, 1, 0),
            (3, 0, 0, 0, 1, 0),
            (2, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0),
        ])
    func dropped(rows: Int, waiting: Int, transfers: Int, questions: Int, hints: Int, status: Int) {
        let texts = Self.full().frame(for: TerminalSize(columns: 40, rows: rows)).texts
        // A question takes several rows, so rows of them are not counted.
        func more(_ name: String, _ count: Int) -> String {
            name == "question" ? "  and more" : "  and \(3 - count) more"
        }
        func group(_ name: String, _ count: Int) -> [String] {
            (0..<count).map { "\(name) \($0 + 1)" + ($0 == count - 1 && count < 3 ? more(name, count) : "") }
        }
        let head = group("waiting", waiting)
        #expect(texts.prefix(waiting) == head[...])
        let progress = texts.dropFirst(waiting).prefix(transfers)
        #expect(progress.allSatisfy { $0.hasPrefix("#") && $0.contains("50 %") && $0.count <= 40 })
        #expect(transfers == 0 || (progress.last?.hasSuffix("  and \(3 - transfers) more") ?? false) == (transfers < 3))
        let tail =
            group("question", questions) + Array(repeating: "hint", count: hints)
            + Array(repeating: "status", count: status)
        #expect(texts.dropFirst(waiting + transfers) == (tail + ["> typing"])[...])
        #expect(texts.count <= max(1, rows - 1))
    }

    @Test("A warning stays while there is a row beside the input", arguments: 3...12)
    func warning(rows: Int) {
        var area = Self.full()
        area.warnings = ["Ctrl-C again leaves."]
        #expect(area.frame(for: TerminalSize(columns: 40, rows: rows)).texts.contains("Ctrl-C again leaves."))
    }

    @Test("A long input takes half of the rows at most while others want them, and shows the row of the cursor")
    func longInput() {
        let text = (0..<40).map { "row \($0)" }.joined(separator: "\n")
        let frame = Self.full(text).frame(for: TerminalSize(columns: 40, rows: 11))
        #expect(frame.texts.suffix(5) == (35..<40).map { "row \($0)" }[...])
        #expect(frame.cursorRow == frame.rows.count - 1 && frame.cursorColumn == 6)
        var alone = LiveArea()
        alone.input = InputView(prompt: "", characters: Array(text), cursor: 60)
        let other = alone.frame(for: TerminalSize(columns: 40, rows: 11))
        #expect(other.rows.count == 10 && other.texts[other.cursorRow] == "row 10" && other.cursorColumn == 0)
    }

    @Test(
        "The cursor behind a full row stands at the start of the next one",
        arguments: [
            ("12345678", 8, 1, 0), ("1234567", 7, 0, 9), ("12345678\nx", 8, 1, 0), ("1234567漢", 7, 1, 0),
            ("12345678x", 8, 1, 0),
        ])
    func rowEnd(text: String, cursor: Int, row: Int, column: Int) {
        let frame = InputView(prompt: "> ", characters: Array(text), cursor: cursor).frame(width: 10)
        #expect(frame.cursorRow == row && frame.cursorColumn == column)
        #expect(frame.rows.allSatisfy { $0.columns <= 10 })
    }

    @Test(
        "Progress fits its row: bar, time left and rate go first, the name is cut in its middle",
        arguments: [
            (80, "#12 holiday pictures 2026.tar  [########-------------]  41 %  12 MB/s  1:23 left"),
            (60, "#12 holiday pi… 2026.tar  41 %  12 MB/s  1:23 left"),
            (40, "#12 holid….tar  41 %  12 MB/s  1:23 left"), (30, "#12 holid….tar  41 %  12 MB/s"),
            (20, "#12 holi…tar  41 %"), (9, "#12 holi…"),
        ])
    func progress(width: Int, expected: String) {
        let line = ProgressLine(
            label: "#12", name: "holiday pictures 2026.tar", done: 700_000_000, total: 1_700_000_000, rate: 12_100_000)
        let row = line.row(width: width)
        #expect(row.columns <= width)
        #expect(row.map(\.text).joined() == expected)
    }

    @Test(
        "The marks of the recipients stand behind the name, and go before the rate does",
        arguments: [
            (80, "#1 f.tar  ada 50 %, bob done  [##########-----------]  50 %  1.0 MB/s  0:01 left"),
            (50, "#1 f.tar  ada 50 %, bob done  50 %  1.0 MB/s"), (40, "#1 f.tar  50 %  1.0 MB/s  0:01 left"),
        ])
    func marks(width: Int, expected: String) {
        let line = ProgressLine(
            label: "#1", name: "f.tar", done: 1_000_000, total: 2_000_000, rate: 1_000_000,
            marks: "ada 50 %, bob done")
        #expect(line.row(width: width).map(\.text).joined() == expected)
    }

    @Test("Who is here stands first, and gives way to everything else")
    func people() {
        var area = Self.full()
        area.people = ["ada", "bob"]
        func texts(_ rows: Int) -> [String] { area.frame(for: TerminalSize(columns: 40, rows: rows)).texts }
        #expect(texts(24).prefix(3) == ["ada", "bob", "waiting 1"])
        #expect(texts(14).prefix(2) == ["ada  and more", "waiting 1"])
        #expect(texts(13).first == "waiting 1")
    }

    @Test("Progress never says 100 % before all is there, and survives any numbers", arguments: 5...90)
    func hostileProgress(width: Int) {
        let numbers: [(UInt64, UInt64?, Double?)] = [
            (999, 1000, 1), (.max - 1, .max, .infinity), (.max, 1, .nan), (0, 0, 0), (5, nil, -1), (0, .max, 1e300),
            (1, .max, .leastNonzeroMagnitude),
        ]
        for (done, total, rate) in numbers {
            for note in [nil, "paused: disk full"] {
                let text = ProgressLine(
                    label: "#1", name: "漢字👩‍👩‍👧.bin\u{1B}[2J", done: done, total: total, rate: rate, note: note
                ).row(width: width)
                #expect(text.columns <= width)
                let isDone = total.map { done >= $0 } ?? false
                #expect(!text.map(\.text).joined().contains("100 %") || isDone)
            }
        }
    }

    @Test("Words are set in columns that fit")
    func columns() {
        let lines = LiveArea.columns(["a", "bb", "ccc", "dddd", "日本"], width: 14)
        #expect(lines.map(\.text) == ["a     dddd", "bb    日本", "ccc"])
        #expect(LiveArea.columns([], width: 10).isEmpty)
        #expect(LiveArea.columns(["much longer"], width: 5).map(\.text) == ["much…"])
    }

    @Test(
        "Names with what has no width, is wide or would move the cursor stand in the same columns", arguments: 12...90)
    func hostileColumns(width: Int) {
        let names = [
            "plain", "a\u{200B}b", "\u{301}mark", "e\u{301}\u{308}\u{323}", "\u{202E}evil", "\u{1B}[2Jx", "tab\tbed",
            "two\nlines", "\r\n", "漢字", "👩‍👩‍👧", "🇩🇪", "\u{1F1E9}", "\u{FE0F}", "\u{200D}", "क\u{94D}ष", "", " ",
            "x\u{FEFF}",
            "\u{115F}\u{1160}", "\u{AD}soft", "z" + String(repeating: "\u{300}", count: 40),
        ]
        let rows = LiveArea.columns(names, width: width)
        let shown = names.map { StyledText($0).cells.cut(to: width) }
        let widest = (shown.map(\.columns).max() ?? 0) + 2
        var screen = Screen(size: TerminalSize(columns: width, rows: 40), palette: Palette(.none))
        var model = ScreenModel(size: TerminalSize(columns: width, rows: 40))
        model.take(screen.draw(Frame(rows: rows.map(\.cells), cursorRow: 0, cursorColumn: 0), printing: []))
        #expect(model.faults.isEmpty, "\(model.faults)")
        #expect(
            model.lines.count == rows.count && model.lines.allSatisfy { $0.columns.count <= width && !$0.isWrapped })
        for (index, cells) in shown.enumerated() where !cells.isEmpty {
            let row = model.lines[index % rows.count].columns, start = index / rows.count * widest
            let place = row.dropFirst(start).prefix(cells.columns).joined()
            #expect(place == cells.map(\.text).joined(), "\(index) in \(row)")
            let gap = row.dropFirst(start + cells.columns).prefix(widest - cells.columns)
            #expect(gap.allSatisfy { $0 == " " }, "\(index) in \(row)")
        }
    }

    @Test("Twenty frames a second at most, the first at once, and none is lost")
    func pacer() {
        var pacer = FramePacer()
        let start = Instant(nanoseconds: 5_000_000_000)
        #expect(pacer.request(at: start) == .drawNow)
        #expect(pacer.request(at: start + 0.01) == .wait(until: start + 0.05))
        #expect(pacer.request(at: start + 0.02) == .isWaiting)
        let due = [0.04, 0.05, 0.06].map { pacer.isDue(at: start + $0) }
        #expect(due == [false, true, false])
        #expect(pacer.request(at: start + 0.06) == .wait(until: start + 0.10))
        let isLateDue = pacer.isDue(at: start + 0.2)
        #expect(isLateDue && pacer.request(at: start + 0.3) == .drawNow)
    }

    @Test(
        "No second holds more than twenty frames, wherever it begins and whenever something changes", arguments: 0..<8)
    func busyPacer(seed: Int) {
        var random = SeededGenerator(seed)
        var pacer = FramePacer(), now = Instant(nanoseconds: 5_000_000_000), frames: [Instant] = []
        let end = now + 5
        while now < end {
            // The first of these asks without a pause.
            now =
                now + (seed == 0 ? 0.001 : Double.random(in: 0.0001...random.pick([0.005, 0.05, 0.3]), using: &random))
            if pacer.isDue(at: now) || pacer.request(at: now) == .drawNow { frames.append(now) }
        }
        for first in frames {
            let count = frames.count { first <= $0 && $0 - first < 1 }
            #expect(count <= 20, "from \(first)")
        }
        if seed == 0 { #expect(95...100 ~= frames.count) }
    }

    @Test(
        "The environment says what the terminal can do",
        arguments: [
            ([:], false, ColorDepth.none, true), (["TERM": "dumb", "COLORTERM": "truecolor"], false, .none, true),
            (["TERM": "xterm-256color"], true, .indexed, true), (["TERM": "vt100"], true, .theme, true),
            (["TERM": "xterm", "COLORTERM": "truecolor"], true, .indexed, true),
            (["TERM": "linux"], true, .theme, false),
            (["TERM": "xterm-256color", "XTERM_VERSION": "XTerm(379)"], true, .indexed, false),
        ] as [([String: String], Bool, ColorDepth, Bool)])
    func traits(environment: [String: String], hasCursor: Bool, depth: ColorDepth, reflows: Bool) {
        let traits = TerminalTraits(environment: environment)
        #expect(traits.hasCursor == hasCursor && traits.depth == depth && traits.reflows == reflows)
    }
}
