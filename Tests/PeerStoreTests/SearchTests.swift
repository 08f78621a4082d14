import Foundation
import PeerModel
import TestSupport
import Testing

@testable import PeerStore

@Suite struct SearchTests {
    private let folder: TemporaryFolder
    private let history: History
    private let chat = chatID(1)

    init() throws {
        folder = try TemporaryFolder()
        history = try makeHistory(folder)
        try history.record(started(chat))
    }

    private func say(_ texts: String...) throws {
        let start = UInt64(try history.chats()[0].messages) + 1
        for (seq, text) in zip(start..., texts) { try history.record(line(chat, seq, text), by: ada, at: 9) }
    }

    @Test("Words, parts of words and short words are found, without letter case and accents, newest first")
    func finds() throws {
        try say("Meet at the Käsehof at noon", "KASEHOFSTRASSE 7", "ok", "C’est l'été", "日本語のテキスト", "Ελλάδα")
        #expect(try history.texts("kasehof") == ["KASEHOFSTRASSE 7", "Meet at the Käsehof at noon"])
        #expect(try history.texts("ÄSEH noon") == ["Meet at the Käsehof at noon"])
        #expect(try history.texts("noon asehof") == ["Meet at the Käsehof at noon"])
        #expect(try history.texts("straße") == ["KASEHOFSTRASSE 7"])
        #expect(try history.texts("ok") == ["ok"])
        #expect(try history.texts("7") == ["KASEHOFSTRASSE 7"])
        #expect(try history.texts("ete") == ["C’est l'été"])
        #expect(try history.texts("本語の") == ["日本語のテキスト"])
        #expect(try history.texts("本") == ["日本語のテキスト"])
        #expect(try history.texts("ΕΛΛΑΔΑ") == ["Ελλάδα"])
        #expect(try history.texts("at no") == ["Meet at the Käsehof at noon"])
        #expect(try history.texts("noonx") == [])
        // All three letters of each triple are there, but not in a row.
        try say("abcd bcde")
        #expect(try history.texts("abcde") == [])
    }

    @Test(
        "Nothing that is searched for is an operator or an error",
        arguments: [
            "", " ", "\"", "\"\"", "'", "*", "a*", "abc*", "(", ")", "NEAR(a b)", "AND", "abc AND", "OR OR", "NOT x",
            "folded:abc", "-abc", "^abc", "{a b}:c", "a+b", "abc + def", "\\", "%", "___", "\0", "abc\0def", "\u{FFFD}",
            "\u{301}", "\u{200D}", "👩‍👧‍👦", "; DROP TABLE entry", "?1", ":x", "$1", "[[[", "\"abc", "abc\"def\"",
        ])
    func anyText(text: String) throws {
        try say("nothing like it here")
        #expect(try history.texts(text) == [])
        #expect(try history.files(matching: text.isEmpty ? "x" : text) == [] || text.isEmpty)
        // It is found when it was said, unless there is nothing in it that is seen.
        try say("before \(text) after")
        let isSeen = !SearchQuery(text).words.isEmpty
        #expect(try history.texts(text) == (isSeen ? ["before \(text) after"] : []))
    }

    @Test("What was said can be found by any part of any word of it", arguments: [1, 2, 3] as [UInt64])
    func randomTexts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let letters = Array("abAB éÉßñ\"'*-()日本語ЖжйΑά%_\n\u{301}".unicodeScalars)
        func text(_ count: ClosedRange<Int>) -> String {
            String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: count, using: &random)).map { _ in
                        letters[Int.random(in: letters.indices, using: &random)]
                    }))
        }
        let texts = (0..<60).map { _ in text(1...40) }
        for (seq, text) in zip(UInt64(1)..., texts) { try history.record(line(chat, seq, text), by: ada, at: 9) }
        for _ in 1...100 {
            let search = text(1...6), words = SearchQuery(search).words
            let expected = texts.filter { text in
                let folded = SearchText.folded(text)
                return !words.isEmpty && words.allSatisfy { folded.range(of: $0, options: .literal) != nil }
            }
            let found = try history.texts(search)
            #expect(
                Set(found.map { Array($0.utf8) }) == Set(expected.map { Array($0.utf8) }), "\(search.debugDescription)")
        }
    }

    @Test("A very long search is a search, too")
    func longSearch() throws {
        let words = (0..<3000).map { "word\($0)" }.joined(separator: " ")
        #expect(try history.texts(words) == [])
        #expect(try history.texts(String(repeating: "x", count: 1 << 17)) == [])
        try say(String(words.prefix(15_000)))
        #expect(try history.texts(String(words.prefix(15_000))).count == 1)
    }

    @Test("Results come page by page, each message once")
    func pages() throws {
        for seq in 1...25 as ClosedRange<UInt64> {
            try history.record(line(chat, seq, "needle \(seq)"), by: ada, at: 9)
        }
        for search in ["needle", "n"] {
            var found: [UInt64] = [], position = Int64.max
            while case let page = try history.messages(matching: search, before: position, limit: 10),
                let last = page.last
            {
                found += page.map(\.seq)
                position = last.position
            }
            #expect(found == (1...25).reversed())
        }
    }

    @Test("Files are found by name, path and sender")
    func files() throws {
        try history.record(
            offer(transferID(1), "Übersicht.pdf"), offer(transferID(2), "song.ogg", from: eve, to: [ada]),
            received(transferID(1), ["/home/ada/Downloads/Übersicht (1).pdf"]))
        #expect(try history.files(matching: "ubersicht").map(\.transfer) == [transferID(1)])
        #expect(try history.files(matching: "downloads (1)").map(\.transfer) == [transferID(1)])
        #expect(try history.files(matching: "EVE ogg").map(\.transfer) == [transferID(2)])
        #expect(try history.files(matching: "nothing") == [])
        #expect(try history.files().map(\.transfer) == [transferID(2), transferID(1)])
        #expect(try history.files(limit: 1).map(\.transfer) == [transferID(2)])
    }
}
