import Foundation
import Glibc
import PeerModel
import Testing

@testable import PeerTerminal

/// What is printed, in a terminal that people use.
@Suite(.timeLimit(.minutes(8)), .enabled(if: access("/usr/bin/tmux", X_OK) == 0, "needs tmux"))
struct TmuxTests {
    @Test("A link that is longer than the window is copied whole, and another width leaves the live area as it was")
    func link() throws {
        let link = "https://example.org/a/path/that/is/longer/than/forty/columns?and=has&some=words#and-ends"
        var screen = Screen(size: TerminalSize(columns: 40, rows: 10), palette: Palette(.indexed))
        var area = LiveArea()
        area.status = StyledText("chat with bob, you are ada", .quiet)
        area.input = InputView(prompt: "> ", characters: Array("typing"), cursor: 6)
        let line = StyledText("bob", .own) + StyledText(": look at \(link) when you can")
        let size = TerminalSize(columns: 40, rows: 10)
        let first = screen.draw(area.frame(for: size), printing: [line])
        screen.resize(to: TerminalSize(columns: 30, rows: 10))
        let second = screen.draw(area.frame(for: TerminalSize(columns: 30, rows: 10)), printing: ["after it"])
        let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-tmux-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(first).write(to: URL(filePath: folder + "/first"))
        try Data(second).write(to: URL(filePath: folder + "/second"))

        // Not by Foundation's processes, which wait for all that the tmux server keeps open.
        func tmux(_ arguments: String) throws -> String {
            let pipe = try #require(popen("/usr/bin/tmux -f /dev/null -S \(folder)/socket \(arguments) 2>&1", "r"))
            defer { pclose(pipe) }
            var text = "", buffer = [CChar](repeating: 0, count: 1024)
            while let line = fgets(&buffer, CInt(buffer.count), pipe) { text += String(cString: line) }
            return text
        }
        let steps = "stty -echo; cat \(folder)/first; read x; cat \(folder)/second; sleep 60"
        _ = try tmux("new-session -d -x 40 -y 10 \"trap '' WINCH; \(steps)\" </dev/null >/dev/null")
        defer { _ = try? tmux("kill-server") }
        func screenRows(until text: String) throws -> [String] {
            for _ in 0..<500 {
                let rows = try tmux("capture-pane -p -J").split(separator: "\n").map {
                    String($0.reversed().drop { $0 == " " }.reversed())
                }
                if rows.contains(text) { return rows }
                usleep(20_000)  // what cat writes reaches the screen in its own time
            }
            Issue.record("it never shows “\(text)”")
            return []
        }
        let before = try screenRows(until: "> typing")
        #expect(before == ["bob: look at", "  " + link, "  | when you can", "chat with bob, you are ada", "> typing"])
        _ = try tmux("set-option window-size manual")
        _ = try tmux("resize-window -x 30 -y 10")
        _ = try tmux("send-keys Enter")
        let after = try screenRows(until: "after it")
        #expect(after.contains("  " + link))
        #expect(after.suffix(3) == ["after it", "chat with bob, you are ada", "> typing"])
    }
}
