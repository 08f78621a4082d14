import Foundation
import Testing

/// Every error says what to do next, by a look at the sources.
struct HintTests {
    /// Errors without a hint, by a part of their text, and why nobody needs one.
    private static let allowed = [
        "The program is stopping.": "it ends by the wish of who reads it",
        "The offer was given up.": "told to the caller that has cancelled it, never shown",
    ]

    private static var sources: [URL] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        let files = FileManager.default.enumerator(at: folder.standardized, includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
    }

    /// What stands between the parentheses that begin before `text`; they pair up in our texts as well.
    private static func arguments(_ text: Substring) -> String {
        var depth = 1
        let end = text.firstIndex { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth == 0
        }
        return String(text[..<(end ?? text.endIndex)])
    }

    @Test("Every error has a hint, but for those of a short list")
    func everyErrorHasAHint() throws {
        var count = 0
        var used: Set<String> = []
        for file in Self.sources {
            let text = try String(contentsOf: file, encoding: .utf8)
            for place in text.ranges(of: "PeerConnectError(") {
                count += 1
                let arguments = Self.arguments(text[place.upperBound...])
                guard !arguments.contains("hint:") else { continue }
                let reason = Self.allowed.keys.first { arguments.contains($0) }
                if let reason { used.insert(reason) }
                #expect(reason != nil, "\(file.lastPathComponent): \(arguments)")
            }
        }
        #expect(count > 90, "the sources were not found")
        #expect(used == Set(Self.allowed.keys), "the list has what is no more")
    }
}
