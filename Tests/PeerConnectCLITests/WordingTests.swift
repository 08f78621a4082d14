import Foundation
import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Small things that are said, or were not.
@Suite(.timeLimit(.minutes(8)))
struct WordingTests {
    private let me, ada: Peer

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
    }

    private func stage(
        _ snapshot: NodeSnapshot = NodeSnapshot(), settings: String? = nil, in owner: ScriptedHome? = nil
    ) -> Stage {
        Stage(
            home: ScriptedHome(
                node: ScriptedSession(me: me, snapshot: snapshot), stored: [StoredIdentity(peer: me, isCurrent: true)],
                settings: settings, in: owner))
    }

    @Test("Where the settings are is said only of a file that is there")
    func config() async {
        let without = stage(), with = stage(settings: "{}")
        #expect(await without.run("config") == 0)
        let path = without.home.configFolder + "/config.json5"
        #expect(without.err == "There is no settings file; it would be \(path).\n")
        #expect(await with.run("config") == 0)
        #expect(with.err.hasPrefix("The settings are in "))
    }

    @Test("A search without a hit says so, and clearing says what was removed, or that nothing was")
    func history() async throws {
        let node = ScriptedSession(me: me), chat = try chatID(3)
        node.emit(
            .chatStarted(chat: chat, role: .member, host: ada, members: [me]),
            .message(ChatMessage(chat: chat, seq: 1, from: ada, text: "heron", sent: 0, ref: nil, line: nil)))
        let first = Stage(home: ScriptedHome(node: node))
        #expect(await first.run("chat") == 0)
        func said(_ arguments: String..., input: [String] = [], code: Int32 = 0) async -> String {
            let stage = stage(in: first.home)
            let world = stage.world(input: ScriptedInput(input.map { .text($0) }), isTerminal: true)
            #expect(await execute(["history"] + arguments, in: world) == code)
            #expect(stage.out.isEmpty)
            return stage.err
        }
        #expect(await said("search", "stork") == "Nothing is found.\n")
        #expect(await said("clear", "--all", input: ["no"], code: 4).hasSuffix("Nothing was removed.\n"))
        #expect(await said("clear", chat.description, input: ["yes"]).hasSuffix("1 chat removed.\n"))
        #expect(await said("clear", "--all", "--yes") == "All chats and the lines you entered are removed.\n")
    }

    @Test("What a command line lacks is said in words")
    func commandLine() async {
        let stage = stage()
        #expect(await stage.run("") == 2 && stage.err.hasPrefix("peerconnect: a command has no name;"))
        #expect(await stage.run("send", "/missing", "--to", "ada") == 2)
        #expect(stage.err.contains("peerconnect: /missing cannot be opened: no such file or directory; "))
        #expect(await stage.run("help") == 0)
        #expect(stage.out.contains("\n  help  ") && stage.out.contains("\n  version  "))
        #expect(await execute(["--name", nil, "id"], in: stage.world()) == 2)
        #expect(stage.err.contains("peerconnect: argument 2 is not valid UTF-8; "))
    }

    @Test("An apostrophe in a new name is one")
    func apostrophe() async {
        let stage = stage()
        #expect(await stage.run("chat", input: ["/name Ann O'Neil"]) == 0)
        #expect(stage.home.node.me.name == "Ann O'Neil")
    }

    @Test("One item is taken at a time, and oneself is not invited")
    func prompt() async {
        let stage = stage()
        #expect(await stage.run("chat", input: ["/accept 4 5", "/invite ME", "/invite \(me.id)"]) == 0)
        #expect(stage.err.contains("Usage is /accept [N|PEER], one at a time."))
        #expect(stage.err.ranges(of: "That is you yourself.").count == 2)
        #expect(stage.home.node.commands.isEmpty)
    }

    @Test("Only who is blocked is offered to be unblocked")
    func unblocks() throws {
        var board = LiveBoard(me: me)
        for (name, byte, known) in [("ada", 1, .trusted), ("adam", 2, .blocked)] as [(String, UInt8, Standing)] {
            board.take(
                .peerFound(
                    ListedPeer(
                        peer: try peer(name, byte), number: Int(byte), isBusy: false, kind: "chat", addresses: [],
                        known: known)), at: Instant(nanoseconds: 1))
        }
        let completer = ChatCompleter(board: board, names: NameBook(), paths: PathExpander(home: nil) { _ in [] })
        var editor = LineEditor()
        _ = editor.handle(.text("/unblock a"), completer: completer.candidates)
        _ = editor.handle(.tab, completer: completer.candidates)
        #expect(editor.text == "/unblock adam ")
    }
}
