import TestSupport
import Testing

@testable import PeerTerminal

@Suite struct KeyDecoderTests {
    /// The keys of these bytes, with text in as few pieces as there can be.
    static func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
        var decoder = KeyDecoder()
        return joined(decoder.feed(bytes) + decoder.silence())
    }

    static func joined(_ keys: [Key]) -> [Key] {
        keys.reduce(into: []) { result, key in
            if case .text(let more) = key, case .text(let text)? = result.last {
                result[result.count - 1] = .text(text + more)
            } else {
                result.append(key)
            }
        }
    }

    static let spellings: [(String, [Key])] = [
        ("a", [.text("a")]),
        ("zoë 👩‍👩‍👧 🇩🇪", [.text("zoë 👩‍👩‍👧 🇩🇪")]),
        ("\r", [.enter]), ("\n", [.enter]), ("\u{1B}OM", [.enter]),
        ("\u{1B}\r", [.newline]), ("\u{1B}[13;2u", [.newline]), ("\u{1B}[27;3;13~", [.newline]),
        ("\t", [.tab]), ("\u{1B}[Z", [.backTab]),
        ("\u{7F}", [.backspace]), ("\u{8}", [.backspace]), ("\u{1B}\u{7F}", [.backspaceWord]),
        ("\u{1B}[127;5u", [.backspaceWord]),
        ("\u{1}", [.control("a")]), ("\u{1A}", [.control("z")]), ("\u{1C}", [.control("\\")]),
        ("\u{0}", [.control("@")]),
        ("\u{1B}[99;5u", [.control("c")]), ("\u{1B}[27;5;114~", [.control("r")]),
        ("\u{1B}b", [.alt("b")]), ("\u{1B}[98;3u", [.alt("b")]), ("\u{1B}é", [.text("é")]),
        ("\u{1B}[233u", [.text("é")]),
        ("\u{1B}", [.escape]), ("\u{1B}[27u", [.escape]), ("\u{1B}[", [.alt("[")]), ("\u{1B}O", [.alt("O")]),
        ("\u{1B}]", [.alt("]")]),
        ("\u{1B}[A\u{1B}OA", [.up, .up]), ("\u{1B}[B", [.down]), ("\u{1B}[C", [.right]), ("\u{1B}OD", [.left]),
        ("\u{1B}[1;5D\u{1B}[1;3C", [.wordLeft, .wordRight]), ("\u{1B}\u{1B}[D\u{1B}Od", [.wordLeft, .wordLeft]),
        ("\u{1B}[1;2D", [.left]),
        ("\u{1B}[H\u{1B}[1~\u{1B}[7~\u{1B}OH", [.home, .home, .home, .home]),
        ("\u{1B}[F\u{1B}[4~\u{1B}[8~", [.end, .end, .end]),
        ("\u{1B}[3~", [.delete]), ("\u{1B}[3;5~", [.deleteWord]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
        ("\u{1B}[200~one\rtwo\u{1B}[A~\u{1B}[201~x", [.paste("one\rtwo\u{1B}[A~"), .text("x")]),
        ("\u{1B}[200~\u{1B}[201~", [.paste("")]), ("\u{1B}[201~", []),
    ]

    @Test("Each spelling of a key is understood", arguments: spellings)
    func spelling(bytes: String, keys: [Key]) {
        #expect(Self.keys(bytes.utf8) == keys)
    }

    @Test(
        "What is no key is swallowed whole, and the next key is understood",
        arguments: [
            "\u{1B}[?1;2c", "\u{1B}[>0;276;0c", "\u{1B}[12;40R", "\u{1B}[I", "\u{1B}[O", "\u{1B}[<0;10;20M",
            "\u{1B}[M !!", "\u{1B}[[A", "\u{1B}[15~", "\u{1B}[200;1~", "\u{1B}Op", "\u{1B}[ q", "\u{1B}[1$r",
            "\u{1B}[57441;1u", "\u{1B}[99999999999999999999999u", "\u{1B}[55296u",
            "\u{1B}[" + String(repeating: "9", count: 999) + "A",
            "\u{1B}]0;title\u{7}", "\u{1B}]52;c;AAAA\u{1B}\\", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_x\u{1B}\\",
            "\u{1B}^" + String(repeating: "y", count: 100_000) + "\u{1B}\\", "\u{1B}Xabc\u{18}", "\u{85}\u{9B}",
        ])
    func swallowed(sequence: String) {
        #expect(Self.keys(Array((sequence + "k").utf8)) == [.text("k")])
    }

    @Test("A control character inside a broken sequence is a key, so Ctrl-C always comes through")
    func controlInside() {
        #expect(Self.keys("\u{1B}[12\u{3}".utf8) == [.control("c")])
        #expect(Self.keys("\u{1B}O\u{3}".utf8) == [.control("c")])
        #expect(Self.keys("\u{1B}\u{3}".utf8) == [.control("c")])
        #expect(Self.keys("\u{1B}[12\u{1B}[A".utf8) == [.up])
        #expect(Self.keys("\u{1B}]0;x\u{1B}[A".utf8) == [.up])
    }

    @Test("Keys do not depend on where the bytes are cut")
    func everyCut() {
        let bytes = Array(
            Self.spellings.dropLast(3).map(\.0).filter { Self.keys($0.utf8) != [.escape] }.joined(separator: "|").utf8)
        let whole = Self.keys(bytes)
        #expect(whole.count > 60)
        for cut in 0...bytes.count {
            var decoder = KeyDecoder()
            let keys = decoder.feed(bytes[..<cut]) + decoder.feed(bytes[cut...]) + decoder.silence()
            #expect(Self.joined(keys) == whole, "cut at \(cut)")
        }
        var decoder = KeyDecoder()
        #expect(Self.joined(bytes.flatMap { decoder.feed([$0]) } + decoder.silence()) == whole)
    }

    @Test("Bytes that are not UTF-8 become U+FFFD, as the standard library repairs them, wherever they are cut")
    func brokenUTF8() {
        var random = SeededGenerator(1)
        let parts: [[UInt8]] = [
            [0x61], [0xC3], [0xA9], [0xE2, 0x82], [0xAC], [0xF0, 0x9F], [0x91, 0xA9], [0xC0], [0xED, 0xA0],
            [0xF4, 0x90], [0xFF],
            [0xE0, 0x80], [0xF0, 0x9F, 0x91, 0xA9],
        ]
        for _ in 0..<2000 {
            let bytes = (0..<8).flatMap { _ in random.pick(parts) }
            let expected = String(decoding: bytes, as: UTF8.self)
            var decoder = KeyDecoder()
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let keys = decoder.feed(bytes[..<cut]) + decoder.feed(bytes[cut...]) + decoder.silence()
            let text = keys.reduce("") { if case .text(let text) = $1 { $0 + text } else { $0 } }
            #expect(Array(text.unicodeScalars) == expected.unicodeScalars.filter { !(0x80...0x9F ~= $0.value) })
        }
    }

    @Test("ESC alone waits until nothing follows")
    func loneEscape() {
        var decoder = KeyDecoder()
        #expect(decoder.feed([0x1B]).isEmpty && decoder.isWaiting)
        #expect(decoder.silence() == [.escape] && !decoder.isWaiting)
        #expect(decoder.feed("[A".utf8) == [.text("[A")])
    }

    @Test("A paste waits for its end, however slowly it comes, and ends at last when that is lost")
    func slowPaste() {
        var decoder = KeyDecoder()
        #expect(decoder.feed("\u{1B}[200~one\n".utf8).isEmpty)
        #expect(decoder.silence().isEmpty && decoder.isPasting)
        #expect(decoder.feed("two\u{1B}[20".utf8).isEmpty)
        #expect(decoder.silence().isEmpty)
        #expect(decoder.feed("1~".utf8) == [.paste("one\ntwo")])
        #expect(decoder.feed("\u{1B}[200~lost".utf8).isEmpty)
        #expect(decoder.longSilence() == [.paste("lost")] && !decoder.isWaiting)
    }

    @Test("Ctrl-C that is pressed ends a paste whose end was lost; one that was pasted does not")
    func interruptedPaste() {
        var decoder = KeyDecoder()
        #expect(decoder.feed("\u{1B}[200~lost".utf8).isEmpty && decoder.silence().isEmpty)
        #expect(decoder.feed([3]) == [.paste("lost"), .control("c")] && !decoder.isWaiting)
        #expect(decoder.feed([3]) == [.control("c")])
        #expect(decoder.feed("\u{1B}[200~one".utf8).isEmpty)
        #expect(decoder.feed([3]).isEmpty, "without a pause it was pasted")
        #expect(decoder.silence().isEmpty)
        #expect(decoder.feed("two\u{3}".utf8).isEmpty, "with others it was pasted")
        #expect(decoder.feed("\u{1B}[201~".utf8) == [.paste("one\u{3}two\u{3}")])
    }

    @Test("A paste without bounds is not kept, and says so at its end")
    func hugePaste() {
        var decoder = KeyDecoder()
        var keys = decoder.feed("\u{1B}[200~".utf8)
        for _ in 0..<5 { keys += decoder.feed(repeatElement(0x61, count: KeyDecoder.pasteAtMost / 2)) }
        #expect(keys.isEmpty)
        #expect(decoder.feed("\u{1B}[201~ok".utf8) == [.pasteTooLong, .text("ok")])
    }

    @Test("Random bytes never trap, and Ctrl-C behind a silence is always seen", arguments: 0..<20)
    func random(seed: Int) {
        var random = SeededGenerator(seed)
        let likely = Array("\u{1B}[]OPM;0129~u?<\u{7}\\\u{18}a\r".utf8)
        for _ in 0..<200 {
            var decoder = KeyDecoder()
            let bytes = (0..<40).map { _ in
                Bool.random(using: &random) ? random.pick(likely) : UInt8.random(in: 0...255, using: &random)
            }
            _ = decoder.feed(bytes) + decoder.longSilence()
            #expect(decoder.feed([3]) == [.control("c")])
        }
    }
}
