import Foundation
import Testing

/// A name that changes while the program runs.
@Suite(
    "A new name on real hosts", .serialized, .timeLimit(.minutes(8)),
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
        let seen = try await two.event("peer.updated", within: 3) { $0.name(of: "peer") == "Ada Lovelace" }
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

        // It was the same peer all the time.
        #expect(two.all("peer.lost").isEmpty)
        for program in [one, two] { program.send("/quit") }
        for program in [one, two] { _ = try await program.exitStatus() }
        let again = try lab.run(1, "id", "list")
        #expect(try await again.exitStatus() == 0 && again.lines.first?.hasPrefix("Ada Lovelace\t") == true)
    }

    @Test(
        "The own advert is never listed, not after a rename nor under another name than was free, nor is the own port dialled",
        arguments: DiscoveryTests.BackEnd.allCases)
    func ownAdvert(backEnd: DiscoveryTests.BackEnd) async throws {
        let lab = try backEnd.lab(hosts: 2)
        let first = try await lab.chat(1)
        let id = try #require(first.first("ready")?.text("id"))
        first.send("/quit")
        #expect(try await first.exitStatus() == 0)
        // Somebody has the name on the network that this peer would take.
        let script = lab.folder + "/holder.py"
        try Data(Self.holder.utf8).write(to: URL(filePath: script))
        let holder = try lab.tool(2, "/usr/bin/python3", script, "10.77.0.2", "p1 \(id.prefix(8))")
        try await holder.event("ready")
        let other = try await lab.chat(2)
        let own = try await lab.chat(1, "--verbose")
        try await own.event("discovery") { $0.text("state") == "published" }
        try await own.comes("the collision", within: 10) {
            $0.errors.contains("the name p1 \(id.prefix(8)) is taken on the network")
        }
        try await own.lists("p2", within: 10)
        try await other.comes("its display name as it was", within: 10) { $0.listedNames()[id] == "p1" }
        for name in ["Ada Lovelace", "p1", "Ada"] {
            own.send("/name '\(name)'")
            let reply = try await own.event("reply")
            #expect(reply["ok"] as? Bool == true, "\(reply)")
            // A name that is taken costs a second round of asking for one.
            try await other.comes("the name \(name)", within: name == "p1" ? 6 : 3) {
                $0.listedNames()[id] == name
            }
            for address in ["127.0.0.1", "10.77.0.1:27182"] {
                own.send("/invite \(address)")
                let answer = try await own.event("invite.answered", within: 5)
                #expect(answer.text("reason") == "that is this peer itself")
                try await own.event("reply")
                try await own.event("invite.done")
            }
        }
        #expect(own.all("peer.found", "peer.updated").allSatisfy { $0.name(of: "peer") == "p2" })
        #expect(own.listedNames().count == 1 && own.count(of: "warning") == 0)
        holder.endInput()
    }

    /// Holds the name of an instance, and defends it (RFC 6762, section 8.1).
    private static let holder = """
        import socket, sys
        from zeroconf import ServiceInfo, Zeroconf
        address, name = sys.argv[1:]
        kind = "_peerconnect._tcp.local."
        z = Zeroconf(interfaces=[address])
        info = ServiceInfo(kind, f"{name}.{kind}", port=4000, server="holder.local.",
            addresses=[socket.inet_aton(address)], properties=dict(txtvers="1"))
        z.registry.async_add(info)
        z.send(z.generate_service_broadcast(info, None))
        print('{"event":"ready"}', flush=True)
        sys.stdin.read()
        z.unregister_all_services()
        z.close()
        """
}
