import Foundation
import Glibc
import Testing

/// Peers that are listed and cannot be reached, and the way to them when they can.
@Suite(
    "Reaching peers", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct ReachingTests {
    @Test("A machine that died is hidden within 10 s of a failed invitation, and listed again when it is back")
    func ghost() async throws {
        let lab = try Lab(hosts: 2)
        let here = try await lab.chat(1), there = try await lab.chat(2, "--accept", "all")
        try await here.event("peer.found") { $0.name(of: "peer") == "p2" }
        try lab.lan("cut", "2")
        here.send("/invite p2")
        let answer = try await here.event("invite.answered", within: 5)
        #expect(answer.text("answer") == "unreachable")
        #expect(answer.text("reason")?.contains("perhaps a firewall there drops TCP port 27182") == true)
        #expect(try await here.event("peer.lost", within: 4).text("reason") == "unreachable")
        try lab.lan("heal", "2")
        // Asked again after 5, 15, … s.
        try await here.event("peer.found", within: 25) { $0.name(of: "peer") == "p2" }
        here.send("/invite p2")
        for program in [here, there] { try await program.event("chat.started") }
    }

    @Test("A member whose machine died in a chat is hidden after it; who answers stays listed")
    func deadMember() async throws {
        let lab = try Lab(hosts: 3)
        let programs = try await lab.group(3)
        try lab.lan("cut", "3")
        #expect(try await programs[0].event("member.left", within: 20).text("reason") == "timed-out")
        #expect(try await programs[0].event("peer.lost", within: 10).name(of: "peer") == "p3")
        programs[0].send("/end")
        try await programs[1].event("chat.ended")
        programs[0].send("/invite p2")
        for program in programs[..<2] { try await program.event("chat.started") }
    }

    @Test("A firewall at one side: the error names address, port and firewall, and the other direction works")
    func firewall() async throws {
        let lab = try Lab(hosts: 2)
        try lab.lan("shut", "2")
        let here = try await lab.chat(1, "--accept", "all"), there = try await lab.chat(2)
        try await here.event("peer.found") { $0.name(of: "peer") == "p2" }
        try await there.event("peer.found") { $0.name(of: "peer") == "p1" }
        here.send("/invite p2")
        let reason = try await here.event("invite.answered", within: 5).text("reason") ?? ""
        // The kernel may give up first, and then says so.
        let address = try #require(reason.components(separatedBy: "; ").first { $0.hasPrefix("10.77.0.2:27182: ") })
        #expect(address.contains("no answer in 4.75 s") || address.contains("timed out"))
        #expect(address.contains("perhaps a firewall"))
        there.send("/invite p1")
        for program in [here, there] { try await program.event("chat.started") }
    }

    @Test(
        "A port where nobody listens, a host that is not there and a network without a route: each is said as what it is"
    )
    func reasons() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let here = try await lab.chat(1, "--discovery", "off")
        for (address, reason) in [
            ("10.77.0.2:9", "10.77.0.2:9: connection refused"),
            ("10.77.0.200", "10.77.0.200:27182: no route to host"),
            ("10.99.0.1", "10.99.0.1:27182: network is unreachable"),
        ] {
            here.send("/invite \(address)")
            let answer = try await here.event("invite.answered", within: 5)
            #expect(answer.text("answer") == "unreachable" && answer.text("reason") == reason, "\(answer)")
        }
    }

    @Test("A host name that is answered late or never takes of the 5 s that an invitation has, and gets no more")
    func slowNames() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let script = lab.folder + "/names.py"
        try Data(Self.slowNames.utf8).write(to: URL(filePath: script))
        let server = try lab.tool(2, "/usr/bin/python3", script)
        try await server.event("ready")
        // Each host has a mount namespace of its own.
        try Data("nameserver 10.77.0.2\n".utf8).write(to: URL(filePath: lab.folder + "/resolv.conf"))
        try lab.lan("exec", "1", "mount", "--bind", lab.folder + "/resolv.conf", "/etc/resolv.conf")
        try lab.lan(
            "exec", "2", "nft",
            "table inet site { chain in { type filter hook input priority 0; tcp dport 27182 drop; }; }")
        let here = try await lab.chat(1, "--discovery", "off")
        for (name, reason) in [
            ("late.example", "10.77.0.2:27182: no answer in "),
            ("never.example", "never.example:27182: the name was not resolved in 4.75 s"),
        ] {
            here.send("/invite \(name)")
            let answer = try await here.event("invite.answered", within: 5.5)
            #expect(answer.text("reason")?.hasPrefix(reason) == true, "\(answer)")
        }
        server.kill(SIGKILL)
    }

    /// A name server for IPv4 that knows one name, and takes 3 s to say so.
    private static let slowNames = """
        import socket, threading
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("10.77.0.2", 53))
        print('{"event":"ready"}', flush=True)
        while True:
            query, asker = s.recvfrom(512)
            if b"late" not in query: continue
            end = query.index(0, 12) + 5
            isIPv4 = query[end - 3] == 1
            answer = query[:2] + bytes([0x81, 0x80, 0, 1, 0, isIPv4, 0, 0, 0, 0]) + query[12:end]
            if isIPv4: answer += bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 77, 0, 2])
            threading.Timer(3, s.sendto, [answer, asker]).start()
        """

    @Test("A peer that starts again at another port is reached at the new one")
    func movedPort() async throws {
        let lab = try Lab(hosts: 2)
        let here = try await lab.chat(1)
        let first = try await lab.chat(2, "--port", "28001")
        try await here.event("peer.found") { $0.name(of: "peer") == "p2" }
        first.kill(SIGKILL)
        _ = try await first.exitStatus()
        let second = try await lab.chat(2, "--port", "28002", "--accept", "all")
        // Lost and found again, or changed: both are right.
        try await here.event(oneOf: ["peer.updated", "peer.found"], within: 10) { event in
            (event["addresses"] as? [String])?.contains("10.77.0.2:28002") == true
        }
        here.send("/invite p2")
        for program in [here, second] { try await program.event("chat.started") }
    }

    @Test("A liar under a peer's ID, with 16 invented addresses more, is named and never reached, and the peer always")
    func liar() async throws {
        let lab = try Lab(hosts: 3)
        let here = try await lab.chat(1), there = try await lab.chat(2, "--accept", "all")
        let eve = try await lab.chat(3, "--accept", "all", "--discovery", "off")
        let id = try #require(there.first("ready")?.text("id"))
        let script = lab.folder + "/liar.py"
        try Data(Self.liar.utf8).write(to: URL(filePath: script))
        let liar = try lab.tool(3, "/usr/bin/python3", script, "10.77.0.3", id)
        try await liar.event("ready")
        try await here.comes("the liar's addresses", within: 10) { here in
            let addresses = here.addresses(of: id)
            return ["10.77.0.2:27182", "10.77.0.3:27182", "10.77.0.115:27182"].allSatisfy(addresses.contains)
        }
        for _ in 0..<5 {
            here.send("/invite \(id)")
            for program in [here, there] { try await program.event("chat.started", within: 2) }
            here.send("/end")
            for program in [here, there] { try await program.event("chat.ended") }
        }
        there.send("/quit")
        #expect(try await there.exitStatus() == 0)
        try await here.comes("the liar alone", within: 10) { !$0.addresses(of: id).contains("10.77.0.2:27182") }
        here.send("/invite \(id)")
        let answer = try await here.event("invite.answered", within: 5) { $0.text("answer") != "accepted" }
        #expect(answer.text("answer") == "wrong-key")
        #expect(answer.text("reason")?.contains("10.77.0.3:27182: another key is there") == true, "\(answer)")
        #expect(try await here.event("warning").text("message")?.hasPrefix("10.77.0.3:27182 says it is") == true)
        #expect(eve.count(of: "chat.started") == 0)
        liar.endInput()
    }

    /// Two adverts under the ID of another: one leads to this host, one to nobody.
    private static let liar = """
        import socket, sys
        from zeroconf import ServiceInfo, Zeroconf
        address, id = sys.argv[1:]
        kind = "_peerconnect._tcp.local."
        z = Zeroconf(interfaces=[address])
        def publish(label, addresses):
            info = ServiceInfo(kind, f"{label} {id[:8]}.{kind}", port=27182, server=f"{label}.local.",
                addresses=[socket.inet_aton(a) for a in addresses], properties=dict(txtvers="1", id=id, name="p2",
                pv="1-1", st="idle", kind="chat", run="abcdefgh-1"))
            z.registry.async_add(info)
            z.send(z.generate_service_broadcast(info, None))
        publish("here", [address])
        publish("nowhere", [f"10.77.0.{n}" for n in range(100, 116)])
        print('{"event":"ready"}', flush=True)
        sys.stdin.read()
        z.unregister_all_services()
        z.close()
        """

    @Test("Two programs with the same identity on two machines say so, and neither falls over")
    func clone() async throws {
        let lab = try Lab(hosts: 2)
        let first = try await lab.chat(1, "--name", "twin")
        // Two that ask for the same names in the same moment may both get none for a while.
        try await first.event("discovery") { $0.text("state") == "published" }
        try FileManager.default.copyItem(atPath: lab.home(1), toPath: lab.home(2))
        let second = try await lab.chat(2, "--name", "twin")
        #expect(first.first("ready")?.text("id") == second.first("ready")?.text("id"))
        for program in [first, second] {
            #expect(try await program.event("warning", within: 10).text("code") == "same-id")
        }
        #expect(first.count(of: "peer.found") == 0 && second.count(of: "peer.found") == 0)
        for program in [first, second] {
            program.send("/who")
            try await program.event("reply")
        }
    }
}
