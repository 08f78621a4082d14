import Foundation
import Testing

/// Invitations that cross on the network: everyone types within 50 ms.
@Suite(
    "Crossing invitations", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct CrossingTests {
    /// Chat programs that see each other, in the order of their IDs.
    private func programs(_ count: Int, in lab: Lab) async throws -> [(name: String, program: Running)] {
        var all: [(id: String, name: String, program: Running)] = []
        for host in 1...count {
            let program = try await lab.chat(host)
            let id = try #require(program.first("ready")?.text("id"))
            all.append((id, "p\(host)", program))
        }
        for (_, name, program) in all {
            for other in all.map(\.name) where other != name {
                try await program.event("peer.found") { $0.name(of: "peer") == other }
            }
        }
        return all.sorted { Self.order($0.id).lexicographicallyPrecedes(Self.order($1.id)) }
            .map { ($0.name, $0.program) }
    }

    /// IDs are compared by their bytes; in base32 the letters come before the digits.
    private static func order(_ id: String) -> [UInt8] {
        id.utf8.map { $0 < UInt8(ascii: "a") ? $0 + 128 : $0 }
    }

    /// All invite all others, each at a moment of its own; gives who is in which chat then.
    private func cross(_ programs: [(name: String, program: Running)]) async throws -> [(chat: String?, host: String?)]
    {
        await withTaskGroup { group in
            for (name, program) in programs {
                let others = programs.map(\.name).filter { $0 != name }.joined(separator: " ")
                group.addTask {
                    // Not a wait: how far apart the lines are typed.
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 0...50)))
                    program.send("/invite \(others)")
                }
            }
        }
        var found: [(String?, String?)] = []
        for (_, program) in programs {
            let started = try await program.event("chat.started", within: 40)
            found.append((started.text("chat"), started.name(of: "host")))
        }
        return found
    }

    private func end(_ programs: [(name: String, program: Running)], host: String?) async throws {
        try #require(programs.first { $0.name == host }).program.send("/end")
        for (_, program) in programs { try await program.event("chat.ended") }
    }

    @Test("Two that invite each other are in one chat, hosted by the one with the smaller ID, 200 times")
    func mutual() async throws {
        let lab = try Lab(hosts: 2)
        defer { withExtendedLifetime(lab) {} }
        let programs = try await programs(2, in: lab)
        for round in 0..<200 {
            let found = try await cross(programs)
            #expect(found[0] == found[1], "round \(round)")
            #expect(found[0].host == programs[0].name, "round \(round)")
            try await end(programs, host: found[0].host)
        }
    }

    @Test("Three that invite each other are in one chat, 50 times")
    func threeWay() async throws {
        let lab = try Lab(hosts: 3)
        defer { withExtendedLifetime(lab) {} }
        let programs = try await programs(3, in: lab)
        for round in 0..<50 {
            let found = try await cross(programs)
            #expect(Set(found.map(\.chat)).count == 1, "round \(round): \(found)")
            #expect(Set(found.map(\.host)).count == 1, "round \(round): \(found)")
            try await end(programs, host: found[0].host)
        }
    }
}
