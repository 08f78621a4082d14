import PeerModel
import Testing

@testable import PeerConnectCLI

/// What a script can rely on, whatever the command.
@Suite(.timeLimit(.minutes(8)))
struct ScriptTests {
    private func stage() throws -> Stage { Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9)))) }

    @Test(
        "With --json a wrong command line is an error and the exit, wherever the option stands",
        arguments: [
            ["sedn", "--json"], ["--json", "--frobnicate"], ["chat", "--port", "x", "--json"], ["--json", "send", "a"],
            ["id", "new", "--json"],
        ])
    func usageAsJSON(line: [String]) async throws {
        let stage = try stage()
        #expect(await execute(line, in: stage.world()) == 2)
        #expect(stage.err == "" && stage.outLines.count == 2)
        #expect(stage.outLines[0].hasPrefix(#"{"event":"error","time":"#))
        #expect(stage.outLines[0].contains(#""code":"usage","message":""#) && stage.outLines[0].contains(#""hint":"#))
        #expect(stage.outLines[1].hasPrefix(#"{"event":"exit""#) && stage.outLines[1].hasSuffix(#""code":2}"#))
        let plain = try self.stage()
        #expect(await execute(["send", "--", "--json"], in: plain.world()) == 2)
        #expect(plain.out == "", "behind -- it is a path")
    }

    @Test(
        "What may run from a script never asks for a name: it takes the proposal, and says so once",
        arguments: [["send", "f", "--to", "ada", "--wait", "0"], ["receive", "--wait", "1"]])
    func neverAsks(line: [String]) async throws {
        let stage = try stage()
        let input = ScriptedInput([.text("Eve")])
        _ = await execute(line, in: stage.world(input: input, isTerminal: true))
        #expect(stage.home.sessions.map(\.name) == ["me@host"])
        #expect(stage.err.hasPrefix("Others see you as me@host; peerconnect id rename NAME changes it.\n"))
        #expect(await input.next() == .text("Eve"), "nothing was read")
        let again = Stage(home: stage.home)
        _ = await execute(line, in: again.world())
        #expect(!again.err.contains("Others see you"))
        let json = try self.stage()
        _ = await execute(line + ["--json"], in: json.world())
        #expect(!json.err.contains("Others see you") && !json.out.contains("Others see you"))
    }
}
