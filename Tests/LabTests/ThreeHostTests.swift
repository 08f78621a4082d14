import Foundation
import Glibc
import Testing

/// The main job on several hosts: real discovery, real processes of the built program.
@Suite(
    "Hosts of one network", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct ThreeHostTests {
    @Test("A member's line and files reach everyone, and the sender hears that they were verified")
    func mainJob() async throws {
        let lab = try Lab(hosts: 3)
        let big = lab.folder + "/big file.bin", tree = lab.folder + "/tree"
        try lab.makeFile(big, megabytes: 200)
        for index in 0..<500 {
            let folder = "\(tree)/d\(index % 20)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("\(index)\n".utf8 + [UInt8](repeating: UInt8(index % 256), count: index * 7))
                .write(to: URL(filePath: "\(folder)/f \(index) é.txt"))
        }
        try FileManager.default.createDirectory(atPath: tree + "/empty", withIntermediateDirectories: true)

        let programs = try await lab.group(3)
        programs[1].send("hello from two")
        for program in programs {
            let message = try await program.event("message")
            #expect(message.text("text") == "hello from two")
            #expect(message.name(of: "from") == "p2")
        }
        programs[1].send("/send '\(big)' '\(tree)'")
        let done = try await programs[1].event("file.done", within: 60)
        let results = try #require(done["results"] as? [Running.Event])
        #expect(results.map { $0.text("status") } == ["verified", "verified"])
        for host in [1, 3] {
            #expect(Lab.areEqual(big, lab.downloads(host) + "/big file.bin"))
            #expect(Lab.areEqual(tree, lab.downloads(host) + "/tree"))
        }
    }

    @Test("Who is in a chat answers busy; members leave, the host ends, and a new chat starts at once")
    func lives() async throws {
        let lab = try Lab(hosts: 4)
        let programs = try await lab.group(3)
        let stranger = try await lab.chat(4)
        try await stranger.event("peer.found") { $0.name(of: "peer") == "p1" }
        stranger.send("/invite p1")
        #expect(try await stranger.event("invite.answered", within: 1).text("answer") == "busy")
        programs[1].send("/leave")
        #expect(try await programs[2].event("member.left").text("reason") == "left")
        programs[2].send("still here")
        #expect(try await programs[0].event("message").text("text") == "still here")
        programs[0].send("/end")
        #expect(try await programs[2].event("chat.ended").text("reason") == "ended")
        programs[0].send("/invite p2 p3")
        for program in programs { try await program.event("chat.started") }
    }

    @Test("Killed members and hosts are called crashed, cut ones timed out, within 15 s")
    func losses() async throws {
        let lab = try Lab(hosts: 4)
        let programs = try await lab.group(4)
        programs[1].kill(SIGKILL)
        for program in [programs[0], programs[2]] {
            #expect(try await program.event("member.left").text("reason") == "crashed")
        }
        try lab.lan("cut", "3")
        #expect(try await programs[0].event("member.left").text("reason") == "timed-out")
        let alone = try await programs[2].event("chat.ended")
        #expect(alone.text("reason") == "host-lost")
        #expect(alone.text("cause") == "timed-out")
        programs[0].kill(SIGKILL)
        let end = try await programs[3].event("chat.ended")
        #expect(end.text("reason") == "host-lost")
        #expect(end.text("cause") == "crashed")
    }

    @Test(
        "The same with link-local IPv6 only, and an inviter that nobody can dial",
        arguments: DiscoveryTests.BackEnd.allCases)
    func narrow(backEnd: DiscoveryTests.BackEnd) async throws {
        let lab = try backEnd.lab(hosts: 3, "--ipv6-only")
        try lab.lan("shut", "1")
        let browse = try lab.run(2, "browse", "--json", "--for", "10")
        let programs = try await lab.group(3)
        for name in ["p1", "p3"] {
            try await browse.lists(name, within: 10)
            let addresses = browse.listed()[name] ?? []
            #expect(!addresses.isEmpty && addresses.allSatisfy { $0.hasPrefix("[fe80:") && $0.contains("%eth0]:") })
        }
        browse.kill(SIGTERM)
        programs[2].send("over one link")
        for program in programs { try await program.event("message") { $0.text("text") == "over one link" } }
        let file = lab.folder + "/ten.bin"
        try lab.makeFile(file, megabytes: 10)
        programs[2].send("/send \(file)")
        try await programs[2].event("file.done", within: 30)
        for host in [1, 2] { #expect(Lab.areEqual(file, lab.downloads(host) + "/ten.bin")) }
    }

    @Test("An address is enough without discovery")
    func typedAddress() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let guest = try await lab.chat(2, "--accept", "all", "--discovery", "off")
        let host = try await lab.chat(1, "--discovery", "daemon")
        #expect(try await host.event("discovery") { $0.text("state") == "down" }.text("reason") != nil)
        host.send("/invite 10.77.0.2")
        for program in [host, guest] { try await program.event("chat.started") }
    }

    @Test("The record is what other tools read, and theirs is listed")
    func interoperates() async throws {
        let lab = try Lab(hosts: 2)
        let program = try await lab.chat(1)
        try await program.event("discovery") { $0.text("state") == "published" }
        let seen = try lab.lan("exec", "2", "avahi-browse", "-rt", "_peerconnect._tcp")
        let id = try #require(try await lab.chatID(2))
        #expect(seen.contains("\"txtvers=1\"") && seen.contains("\"name=p1\"") && seen.contains("port = [27182]"))
        let script = """
            import socket, sys, time
            from zeroconf import ServiceInfo, Zeroconf
            z = Zeroconf(interfaces=["10.77.0.2"])
            z.register_service(ServiceInfo("_peerconnect._tcp.local.", "zoe x._peerconnect._tcp.local.", port=4000,
                addresses=[socket.inet_aton("10.77.0.2")], server="zoe.local.", properties={"txtvers": "1", "id": "\(id)",
                "name": "zoe", "pv": "1-1", "st": "idle", "kind": "chat", "run": "abcdefgh-1"}))
            sys.stdin.read()
            """
        let path = lab.folder + "/zoe.py"
        try Data(script.utf8).write(to: URL(filePath: path))
        let publisher = try lab.tool(2, "/usr/bin/python3", path)
        defer { publisher.endInput() }
        let found = try await program.event("peer.found", within: 18) { $0.name(of: "peer") == "zoe" }
        #expect((found["addresses"] as? [String])?.contains("10.77.0.2:4000") == true)
        let yan = try lab.tool(
            2, "/usr/bin/avahi-publish", "-s", "yan y", "_peerconnect._tcp", "4001", "txtvers=1",
            "id=" + String(repeating: "b", count: 51) + "a", "name=yan", "pv=1-1", "st=busy", "kind=chat",
            "run=abcdefgh-1")
        defer { yan.kill(SIGTERM) }
        let published = try await program.event("peer.found", within: 10) { $0.name(of: "peer") == "yan" }
        #expect((published["addresses"] as? [String])?.contains("10.77.0.2:4001") == true)
        #expect(published.text("state") == "busy")
    }

    @Test("One shot: a file goes from send to receive, and exit codes say how it went")
    func oneShot() async throws {
        let lab = try Lab(hosts: 2)
        let file = lab.folder + "/note.txt"
        try Data("hello\n".utf8).write(to: URL(filePath: file))
        let receiver = try lab.run(2, "receive", "--name", "inbox", "--accept", "all", "--once")
        let sender = try lab.run(1, "send", file, "--to", "inbox", "--wait", "15")
        #expect(try await sender.exitStatus() == 0)
        #expect(try await receiver.exitStatus() == 0)
        #expect(receiver.lines == [lab.downloads(2) + "/note.txt"])
        #expect(Lab.areEqual(file, lab.downloads(2) + "/note.txt"))
        let nobody = try lab.run(1, "send", file, "--to", "nobody", "--wait", "2")
        #expect(try await nobody.exitStatus() == 3)
        let refuser = try await lab.chat(2, "--accept-files", "none")
        let refused = try lab.run(1, "send", file, "--to", "p2", "--wait", "10")
        #expect(try await refused.exitStatus() == 4)
        refuser.endInput()
    }

    @Test("A name keeps its ID in every process, and another has another")
    func identities() async throws {
        let lab = try Lab(hosts: 1, "--no-avahi")
        let first = try await lab.chatID(1), again = try await lab.chatID(1)
        #expect(first != nil && first == again)
        let other = try lab.run(1, "chat", "--json", "--name", "someone else", "--discovery", "off")
        #expect(try await other.event("ready").text("id") != first)
    }
}
