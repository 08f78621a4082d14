import Foundation
import PeerModel
import Testing

@testable import PeerConnectCLI

/// What a run keeps and shows by its settings and options.
@Suite(.timeLimit(.minutes(8)))
struct KeepingTests {
    private let me, ada: Peer

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
    }

    /// A chat in which something is said and a file received, at a time in milliseconds.
    private func talked(
        _ text: String, _ number: UInt8 = 3, at time: Int64 = 1_796_000_000_000, settings: String? = nil,
        in owner: ScriptedHome? = nil, _ options: String...
    ) async throws -> Stage {
        let node = ScriptedSession(me: me), chat = try chatID(number), transfer = try transferID(number)
        node.emit(
            .chatStarted(chat: chat, role: .member, host: ada, members: [me]),
            .message(ChatMessage(chat: chat, seq: 1, from: ada, text: text, sent: 0, ref: nil, line: nil)),
            .fileOffered(
                FileOffer(
                    number: 1, chat: chat, transfer: transfer, from: ada, to: [me], isMine: false,
                    summary: OfferSummary(name: "plan.pdf", size: 9, files: 1), line: nil)))
        let stage = Stage(home: ScriptedHome(node: node, settings: settings, in: owner))
        var world = stage.world()
        let console = world.console
        world.console = Console(writeOut: console.writeOut, writeErr: console.writeErr, now: { time })
        #expect(await execute(["chat"] + options, in: world) == 0)
        return stage
    }

    private func other(_ stage: Stage) -> Stage {
        Stage(home: ScriptedHome(node: ScriptedSession(me: me), in: stage.home))
    }

    @Test(
        "Without history nothing of a chat is written, but who is known is; unfinished transfers are looked for as ever",
        arguments: [("{history: false}", []), (nil, ["--no-history"])] as [(String?, [String])])
    func noHistory(settings: String?, options: [String]) async throws {
        let kept = try await talked("heron")
        let quiet =
            if options.isEmpty {
                try await talked("heron", settings: settings)
            } else {
                try await talked("heron", 3, "--no-history")
            }
        #expect(FileManager.default.fileExists(atPath: kept.home.stateFolder + "/history.db"))
        #expect(!FileManager.default.fileExists(atPath: quiet.home.stateFolder + "/history.db"))
        let peers = other(quiet)
        #expect(await peers.run("peers") == 0)
        #expect(peers.out.contains(ada.id.description))
        // What continues one is in these folders.
        let (mine, theirs) = (quiet.home.sessions.map(\.settings), kept.home.sessions.map(\.settings))
        #expect(mine.map(\.downloads) == theirs.map(\.downloads) && mine.map(\.spools) == theirs.map(\.spools))
    }

    @Test("What is older than the days of the settings is dropped when a chat begins")
    func days() async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000), day: Int64 = 86_400_000
        let first = try await talked("old heron", 3, at: now - 2 * day)
        _ = try await talked("new heron", 4, at: now - day / 2, settings: "{'history-days': 1}", in: first.home)
        let search = other(first)
        #expect(await search.run("history", "search", "heron") == 0)
        #expect(search.outLines.count == 1 && search.out.contains("new heron"), "\(search.out)")
    }

    @Test("Files are records in JSON, and clearing says nothing there but its end")
    func json() async throws {
        let first = try await talked("heron"), files = other(first)
        #expect(await files.run("history", "files", "plan", "--json") == 0)
        #expect(files.outLines.count == 2 && files.err.isEmpty)
        #expect(files.outLines[0].hasPrefix(#"{"event":"history.file""#))
        #expect(files.outLines[0].contains(#""name":"plan.pdf","size":9,"files":1"#))
        #expect(files.outLines[1].hasPrefix(#"{"event":"exit""#) && files.outLines[1].contains(#""code":0"#))
        let clear = other(first)
        #expect(await clear.run("history", "clear", try chatID(3).description, "--yes", "--json") == 0)
        #expect(clear.outLines.count == 1 && clear.out.hasPrefix(#"{"event":"exit""#) && clear.err.isEmpty)
        let nothing = other(first)
        #expect(await nothing.run("history", "files", "--json") == 0)
        #expect(nothing.outLines.count == 1)
    }

    @Test(
        "Lines only by the setting, and where output is redirected though input is typed",
        arguments: [("{plain: true}", true), (nil, false), ("{plain: false}", false)] as [(String?, Bool)])
    func plain(settings: String?, outIsTerminal: Bool) async {
        let terminal = ScriptedTerminal()
        let home = ScriptedHome(
            node: ScriptedSession(me: me), stored: [StoredIdentity(peer: me, isCurrent: true)], settings: settings)
        let stage = Stage(home: home)
        var world = stage.world(
            input: ScriptedInput([.text("/quit")]), isTerminal: true, terminal: outIsTerminal ? terminal : nil,
            environment: ["TERM": "xterm"])
        world.openTerminal = { terminal }
        #expect(await execute(["chat"], in: world) == 0)
        #expect(terminal.output.isEmpty && stage.err.contains("You are me"))
    }

    @Test("Trust needs a list, which is made for who has an identity, and only by trusting or blocking")
    func trustFirst() async {
        let node = ScriptedSession(me: me)
        let home = ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)])
        let files = FileManager.default
        for words in [["untrust", ada.id.description], ["verify", ada.id.description], ["list"]] {
            _ = await execute(["peers"] + words, in: Stage(home: home).world())
            #expect(!files.fileExists(atPath: home.folder), "\(words)")
        }
        let stage = Stage(home: home)
        #expect(await stage.run("peers", "block", ada.id.description) == 0)
        #expect(stage.out.contains("\tblocked\t") && !files.fileExists(atPath: home.stateFolder))
    }
}
