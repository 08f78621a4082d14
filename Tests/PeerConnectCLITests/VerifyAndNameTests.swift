import Foundation
import PeerConnect
import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

@Suite(.timeLimit(.minutes(8)))
struct VerifyAndNameTests {
    private let me, ada: Peer
    /// Those of the IDs of 32 ones and 32 nines, from an implementation of another hand (Python's hashlib).
    private let words = "sina niro ralo visu giso duva bini zisa nusa gila boru pasu"

    init() throws {
        me = try peer("me", 9)
        ada = try peer("ada", 1)
    }

    private func stage(
        snapshot: NodeSnapshot = NodeSnapshot(), renameError: PeerConnectError? = nil,
        stored more: [StoredIdentity] = []
    ) -> Stage {
        let node = ScriptedSession(me: me, snapshot: snapshot, renameError: renameError)
        return Stage(home: ScriptedHome(node: node, stored: [StoredIdentity(peer: me, isCurrent: true)] + more))
    }

    private func listed() -> NodeSnapshot {
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 3, isBusy: false, kind: "chat", addresses: [])]
        return snapshot
    }

    @Test("Both sides get the same twelve words, which are those of the two IDs in the order of their bytes")
    func words() async throws {
        #expect(try await Verification.words(for: me.id, and: ada.id).joined(separator: " ") == words)
        #expect(try await Verification.words(for: ada.id, and: me.id).joined(separator: " ") == words)
        let other = try await Verification.words(for: ada.id, and: try peer("x", 2).id)
        #expect(other.count == 12 && other.joined(separator: " ") != words)
    }

    @Test("At the prompt the words end with the line that trusts exactly this peer")
    func prompt() async throws {
        let stage = stage(snapshot: listed())
        #expect(await stage.run("chat", input: ["/verify ada", "/who"]) == 0)
        let rows = words.split(separator: " ")
        #expect(stage.outLines[1] == "  " + rows[0..<4].joined(separator: " "))
        #expect(stage.outLines[4].hasSuffix("Then type /trust 3"))
        #expect(stage.err.contains("There is no chat."), "the next line had its turn")
        let json = self.stage(snapshot: listed())
        #expect(await json.run("chat", "--json", input: ["/verify ada"]) == 0)
        let list = rows.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(json.out.contains(#""line":1,"ok":true,"peer":{"id":"\#(ada.id)","name":"ada"},"words":[\#(list)]"#))
    }

    @Test("On the command line a full ID will do, and the line to type names it")
    func command() async throws {
        let stage = stage()
        #expect(await stage.run("peers", "verify", ada.id.description) == 0)
        #expect(stage.outLines.count == 5 && stage.outLines[4].hasSuffix("peerconnect peers trust \(ada.id)"))
        #expect(await stage.run("peers", "verify", me.id.description) == 3)
        #expect(await stage.run("peers", "verify") == 2)
        #expect(await stage.run("peers", "verify", "nobody") == 3)
        #expect(!FileManager.default.fileExists(atPath: stage.home.folder), "to verify makes nothing")
    }

    @Test("A new name at the prompt keeps the key, is stored, and is who one is from then on")
    func rename() async throws {
        let stage = stage()
        #expect(await stage.run("chat", input: ["/name Ada Lovelace"]) == 0)
        #expect(stage.out.contains("You are Ada Lovelace (\(me.id.short)) from now on; your key is the same.\n"))
        #expect(stage.home.identities().map(\.peer) == [Peer(id: me.id, name: "Ada Lovelace")])
        #expect(stage.home.node.me.name == "Ada Lovelace")
    }

    @Test("A name that has an identity is refused, and nothing has changed")
    func taken() async throws {
        let stage = stage(stored: [StoredIdentity(peer: ada, isCurrent: false)])
        #expect(await stage.run("chat", input: ["/name ada"]) == 0)
        #expect(stage.err.contains("There is an identity ada already."))
        #expect(stage.home.node.me == me)
    }

    @Test("What the network refuses is taken back from the store")
    func takenBack() async throws {
        let stage = stage(renameError: PeerConnectError(.busy, "Not now."))
        #expect(await stage.run("chat", input: ["/name Eve"]) == 0)
        #expect(stage.err.contains("Not now.") && stage.home.identities().map(\.peer) == [me])
    }

    @Test("In a chat the name stays")
    func inChat() async throws {
        let stage = stage()
        stage.home.node.emit(.chatStarted(chat: try chatID(3), role: .host, host: me, members: [ada]))
        let terminal = ScriptedTerminal()
        let world = stage.world(terminal: terminal, environment: ["TERM": "xterm"], sleep: terminal.sleep)
        let work = Task { await execute(["chat"], in: world) }
        await terminal.output(until: "hosting")
        terminal.type("/name Eve\r")
        await terminal.output(until: "Your name stays as it is during a chat.")
        terminal.send(.ended)
        #expect(await work.value == 0 && stage.home.identities().map(\.peer) == [me])
    }

    @Test("At a terminal the status line and mentions know the new name at once")
    func live() async throws {
        let stage = stage()
        let terminal = ScriptedTerminal()
        let world = stage.world(terminal: terminal, environment: ["TERM": "xterm"], sleep: terminal.sleep)
        let work = Task { await execute(["chat", "--color", "never"], in: world) }
        await terminal.output(until: "you are me,")
        terminal.type("/name Eve\r")
        await terminal.output(until: "you are Eve,")
        stage.home.node.emit(
            .message(
                ChatMessage(chat: try chatID(3), seq: 1, from: ada, text: "eve?", sent: 0, ref: nil, line: nil)))
        await terminal.output(until: "ada: eve?")
        terminal.send(.ended)
        #expect(await work.value == 0 && terminal.bells == 1)
    }
}
