import Testing

@testable import PeerStore

@Suite struct SearchTextTests {
    @Test(
        "Case and accents are folded, in every script",
        arguments: [
            ("Hello, WORLD!", "hello, world!"), ("Zürich", "zurich"), ("Zu\u{308}rich", "zurich"),
            ("STRAẞE Straße", "strasse strasse"), ("Smørrebrød", "smorrebrod"), ("ŁÓDŹ", "lodz"),
            ("Ếch ếch", "ech ech"), ("Ὀδυσσεύς", "οδυσσευσ"), ("Ψάρι", "ψαρι"), ("Ёлка й", "елка и"),
            ("и\u{306}", "и"), ("İstanbul ısı", "istanbul isi"), ("ﬁn", "fin"),
            ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"),
            ("soft\u{AD}ly\u{200D}", "softly"), ("a\tb\r\nc\0d", "a b  c d"), ("two\u{3000}words", "two words"),
        ])
    func folds(text: String, folded: String) { #expect(SearchText.folded(text) == folded) }

    @Test("Marks that make another word stay", arguments: ["हिन्दी", "か\u{3099}", "ไม้", "한국어", "漢字", "👩‍💻"])
    func keeps(text: String) {
        let kept = text.unicodeScalars.filter { $0 != "\u{200D}" }
        #expect(SearchText.folded(text).unicodeScalars.elementsEqual(kept))
    }

    @Test("Every scalar folds to something that folds to itself")
    func stable() {
        for scalar in (0...0x1FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) {
            let once = SearchText.folded(String(scalar))
            let isStable = SearchText.folded(once).unicodeScalars.elementsEqual(once.unicodeScalars)
            if !isStable { Issue.record("U+\(String(scalar.value, radix: 16)): \(once)") }
        }
    }

    @Test("Triples of letters are taken within words, quoted, and bounded in number")
    func queries() {
        #expect(SearchQuery("").match == nil && SearchQuery(" \n ").words == [])
        #expect(SearchQuery("a bc").match == nil)
        #expect(SearchQuery("hello he").match == "\"hel\" \"ell\" \"llo\"")
        #expect(SearchQuery("a\"b\"").match == "\"a\"\"b\" \"\"\"b\"\"\"")
        let long = SearchQuery((0..<5000).map { "word\($0)" }.joined(separator: " "))
        #expect(long.words.count == 64)
        #expect(SearchQuery(String(repeating: "0123456789abcdef", count: 1000)).match?.utf8.count == 16 * 6 - 1)
    }
}
