import CSQLite
import Foundation
import PeerModel
import Testing

@testable import PeerConnectCLI

/// The history and the known peers: written by one run, read by others.
@Suite(.timeLimit(.minutes(8)))
struct HistoryCommandTests {
    private let me, ada, eve: Peer
    private let chat: ChatID

    init() throws {
        me = try peer("me", 9)
        ada = try peer("Ada", 1)
        eve = try peer("ada", 2)
        chat = try chatID(3)
    }

    private func message(_ seq: UInt64, _ from: Peer, _ text: String) -> NodeEvent {
        .message(ChatMessage(chat: chat, seq: seq, from: from, text: text, sent: 0, ref: nil, line: nil))
    }

    /// A chat with Ada in which something was said and offered.
    private func talked(_ options: String..., input: [String] = []) async throws -> Stage {
        let transfer = try transferID(7)
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])]
        snapshot.chats = [(chat, .member, ada, [me])]
        let node = ScriptedSession(me: me, snapshot: snapshot)
        node.emit(
            .chatStarted(chat: chat, role: .member, host: ada, members: [me]),
            message(1, ada, "the heron\nhas landed"), message(2, me, "Gänsehaut"),
            .fileOffered(
                FileOffer(
                    number: 1, chat: chat, transfer: transfer, from: ada, to: [me], isMine: false,
                    summary: OfferSummary(name: "plan.pdf", size: 9, files: 1), line: nil)),
            .fileReceived(
                ReceivedFiles(transfer: transfer, from: ada, paths: ["/d/plan.pdf"], size: 9, mended: [], skipped: [])))
        let stage = Stage(home: ScriptedHome(node: node))
        let input = ScriptedInput(input.map { .text($0) })
        #expect(await execute(["chat"] + options, in: stage.world(input: input)) == 0)
        return stage
    }

    /// The rest of what is stored, seen by another run.
    private func other(_ stage: Stage, stored: [StoredIdentity] = []) -> Stage {
        Stage(home: ScriptedHome(node: ScriptedSession(me: me), stored: stored, in: stage.home))
    }

    @Test("A chat is listed, shown, found and its files too")
    func stored() async throws {
        let first = try await talked()
        let list = other(first)
        #expect(await list.run("history") == 0)
        let id = chat.description.prefix(8)
        #expect(list.out == "\(id)\t2026-11-30 00:53\tAda\t2 messages, 1 file\n")
        #expect(list.err == "The history is in \(first.home.folder)/state/history.db.\n")
        let show = other(first)
        #expect(await show.run("history", "show", String(id)) == 0)
        #expect(show.out.contains("3 Ada: the heron\n  | has landed\n"))
        #expect(show.out.contains("3 Ada offered “plan.pdf”, 9 bytes.\n"))
        #expect(show.out.contains("Received /d/plan.pdf."))
        #expect(show.err == "To invite them again, type this in the chat program:\n/invite \(ada.id)\n")
        let search = other(first)
        #expect(await search.run("history", "search", "GANS") == 0)
        #expect(search.out == "\(id) 2026-11-30 00:53 me: Gänsehaut\n")
        let files = other(first)
        #expect(await files.run("history", "files", "plan") == 0)
        #expect(files.out.hasSuffix("\tAda\t“plan.pdf”, 9 bytes\t/d/plan.pdf\treceived\n"))
        let nothing = other(first)
        #expect(await nothing.run("history", "files", "nothing") == 0)
        #expect(nothing.out == "")
    }

    @Test("The group of a chat is invited again by the line that the history gives")
    func again() async throws {
        let bob = try peer("bob", 4), node = ScriptedSession(me: me)
        node.emit(
            .chatStarted(chat: chat, role: .host, host: me, members: [ada, bob]),
            .memberLeft(chat: chat, member: bob, reason: .left), message(3, ada, "bye"))
        let first = Stage(home: ScriptedHome(node: node))
        #expect(await first.run("chat") == 0)
        let show = other(first)
        #expect(await show.run("history", "show", String(chat.description.prefix(8))) == 0)
        let line = try #require(show.err.split(separator: "\n").last)
        let chat = other(first)
        _ = await chat.run("chat", input: [String(line)]) {
            chat.home.node.emit(.inviteDone(chat: nil, answers: [], line: 1))
        }
        let all = [ada, bob].map { "PeerModel.PeerReference(text: \"\($0.id)\")" }.joined(separator: ", ")
        #expect(chat.home.node.commands == ["invite([\(all)])"])
    }

    @Test("What was said before one came is shown as such, with its author's time")
    func earlier() async throws {
        let node = ScriptedSession(me: me)
        node.emit(
            .chatStarted(chat: chat, role: .member, host: ada, members: [me]),
            .message(
                ChatMessage(
                    chat: chat, seq: 2, from: ada, text: "welcome", sent: 1000, isEarlier: true, ref: nil, line: nil)))
        let first = Stage(home: ScriptedHome(node: node))
        #expect(await first.run("chat", input: ["/history welcome"]) == 0)
        #expect(first.out.contains("1970-01-01 00:00 Ada, earlier: welcome\n"))
        let json = other(first)
        #expect(await json.run("history", "search", "welcome", "--json") == 0)
        #expect(json.outLines[0].contains(#""mine":false,"earlier":true}"#))
    }

    @Test("How an offer ended is shown for each recipient, and never in the column for paths")
    func endings() async throws {
        let bob = try peer("bob", 4), transfer = try transferID(7), node = ScriptedSession(me: me)
        node.emit(
            .chatStarted(chat: chat, role: .host, host: me, members: [ada, bob]),
            .fileOffered(
                FileOffer(
                    number: 1, chat: chat, transfer: transfer, from: me, to: [ada, bob], isMine: true,
                    summary: OfferSummary(name: "plan.pdf", size: 9, files: 1), line: nil)),
            .fileAnswered(transfer: transfer, peer: bob, accepted: false, automatic: false),
            .fileDone(
                transfer: transfer,
                results: [
                    TransferResult(peer: ada, status: .cancelled), TransferResult(peer: bob, status: .declined),
                ], line: nil))
        let first = Stage(home: ScriptedHome(node: node))
        _ = await first.run("chat", input: ["/files"])
        #expect(first.out.contains(", you offered “plan.pdf”, 9 bytes: Ada cancelled, bob declined.\n"))
        let show = other(first)
        #expect(await show.run("history", "show", chat.description) == 0)
        #expect(show.out.contains(" Finished with “plan.pdf”. bob declined. Ada stopped it.\n"), "\(show.out)")
        let files = other(first)
        #expect(await files.run("history", "files") == 0)
        #expect(files.out.hasSuffix("\tme\t“plan.pdf”, 9 bytes\t\tAda cancelled, bob declined\n"), "\(files.out)")
    }

    @Test("As JSON each is a record")
    func json() async throws {
        let first = try await talked(), show = other(first)
        #expect(await show.run("history", "show", chat.description, "--json") == 0)
        let a = #"{"id":"\#(ada.id)","name":"Ada"}"#
        #expect(show.outLines.count == 5)
        #expect(show.outLines[0].contains(#""event":"history.chat""#) && show.outLines[0].contains(#""host":\#(a)"#))
        #expect(show.outLines[1].contains(#""event":"history.message""#))
        #expect(show.outLines[1].contains(#""seq":1,"from":\#(a),"text":"the heron\nhas landed""#))
        #expect(show.outLines[2].contains(#""mine":true"#))
        #expect(show.outLines[3].contains(#""event":"history.file""#))
        #expect(show.outLines[3].contains(#""paths":["/d/plan.pdf"]"#))
    }

    @Test("Clearing asks, or is told yes; what is gone is not found")
    func clear() async throws {
        let first = try await talked()
        for answer in ["", "y", "no"] {
            let asked = other(first)
            #expect(await asked.run("history", "clear", "--all", input: [answer], isTerminal: true) == 4)
            #expect(asked.err.hasPrefix("Remove all chats"))
        }
        let unknown = other(first)
        #expect(await unknown.run("history", "clear", "zzz", "--yes") == 1)
        #expect(unknown.err.contains("There is no chat “zzz” in the history."))
        let cleared = other(first)
        #expect(await cleared.run("history", "clear", chat.description, input: ["yes"], isTerminal: true) == 0)
        let after = other(first)
        #expect(await after.run("history", "search", "heron") == 0)
        #expect(after.out == "")
    }

    @Test("Without history none is made, and nothing that was said is anywhere; the peer is known all the same")
    func noHistory() async throws {
        let first = try await talked("--no-history", input: ["/history heron"])
        #expect(first.err.contains("No history is kept in this run."))
        #expect(!FileManager.default.fileExists(atPath: first.home.stateFolder))
        let list = other(first)
        #expect(await list.run("history") == 0)
        #expect(list.out == "" && list.err == "There is no history yet.\n")
        #expect(await list.run("peers") == 0)
        #expect(list.out.hasPrefix("Ada\t\(ada.id)\tknown\t2026"))
    }

    @Test("Reading makes nothing")
    func readsOnly() async throws {
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: me)))
        let lines = [
            ["history"], ["history", "search", "x"], ["peers"], ["browse"], ["config"], ["transfers"], ["id", "list"],
        ]
        for line in lines {
            #expect(await execute(line, in: stage.world()) == 0)
        }
        #expect(await stage.run("history", "show", "x") == 1)
        for verb in ["forget", "trust", "block"] { #expect(await stage.run("peers", verb, "\(ada.id)") == 3) }
        #expect(stage.err.hasSuffix("  peerconnect id new NAME makes one; then type this again.\n"))
        #expect(!FileManager.default.fileExists(atPath: stage.home.folder))
    }

    @Test(
        "A damaged database is an error at the start, and stays as it is",
        arguments: ["state/history.db", "data/peers.db"])
    func damaged(file: String) async throws {
        let first = try await talked(), path = first.home.folder + "/" + file
        for extra in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + extra) }
        let junk = Data(String(repeating: "not a database ", count: 1000).utf8)
        try junk.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let again = other(first)
        #expect(await again.run("chat") == 6)
        #expect(again.err.contains(path))
        #expect(try Data(contentsOf: URL(filePath: path)) == junk)
        #expect(again.home.node.isStopped)
    }

    @Test("What could not be stored in the end is said, as the last before the exit")
    func unstored() async throws {
        let first = try await talked()
        let node = ScriptedSession(me: me)
        let held = Stage(home: ScriptedHome(node: node, in: first.home))
        let other = try chatID(4), blocker = try Blocker(first.home.folder + "/state/history.db")
        let status = await execute(
            ["chat", "--json"],
            in: held.world(
                input: ScriptedInput([]) {
                    blocker.hold()
                    node.emit(.chatStarted(chat: other, role: .host, host: me, members: [ada]))
                }))
        #expect(status == 0)
        let last = held.outLines.suffix(2)
        #expect(last.first?.contains(#""event":"error""#) == true)
        #expect(last.first?.contains("1 entry could not be stored: The database ") == true)
        #expect(last.last?.contains(#""event":"exit""#) == true)
    }

    @Test("At the prompt the history of the chat, a search, the files and trust are answered")
    func prompt() async throws {
        let stage = try await talked(
            input: ["/history", "/history nothing", "/files plan", "/block Ada", "/unblock Ada", "/trust Ada"])
        #expect(stage.out.contains("3 me: Gänsehaut\nNothing is found.\n"))
        let file = "2026-11-30 00:53, Ada offered “plan.pdf”, 9 bytes: received, /d/plan.pdf.\n"
        #expect(stage.out.contains(file + "Ada (\(ada.id.short)) is blocked; whatever it wants is declined.\n"))
        #expect(stage.out.contains("Ada (\(ada.id.short)) is trusted.\n"))
        let peers = other(stage)
        #expect(await peers.run("peers") == 0)
        #expect(peers.out.contains("\ttrusted\t"))
        // The node was told: at the start nobody, at the end a trusted peer.
        #expect(stage.home.node.known.first?.list.isEmpty == true)
        #expect(stage.home.node.known.contains { $0.isBlocked(ada.id) })
        #expect(stage.home.node.known.last?.isTrusted(ada.id) == true)
    }

    @Test("Peers are trusted, blocked and forgotten by name, start of ID or full ID")
    func peers() async throws {
        let first = try await talked()
        let steps: [([String], Int32, String)] = [
            (["trust", "ada"], 0, "trusted"), (["unblock", "ADA"], 0, "trusted"),
            (["untrust", ada.id.short], 0, "known"),
            (["block", String(ada.id.description.prefix(8))], 0, "blocked"), (["untrust", "ada"], 0, "blocked"),
            (["unblock", ada.id.description], 0, "known"), (["trust", "nobody"], 3, ""),
            (["trust", "10.0.0.7"], 3, ""),
            (["forget", "ada"], 0, "new"), (["forget", "ada"], 3, ""), (["block", eve.id.description], 0, "blocked"),
            (["unblock", eve.id.description], 0, "new"),
        ]
        for (words, code, standing) in steps {
            let stage = other(first)
            #expect(await execute(["peers", "--json"] + words, in: stage.world()) == code, "\(words)")
            if code == 0 { #expect(stage.outLines[0].contains(#""known":"\#(standing)""#), "\(words): \(stage.out)") }
        }
        let list = other(first)
        #expect(await list.run("peers") == 0)
        #expect(list.err == "Nobody is known yet.\n")
    }

    @Test("An identity's chats are told apart by its name")
    func identities() async throws {
        let first = try await talked()
        let stored = [StoredIdentity(peer: me, isCurrent: true), StoredIdentity(peer: eve, isCurrent: false)]
        let mine = other(first, stored: stored), theirs = other(first, stored: stored)
        #expect(await mine.run("history", "--name", "me") == 0)
        #expect(mine.outLines.count == 1)
        #expect(await theirs.run("history", "--name", "ada") == 0)
        #expect(theirs.out == "")
        #expect(await theirs.run("history", "--name", "nobody") == 2)
    }
}

/// Another program's connection to a database, that can keep everyone from writing.
private final class Blocker: @unchecked Sendable {  // used by one after the other
    private let connection: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
            throw FixtureError()
        }
        connection = opened
    }

    func hold() { sqlite3_exec(connection, "BEGIN IMMEDIATE", nil, nil, nil) }

    deinit { sqlite3_close_v2(connection) }
}
