import Foundation
import PeerModel
import Testing

@testable import PeerConnectCLI

/// The question for the name, at a terminal.
@Suite(.timeLimit(.minutes(8)))
struct FirstRunTests {
    private func stage() throws -> Stage { Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9)))) }

    @Test("The first run at a terminal asks for the name until one works, and keeps the proposal for an empty line")
    func firstRun() async throws {
        let stage = try stage()
        #expect(await stage.run("chat", input: [String(repeating: "x", count: 64), "Ada"], isTerminal: true) == 0)
        #expect(stage.home.sessions.map(\.name) == ["Ada"])
        #expect(stage.err.contains("Your name, as others will see it [me@host]: That does not work"))
        let other = try self.stage()
        #expect(await other.run("chat", input: [""], isTerminal: true) == 0)
        #expect(other.home.sessions.map(\.name) == ["me@host"])
        #expect(other.home.identities().map(\.isCurrent) == [true])
    }

    @Test("Ctrl-D at the question for the name leaves, and nothing is made")
    func leavesFirstRun() async throws {
        let stage = try stage()
        #expect(await stage.run("chat", isTerminal: true) == 0)
        #expect(stage.home.sessions.isEmpty && stage.home.identities().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: stage.home.folder))
    }

    @Test("Where there are identities but none is the current one, they are named, and the first is proposed")
    func noCurrentIdentity() async throws {
        let node = ScriptedSession(me: try peer("me", 9))
        let stored = [
            StoredIdentity(peer: try peer("Ada", 9), isCurrent: false),
            StoredIdentity(peer: try peer("Bob", 8), isCurrent: false),
        ]
        let stage = Stage(home: ScriptedHome(node: node, stored: stored))
        #expect(await stage.run("chat", input: [""], isTerminal: true) == 0)
        #expect(stage.err.contains("You have the identities Ada and Bob; another name makes another.\n"))
        #expect(stage.err.contains("Your name, as others will see it [Ada]: "))
        #expect(stage.home.sessions.map(\.name) == ["Ada"])
    }
}
