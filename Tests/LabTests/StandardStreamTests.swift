import Foundation
import Testing

/// The built program where what it writes goes nowhere; needs no network.
@Suite("Standard output that is closed or full", .timeLimit(.minutes(8)))
struct StandardStreamTests {
    @Test(
        "It exits 1 and says why, and nothing it opens takes the place of what is closed; a reader that leaves is no news",
        arguments: [
            (">&-", "Standard output cannot be written: bad file descriptor.\n"),
            (">/dev/full", "Standard output cannot be written: no space left on device.\n"),
            ("| true", ""),
        ])
    func unwritable(redirection: String, message: String) throws {
        let home = FileManager.default.temporaryDirectory.path + "/peerconnect-out-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: home) }
        for command in ["config", "--help"] {
            let process = Process(), errors = Pipe()
            process.executableURL = URL(filePath: "/bin/bash")
            // By then the reader has left.
            let line = "sleep 0.2; exec \(Lab.binary) --home \(home) \(command)"
            process.arguments = ["-c", "set -o pipefail; (\(line)) \(redirection)"]
            process.standardError = errors
            try process.run()
            let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 1, "\(command)")
            #expect(
                said.hasPrefix(message) && said.contains("Standard output") == !message.isEmpty, "\(command): \(said)")
        }
    }
}
