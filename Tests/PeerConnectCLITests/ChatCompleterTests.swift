import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Tab in a message.
struct ChatCompleterTests {
    private func completed(_ text: String) throws -> String {
        let me = try peer("me", 9), ada = try peer("ada", 1), anna = try peer("Anna Maria", 2),
            anne = try peer("Anne", 3)
        var board = LiveBoard(me: me)
        board.take(
            .chatStarted(chat: try chatID(3), role: .host, host: me, members: [ada, anna, anne]),
            at: Instant(nanoseconds: 1))
        let completer = ChatCompleter(board: board, names: NameBook(), paths: PathExpander(home: nil) { _ in [] })
        var editor = LineEditor()
        for character in text { _ = editor.handle(.text(String(character)), completer: completer.candidates) }
        if case .candidates(let words) = editor.handle(.tab, completer: completer.candidates) {
            return words.joined(separator: ", ")
        }
        return editor.text
    }

    @Test(
        "A word that begins a member's name becomes it, with a colon at the start of the line; an @ stays",
        arguments: [
            ("AD", "ada: "), ("ask ad", "ask ada "), ("ask @ad", "ask @ada "), ("@ad", "@ada "),
            ("a", "ada, Anna Maria, Anne"),
            ("an", "Ann"), ("Anna", "Anna Maria: "), ("anna m", "anna Maria: "), ("ask anna m", "ask anna Maria "),
            ("m", "m"), ("ask m", "ask m"), ("plain ", "plain "), ("", ""), ("me", "me"), ("//a", "//a"),
        ])
    func names(text: String, expected: String) throws { #expect(try completed(text) == expected) }
}
