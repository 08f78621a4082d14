import Foundation
import Glibc
import Testing

/// A terminal with one program in it that keeps a screen: what people see of what was written.
final class Tmux: Sendable {
    /// What is to be seen at one moment.
    struct Screen {
        /// From the top, without blanks at their ends.
        let rows: [String]
        let column: Int
        let row: Int

        /// The row with the cursor.
        var input: String { rows.indices.contains(row) ? rows[row] : "" }
        /// The row above the input.
        var status: String { rows.indices.contains(row - 1) ? rows[row - 1] : "" }
        /// The rows down to the cursor that are not empty.
        var filled: [String] { rows.filter { !$0.isEmpty } }
        /// All words, wherever a row ends.
        var words: String { Tmux.words(rows) }
    }

    /// Why there is none; `nil` when there is.
    static var obstacle: String? { access("/usr/bin/tmux", X_OK) == 0 ? nil : "needs tmux" }

    let columns: Int
    let rows: Int
    private let folder: String

    /// Starts the program; it ends when nobody holds the terminal any more.
    init(columns: Int, rows: Int, keeping history: Int = 2000, _ command: [String]) throws {
        folder = FileManager.default.temporaryDirectory.path + "/peerconnect-tmux-\(UUID().uuidString.prefix(8))"
        (self.columns, self.rows) = (columns, rows)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let settings = [
            "default-terminal tmux-256color", "history-limit \(history)", "status off",
            "remain-on-exit on", "escape-time 0",
        ]
        try settings.map { "set -g \($0)\n" }.joined().write(
            toFile: folder + "/settings", atomically: false, encoding: .utf8)
        let line = command.map { "'\($0)'" }.joined(separator: " ")
        try tmux("new-session -d -x \(columns) -y \(rows) \(line) </dev/null >/dev/null")
    }

    deinit {
        _ = try? tmux("kill-server")
        try? FileManager.default.removeItem(atPath: folder)
    }

    // Not by Foundation's processes, which wait for all that the tmux server keeps open.
    @discardableResult
    private func tmux(_ arguments: String) throws -> String {
        try Self.shell("/usr/bin/tmux -f '\(folder)/settings' -S '\(folder)/socket' \(arguments) 2>&1")
    }

    /// What a command of the shell says.
    static func shell(_ command: String) throws -> String {
        guard let pipe = popen(command, "r") else { throw Lab.Failure(text: "no shell") }
        defer { pclose(pipe) }
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// Types exactly this.
    func type(_ text: String) throws { try tmux("send-keys -l -- '\(text.replacing("'", with: "'\\''"))'") }

    /// Presses keys by tmux's names for them, such as `Enter`.
    func press(_ keys: String...) throws { try tmux("send-keys " + keys.joined(separator: " ")) }

    /// Types a line and enters it.
    func enter(_ line: String) throws {
        try type(line)
        try press("Enter")
    }

    var screen: Screen {
        get throws {
            let text = try tmux("display-message -p '#{cursor_x} #{cursor_y}' \\; capture-pane -p")
            let lines = Self.lines(text)
            let cursor = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
            guard cursor.count == 2 else { throw Lab.Failure(text: "no screen: \(text)") }
            return Screen(rows: Array(lines.dropFirst()), column: cursor[0], row: cursor[1])
        }
    }

    /// All lines since the start, those that have scrolled off too; what the terminal itself wrapped is one.
    var everything: [String] { get throws { Self.lines(try tmux("capture-pane -p -J -S -")) } }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Rows as one text: a row that continues a line begins with blanks, or with the bar.
    static func words(_ rows: [String]) -> String {
        rows.flatMap { $0.split(separator: " ") }.filter { $0 != "|" }.joined(separator: " ")
    }

    /// Looks again and again until this holds.
    @discardableResult
    func screen(
        within seconds: Double = 60, _ what: String, _ holds: (Screen) throws -> Bool
    ) async throws -> Screen {
        let clock = ContinuousClock(), limit = clock.now + .seconds(seconds)
        while true {
            let screen = try screen
            if try holds(screen) { return screen }
            guard clock.now < limit else {
                throw Lab.Failure(text: "never \(what):\n\(screen.rows.joined(separator: "\n"))")
            }
            try await clock.sleep(for: .milliseconds(30))
        }
    }

    /// Waits for the program's end; tmux shows it, but not always on the screen.
    func ends() async throws {
        try await screen("ended") { _ in try tmux("display-message -p '#{pane_dead}'").hasPrefix("1") }
    }

    /// The same for words anywhere on it.
    @discardableResult
    func shows(_ words: String, within seconds: Double = 60) async throws -> Screen {
        try await screen(within: seconds, "“\(words)”") { $0.words.contains(words) }
    }
}
