import Foundation
import Glibc
import Testing

/// Two built programs on this machine alone, by address.
@Suite(
    "Large files", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: hasRoomForLargeFiles(), "needs 30 GB of free space, of which hardly any is used"))
struct LargeFileTests {
    @Test("Of a file of 20 GB the first bytes move at once: nothing is hashed ahead")
    func startsAtOnce() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-large-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(FileManager.default.createFile(atPath: folder + "/large", contents: nil))
        try #require(truncate(folder + "/large", 20_000_000_000) == 0)
        func program(_ name: String, _ options: String...) throws -> Running {
            try Running(
                name: name, script: Lab.binary, state: folder, home: folder,
                arguments: [
                    "chat", "--json", "--home", "\(folder)/\(name)", "--name", name, "--discovery", "off", "--port",
                    "0",
                ] + options)
        }
        try await QuietMachine.come()
        let ada = try program("ada"), bob = try program("bob", "--accept", "all", "--accept-files", "all")
        let ready = try await bob.event("ready")
        let id = try #require(ready.text("id")), port = try #require(ready["port"] as? Int)
        _ = try await ada.event("ready")
        ada.send("/invite \(id)@127.0.0.1:\(port)")
        try await ada.event("chat.started")
        let clock = ContinuousClock(), asked = clock.now
        ada.send("/send \(folder)/large")
        try await ada.event("file.offered")
        #expect(clock.now - asked < .seconds(2), "to hash it takes longer")
        try await bob.event("file.answered")
        let accepted = clock.now
        try await bob.event("file.progress", within: 5) { ($0["bytes"] as? Int ?? 0) > 0 }
        // Progress is told once a second.
        #expect(clock.now - accepted < .seconds(2.5))
        ada.send("/cancel")
        try await bob.event("file.done")
        for program in [ada, bob] { program.endInput() }
        for program in [ada, bob] { _ = try await program.exitStatus() }
    }
}

func hasRoomForLargeFiles() -> Bool {
    var status = statvfs()
    return statvfs(FileManager.default.temporaryDirectory.path, &status) == 0
        && UInt64(status.f_bavail) * UInt64(status.f_frsize) > 30 << 30
}
