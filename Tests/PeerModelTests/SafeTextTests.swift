import PeerModel
import Testing

@Suite("Foreign text for display")
struct SafeTextTests {
    @Test(
        "Ordinary text of any script stays as it is",
        arguments: ["hello, world", "Grüße", "日本語", "שלום", "नमस्ते", "🙂👍🏽", "👩‍👩‍👧", "🏳️‍🌈", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "e\u{301}", "<U+202E>"])
    func keeps(text: String) {
        #expect(SafeText.line(text).unicodeScalars.elementsEqual(text.unicodeScalars))
        #expect(SafeText.multiline(text).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test(
        "What is invisible or moves the cursor is made visible",
        arguments: [
            ("\u{1B}[2J", "␛[2J"), ("a\u{7}b", "a␇b"), ("\u{7F}", "␡"), ("\u{9B}31m", "<U+009B>31m"), ("\0", "␀"),
            ("a\u{202E}b", "a<U+202E>b"), ("a\u{2066}b\u{2069}", "a<U+2066>b<U+2069>"), ("\u{200E}", "<U+200E>"),
            ("\u{61C}", "<U+061C>"), ("a\u{200B}b", "a<U+200B>b"), ("a\u{200C}b", "a<U+200C>b"),
            ("a\u{200D}b", "a<U+200D>b"), ("\u{200D}", "<U+200D>"), ("🙂\u{200D}", "🙂<U+200D>"),
            ("\u{2060}", "<U+2060>"), ("\u{FEFF}x", "<U+FEFF>x"), ("\u{E0041}", "<U+E0041>"),
            ("a\u{FE0F}", "a<U+FE0F>"), ("a\u{34F}b", "a<U+034F>b"), ("\u{3164}", "<U+3164>"), ("\u{2800}", "<U+2800>"),
        ])
    func shows(text: String, expected: String) {
        #expect(SafeText.line(text) == expected)
    }

    @Test("A line stays one line, and lines stay lines")
    func lines() {
        #expect(SafeText.line("a\nb\r\nc\td\u{2028}e") == "a␊b␍␊c␉d<U+2028>e")
        #expect(SafeText.multiline("a\nb\r\nc\td\u{2028}e\u{2029}f\u{85}g") == "a\nb\nc    d\ne\nf\ng")
    }

    @Test("Text is cut by characters, and the cut is shown")
    func limit() {
        #expect(SafeText.line("abcdef", limit: 6) == "abcdef")
        #expect(SafeText.line("abcdef", limit: 5) == "abcde…")
        #expect(SafeText.line("👩‍👩‍👧👩‍👩‍👧", limit: 1) == "👩‍👩‍👧…")
    }

    @Test("A character with very many marks is cut")
    func marks() {
        let text = "e" + String(repeating: "\u{301}", count: 500) + "x"
        #expect(SafeText.line(text).unicodeScalars.count < 30)
        #expect(SafeText.line(text).hasSuffix("…x"))
    }

    @Test("No text of one scalar gives a control, and cleaning twice changes nothing")
    func everyScalar() {
        for value in UInt32(0)...0x1_0FFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = SafeText.line("a" + String(scalar))
            #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "U+\(value)")
            #expect(SafeText.line(line) == line, "U+\(value)")
        }
    }
}
