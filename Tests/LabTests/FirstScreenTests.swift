import Foundation
import Testing

/// The built program in terminals that keep a screen, before there is a chat, on hosts with discovery.
@Suite(
    "The first screen", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: (Tmux.obstacle ?? Lab.obstacle) == nil, Comment(rawValue: Tmux.obstacle ?? Lab.obstacle ?? "")))
struct FirstScreenTests {
    private static let sizes = [(80, 24), (40, 10)]

    @Test("The first start says in less than ten lines who one is, who is here and what can be done")
    func firstStart() async throws {
        let lab = try Lab(hosts: 2), other = try await lab.chat(2)
        for (columns, rows) in Self.sizes {
            let terminal = try Tmux(
                columns: columns, rows: rows, lab.command(1, home: "/run/first-\(columns)", "chat"))
            try await terminal.shows("Your name, as others will see it")
            try terminal.enter("ada")
            // The one that ran here before may have had the first number.
            let screen = try await terminal.shows(" p2 you are ada, not in a chat")
            #expect(["Here: 1 p2", "Here: 2 p2"].contains { screen.words.contains($0) }, "\(screen.rows)")
            // A row that continues another begins with two blanks.
            let lines = try terminal.everything.filter { !$0.isEmpty && !$0.hasPrefix("  ") }
            #expect(lines.count < 10 && (columns < 80 || screen.filled.count < 10), "\(screen.rows)")
            for words in ["You are ada (", "Received files go to ", "/invite NAME starts a chat", "/help lists every"] {
                #expect(screen.words.contains(words), "\(screen.rows)")
            }
            #expect(screen.input == ">" && screen.column == 2)
            #expect(screen.status.hasPrefix("you are ada, not in a chat"))
            // The question for the name is in the terminal's own line mode, which wraps it.
            #expect(try terminal.everything.dropFirst().allSatisfy { $0.count <= columns })
            #expect(screen.rows.count == rows)
            try terminal.enter("/quit")
            try await terminal.ends()
        }
        withExtendedLifetime((lab, other)) {}
    }

    @Test("After ten seconds of an empty list the screen says what may be wrong, and half a line stays")
    func emptyList() async throws {
        let lab = try Lab(hosts: 2)
        for host in 1...2 { try lab.lan("cut", "\(host)") }
        let clock = ContinuousClock(), start = clock.now
        let terminals = try Self.sizes.enumerated().map { index, size in
            try Tmux(
                columns: size.0, rows: size.1,
                lab.command(index + 1, home: lab.home(index + 1), "chat", "--name", "ada", "--no-history"))
        }
        for terminal in terminals {
            try await terminal.shows("nobody else is here yet")
            try terminal.type("half a line")
        }
        for terminal in terminals {
            let screen = try await terminal.shows("peerconnect doctor looks which")
            #expect(clock.now - start >= .seconds(9))
            #expect(screen.words.contains("Nobody is seen yet: a firewall"))
            #expect(screen.input == "> half a line" && screen.column == 2 + 11)
            #expect(screen.status.hasPrefix("you are ada, nobody else is here yet"))
            #expect(try terminal.everything.allSatisfy { $0.count <= terminal.columns })
            #expect(screen.rows.count == terminal.rows)
        }
        withExtendedLifetime(lab) {}
    }
}
