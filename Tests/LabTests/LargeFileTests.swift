import Foundation
import Glibc
import Testing

/// Two built programs on this machine alone, by address.
@Suite(
    "Large files", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: hasRoomForLargeFiles(), "needs 30 GB of free space, of which hardly any is used"))
struct LargeFileTests {
    @Test("Of a file of 20 GB the first byte is there within a second: nothing is hashed ahead")
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
        let ada = try program("ada"), bob = try program("bob", "--accept", "all", "--into", folder + "/in")
        let ready = try await bob.event("ready")
        let id = try #require(ready.text("id")), port = try #require(ready["port"] as? Int)
        _ = try await ada.event("ready")
        ada.send("/invite \(id)@127.0.0.1:\(port)")
        try await ada.event("chat.started")
        try await bob.event("chat.started")
        let before = try #require(ada.bytesRead)
        let clock = ContinuousClock(), asked = clock.now
        ada.send("/send \(folder)/large")
        try await bob.event("file.offered")
        let offering = clock.now - asked
        // To hash it is to read it.
        #expect(try #require(ada.bytesRead) - before < 16_000_000)

        // The time that someone takes to answer is not the program's.
        let accepted = clock.now
        bob.send("/accept")
        while partialSize(of: "large", in: folder + "/in") == 0, clock.now - accepted < .seconds(10) {
            try await clock.sleep(for: .milliseconds(10))
        }
        let moving = clock.now - accepted
        #expect(offering + moving < .seconds(1), "\(offering) to offer it, \(moving) to the first byte")
        ada.send("/cancel")
        try await bob.event("file.done")
        for program in [ada, bob] { program.endInput() }
        for program in [ada, bob] { _ = try await program.exitStatus() }
    }
}

/// How much of a file that is being received is on the disk.
func partialSize(of name: String, in downloads: String) -> Int {
    let partials = downloads + "/.peerconnect-partial"
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: partials)) ?? []
    guard let own = folders.first(where: { !$0.hasSuffix(".pieces") }) else { return 0 }
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(partials)/\(own)/\(name)")
    return attributes?[.size] as? Int ?? 0
}

func hasRoomForLargeFiles() -> Bool {
    var status = statvfs()
    return statvfs(FileManager.default.temporaryDirectory.path, &status) == 0
        && UInt64(status.f_bavail) * UInt64(status.f_frsize) > 30 << 30
}
