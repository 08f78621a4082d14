import Foundation
import PeerModel
import Testing

@testable import PeerConnectCLI

@Suite("The command for unfinished transfers") struct TransfersCommandTests {
    private func stage() throws -> Stage { Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9)))) }

    @Test("Where nothing is unfinished it says so and gives nothing", arguments: ["list", "clean"])
    func nothing(verb: String) async throws {
        let stage = try stage()
        #expect(await stage.run("transfers", verb, "--into", "/nowhere/at/all") == 0)
        #expect(stage.out.isEmpty)
        #expect(stage.err == "Nothing is unfinished in /nowhere/at/all.\n")
    }

    @Test("What no record tells of is listed by what is known, and removed")
    func unknown() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-unfinished-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: folder + "/.peerconnect-partial/abcd", withIntermediateDirectories: true)
        let stage = try stage()
        #expect(await stage.run("transfers", "--into", folder) == 0)
        #expect(stage.out.hasPrefix("-\t0 %\t0 bytes\t2") && stage.out.hasSuffix("\t-\n"))
        #expect(await stage.run("transfers", "clean", "--into", folder, "--json") == 0)
        #expect(stage.outLines.last?.contains(#""event":"exit""#) == true)
        #expect(stage.outLines.contains { $0.contains(#""event":"transfer""#) && $0.contains(#""active":false"#) })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test("Other words are usage errors")
    func usage() async throws {
        let stage = try stage()
        #expect(await stage.run("transfers", "clear") == 2)
        #expect(stage.err.contains("did you mean clean?"))
        #expect(await stage.run("transfers", "list", "x") == 2)
    }
}
