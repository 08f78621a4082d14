import Foundation
import Testing

/// How long a line takes from its author's Enter to the others' output, by the clock that all hosts of the lab share.
@Suite(
    "Latency of lines", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct LatencyTests {
    private static let clock = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Milliseconds of each line, ascending.
    private func delays(_ messages: [Running.Event]) throws -> [Double] {
        try messages.map { message in
            let shown = try Self.clock.parse(try #require(message.text("time")))
            let sent = try Self.clock.parse(try #require(message.text("sent")))
            return shown.timeIntervalSince(sent) * 1000
        }.sorted()
    }

    private func quantile(_ part: Double, _ sorted: [Double]) -> Double {
        sorted.isEmpty ? .infinity : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }

    @Test("Lines every 20 ms are on all screens within 100 ms, also while a file fills the 100 Mbit/s links")
    func whileSending() async throws {
        try await QuietMachine.come()
        let lab = try Lab(hosts: 3, "--rate", "100mbit")
        let programs = try await lab.group(3)
        let idle = try await talk(programs, lines: 50)
        #expect(quantile(0.99, idle) < 100, "idle: \(quantile(0.5, idle)), \(quantile(0.99, idle)) ms")

        let file = lab.folder + "/big"
        try lab.makeFile(file, megabytes: 120)
        programs[1].send("/send \(file)")
        try await programs[2].event("file.progress")
        let busy = try await talk(programs, lines: 200) { programs[1].count(of: "file.done") > 0 }
        #expect(busy.count >= 60, "the file was too small to measure beside it")
        #expect(quantile(0.99, busy) < 100, "busy: \(quantile(0.5, busy)), \(quantile(0.99, busy)) ms")
        let done = try await programs[1].event("file.done", within: 40)
        #expect((done["results"] as? [Running.Event])?.map { $0.text("status") } == ["verified", "verified"])
    }

    /// The third says lines, faster than anyone types; gives the delays at everyone.
    private func talk(
        _ programs: [Running], lines: Int, until isOver: () -> Bool = { false }
    ) async throws -> [Double] {
        var said = 0
        while said < lines, !isOver() {
            programs[2].send("line \(said)")
            said += 1
            try await Task.sleep(for: .milliseconds(20))  // the pace that is measured, not a wait
        }
        var messages: [Running.Event] = []
        for program in programs {
            for _ in 0..<said { messages.append(try await program.event("message")) }
        }
        return try delays(messages)
    }
}
