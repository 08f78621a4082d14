import Foundation
import Testing

/// A name that changes while the program runs.
@Suite(
    "A new name on real hosts", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct RenamingTests {
    @Test("Others see the new name within 3 s, under the same ID and number, and both sides get the same words")
    func renames() async throws {
        let lab = try Lab(hosts: 2)
        let (one, two) = (try await lab.chat(1), try await lab.chat(2))
        let found = try await two.event("peer.found") { $0.name(of: "peer") == "p1" }
        try await one.event("peer.found") { $0.name(of: "peer") == "p2" }
        one.send("/name Ada Lovelace")
        try await one.event("reply") { $0["ok"] as? Bool == true }
        // However the network tells it, the list is right in the end.
        let seen = try await two.event(oneOf: ["peer.updated", "peer.found"], within: 3) {
            $0.name(of: "peer") == "Ada Lovelace"
        }
        #expect(seen["number"] as? Int == found["number"] as? Int)
        #expect((seen["peer"] as? Running.Event)?.text("id") == (found["peer"] as? Running.Event)?.text("id"))

        two.send("/invite 'Ada Lovelace'")
        try await one.event("invite.received")
        one.send("/accept")
        let chat = try await two.event("chat.started")
        let members = try #require(chat["members"] as? [Running.Event])
        #expect(members.map { $0.text("name") } == ["Ada Lovelace"])
        one.send("/name p1")
        try await one.event("reply") { $0.text("code") == "busy" }

        one.send("/verify p2")
        two.send("/verify 'Ada Lovelace'")
        let words = try await one.event("reply") { $0["words"] != nil }
        let others = try await two.event("reply") { $0["words"] != nil }
        #expect(words["words"] as? [String] == others["words"] as? [String])

        for program in [one, two] { program.send("/quit") }
        for program in [one, two] { _ = try await program.exitStatus() }
        let again = try lab.run(1, "id", "list")
        #expect(try await again.exitStatus() == 0 && again.lines.first?.hasPrefix("Ada Lovelace\t") == true)
    }
}
