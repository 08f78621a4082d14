import Foundation
import Glibc
import Testing

/// Two built programs on this machine alone, killed in the middle of a large file and started again.
@Suite(
    "Interrupted transfers", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: hasRoomForLargeFiles(), "needs 30 GB of free space, of which a tenth is used"))
struct InterruptedTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/peerconnect-broken-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private var large: String { folder + "/large" }

    /// A file of holes with some bytes in every hundredth part of it.
    private func makeLarge(_ size: Int) throws {
        try #require(FileManager.default.createFile(atPath: large, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: large))
        let random = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        for part in 0..<100 {
            try file.seek(toOffset: UInt64(size / 100 * part + part))
            try file.write(contentsOf: try random.read(upToCount: 100_000) ?? Data())
        }
        try file.truncate(atOffset: UInt64(size))
        try file.close()
    }

    private func program(_ name: String, _ command: [String]) throws -> Running {
        try Running(
            name: name, script: Lab.binary, state: folder, home: folder,
            arguments: command + [
                "--json", "--home", "\(folder)/\(name)", "--name", name, "--discovery", "off", "--port", "0",
            ])
    }

    /// Starts a receiver, and gives its address.
    private func receiver(_ options: [String] = []) async throws -> (program: Running, address: String) {
        let program = try program("ben", ["receive", "--accept", "all", "--into", folder + "/in"] + options)
        let ready = try await program.event("ready")
        let id = try #require(ready.text("id")), port = try #require(ready["port"] as? Int)
        return (program, "\(id)@127.0.0.1:\(port)")
    }

    private func sender(to address: String, _ options: [String] = []) throws -> Running {
        try program("ada", ["send", large, "--to", address] + options)
    }

    /// Starts a receiver and a sender to it.
    private func start(_ options: [String] = []) async throws -> (ada: Running, ben: Running) {
        let ben = try await receiver(options)
        return (try sender(to: ben.address, options), ben.program)
    }

    /// Kills both when so much has arrived, and gives the bytes that are on the disk then.
    private func breakOff(at bytes: Int, _ options: [String] = []) async throws -> Int {
        let (ada, ben) = try await start(options)
        try await ben.event("file.progress", within: 60) { ($0["bytes"] as? Int ?? 0) >= bytes }
        ada.kill(SIGKILL)
        ben.kill(SIGKILL)
        _ = try await ada.exitStatus()
        _ = try await ben.exitStatus()
        let here = partialSize(of: "large", in: folder + "/in")
        try #require(here > 0)
        return here
    }

    @Test("Both killed at half of 2 GB, the same command continues, less than 1 % is sent twice, without history too")
    func twoGigabytes() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let size = 2_000_000_000
        try makeLarge(size)
        // Or news of the half comes when all is there.
        try await QuietMachine.come()
        let options = ["--no-history"]
        let here = try await breakOff(at: size / 2, options)
        try #require(here < size, "it was too fast to be interrupted")
        let (ada, ben) = try await start(options)
        let first = try await ben.event("file.progress")
        let from = try #require(first["from"] as? Int)
        #expect(from <= here && here - from < size / 100)
        #expect(first["bytes"] as? Int == from && first["rate"] as? Int == 0)
        let told = try await ada.event("file.progress")
        #expect(told["from"] as? Int == from)
        let done = try await ben.event("file.received", within: 60)
        #expect(done["paths"] as? [String] == [folder + "/in/large"])
        #expect(try await ada.exitStatus() == 0)
        ben.kill(SIGTERM)
        _ = try await ben.exitStatus()
        #expect(Lab.areEqual(large, folder + "/in/large"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/in") == ["large"])
    }

    @Test("Of 20 GB it is known within a second where it goes on, and nothing before that is hashed")
    func twentyGigabytes() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try makeLarge(20_000_000_000)
        let here = try await breakOff(at: 600_000_000)
        try await QuietMachine.come()
        let ben = try await receiver()
        let clock = ContinuousClock(), asked = clock.now
        let ada = try sender(to: ben.address)
        let first = try await ben.program.event("file.progress", within: 5)
        let known = clock.now - asked
        #expect(known < .seconds(1), "\(known) from the command on")
        let from = try #require(first["from"] as? Int)
        #expect(from <= here && from > 500_000_000)
        while partialSize(of: "large", in: folder + "/in") <= here, clock.now - asked < .seconds(10) {
            try await clock.sleep(for: .milliseconds(10))
        }
        let moving = clock.now - asked
        #expect(moving < .seconds(1), "\(moving) to the first new byte")
        for program in [ada, ben.program] { program.kill(SIGKILL) }
        for program in [ada, ben.program] { _ = try await program.exitStatus() }
    }
}
