import Foundation

/// For tests that measure: hundreds of others start at the same moment, and what takes long beside them says nothing.
enum QuietMachine {
    /// So long after one has begun its load shows, and nobody else takes the machine for quiet.
    private static let apart = Duration.seconds(4)
    private static let turns = Turns()

    private actor Turns {
        private var last: ContinuousClock.Instant?

        /// Whether whoever asks may begin.
        func take(at now: ContinuousClock.Instant) -> Bool {
            if let last, now - last < QuietMachine.apart { return false }
            last = now
            return true
        }
    }

    /// Returns when half of the machine has been idle for a second and no other has just begun to measure, or after four minutes all
    /// the same.
    static func come() async throws {
        let clock = ContinuousClock(), limit = clock.now + .seconds(240)
        var before = try ticks()
        while clock.now < limit {
            try await clock.sleep(for: .seconds(1))
            let now = try ticks()
            let isQuiet = (now.idle - before.idle) * 2 >= now.all - before.all
            before = now
            if isQuiet, await turns.take(at: clock.now) { return }
        }
    }

    /// Of all processors since the start (proc(5), `/proc/stat`).
    private static func ticks() throws -> (idle: Int, all: Int) {
        let text = try String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let numbers = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Int($0) }
        // user, nice, system, idle, iowait, …
        return (numbers.count > 4 ? numbers[3] + numbers[4] : 0, numbers.reduce(0, +))
    }
}
