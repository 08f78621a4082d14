import Foundation

/// For tests that measure: hundreds of others start at the same moment, and what takes long beside them says nothing.
enum QuietMachine {
    /// Returns when half of the machine has been idle for a second, or after three minutes all the same.
    static func come() async throws {
        let clock = ContinuousClock(), limit = clock.now + .seconds(180)
        var before = try ticks()
        while clock.now < limit {
            try await clock.sleep(for: .seconds(1))
            let now = try ticks()
            if (now.idle - before.idle) * 2 >= now.all - before.all { return }
            before = now
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
