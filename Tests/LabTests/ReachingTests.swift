import Foundation
import Glibc
import Testing

/// Peers that are listed and cannot be reached, and the way to them when they can.
@Suite(
    "Reaching peers", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct ReachingTests {
    @Test("A machine that died is hidden within 10 s of a failed invitation, and listed again when it is back")
    func ghost() async throws {
        let lab = try Lab(hosts: 2)
        let here = try await lab.chat(1), there = try await lab.chat(2, "--accept", "all")
        try await here.event("peer.found") { $0.name(of: "peer") == "p2" }
        try lab.lan("cut", "2")
        here.send("/invite p2")
        let answer = try await here.event("invite.answered", within: 7)
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
        let reason = try await here.event("invite.answered", within: 7).text("reason") ?? ""
        #expect(reason.contains("10.77.0.2:27182: no answer in 5 s, perhaps a firewall"))
        there.send("/invite p1")
        for program in [here, there] { try await program.event("chat.started") }
    }

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

    @Test("Two programs with the same identity on two machines say so, and neither falls over")
    func clone() async throws {
        let lab = try Lab(hosts: 2)
        let first = try await lab.chat(1, "--name", "twin")
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
