internal import FoundationEssentials
internal import PeerModel

/// With `--json` an input line may be an object: `{"line":…}` is read like a typed line, `{"text":…}` is a message as it
/// stands, line feeds included.
enum JSONLine {
    private struct Object: Decodable {
        let line: String?
        let text: String?
    }

    static func parse(_ line: String, with parser: PromptParser) -> PromptLine {
        guard line.hasPrefix("{") else { return parser.parse(line) }
        guard let object = try? JSONDecoder().decode(Object.self, from: Data(line.utf8)) else {
            return .problem(usage)
        }
        switch (object.line, object.text) {
        case (let line?, nil): return parser.parse(line)
        case (nil, let text?): return text.isEmpty ? .nothing : parser.message(text)
        default: return .problem(usage)
        }
    }

    private static let usage = PeerConnectError(
        .usage, "A line that starts with { is an object with either line or text.",
        hint: #"{"line":"/who"} or {"text":"hello"}"#)
}
