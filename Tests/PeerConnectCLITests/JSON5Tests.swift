import FoundationEssentials
import Testing

@testable import PeerConnectCLI

@Suite("JSON5")
struct JSON5Tests {
    @Test(
        "What JSON5 allows is read",
        arguments: [
            ("{}", "{}"), ("[]", "[]"), ("null", "null"), ("'a'", "a"), ("{a:1}", "{a:1.0}"),
            ("\u{FEFF}{a:1}", "{a:1.0}"),
            ("// x\n{ /* y\n */ $a_1: 'b', \"c d\": [true, false,], }", "{$a_1:b,c d:[true,false]}"),
            ("[+1, -2, .5, 5., 0x1F, -0XA, 1e3, 0]", "[1.0,-2.0,0.5,5.0,31.0,-10.0,1000.0,0.0]"),
            ("[Infinity, -Infinity]", "[inf,-inf]"),
            (#"'it\'s \x41\u00e9\ud83d\ude00\n\0\q'"#, "it's Aé😀\n\0q"),
            ("'one\\\ntwo\\\r\nthree'", "onetwothree"), ("{ä: 1}", "{ä:1.0}"), ("\u{A0}1\u{2028}", "1.0"),
        ])
    func accepted(text: String, shown: String) throws {
        #expect(Self.show(try JSON5Reader.read(text)) == shown)
    }

    @Test(
        "What is broken is named with its line",
        arguments: [
            ("", 1, "a value is missing at its end"), ("{a:1,\nb:}", 2, "a value cannot begin with }"),
            ("{a:1\nb:2}", 2, "a comma or } is missing"), ("{a:1} x", 1, "something follows its end"),
            ("{a:1,\n\na:2}", 3, "“a” is there twice"), ("{a:'x\n'}", 1, "a text is not closed with '"),
            ("{a:20M}", 1, "“20M” is no value; texts are in quotes"),
            ("{a:tru\n}", 1, "“tru” is no value; texts are in quotes"),
            ("{a:1,\r\n/* open\n", 2, "a comment is not closed"), ("{a 1}", 1, "a colon is missing behind “a”"),
            ("[1 2]", 1, "a comma or ] is missing"), ("{,}", 1, "the name of a setting is missing"),
            ("'\\u12'", 1, "an escape needs 4 hexadecimal digits"), ("'\\ud800x'", 1, "an escape is no character"),
            ("01", 1, "“01” is no value; texts are in quotes"), ("/x", 1, "a value cannot begin with /"),
        ])
    func refused(text: String, line: Int, problem: String) {
        #expect(throws: JSON5Error(line: line, problem: problem)) { try JSON5Reader.read(text) }
    }

    @Test("Nesting without end is refused, not followed")
    func nesting() {
        #expect(throws: JSON5Error.self) { try JSON5Reader.read(String(repeating: "[", count: 100_000)) }
    }

    @Test("Any text is read or refused, and what FoundationEssentials takes for settings is taken too")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let parts = [
            "{", "}", "[", "]", ":", ",", "a", "'b'", "\"c\"", "1", "-.5", "true", "null", "//", "/*", "*/", "\n", " ",
            "\\", "é",
        ]
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...9)).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            let read = try? JSON5Reader.read("{x:\(text)}")
            if (try? decoder.decode([String: Flag].self, from: Data("{x:\(text)}".utf8))) != nil {
                #expect(read != nil, "\(text)")
            }
        }
    }

    /// A value that is a text or a truth.
    private struct Flag: Decodable {
        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if (try? value.decode(Bool.self)) == nil { _ = try value.decode(String.self) }
        }
    }

    private static func show(_ value: JSON5Value) -> String {
        switch value.content {
        case .null: "null"
        case .bool(let isOn): "\(isOn)"
        case .number(let number): "\(number)"
        case .string(let text): text
        case .array(let values): "[" + values.map(show).joined(separator: ",") + "]"
        case .object(let members): "{" + members.map { "\($0.key):\(show($0.value))" }.joined(separator: ",") + "}"
        }
    }
}
