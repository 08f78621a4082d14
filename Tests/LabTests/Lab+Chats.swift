import Foundation
import Testing

extension Lab {
    /// The programs of a chat that `h1` hosts with all others up to this host; everyone takes files unasked.
    func group(_ hosts: Int) async throws -> [Running] {
        var programs = [try await chat(1, "--accept-files", "all")]
        for host in 2...hosts { programs.append(try await chat(host, "--accept", "all", "--accept-files", "all")) }
        for host in 2...hosts { try await programs[0].event("peer.found") { $0.name(of: "peer") == "p\(host)" } }
        programs[0].send("/invite " + (2...hosts).map { "p\($0)" }.joined(separator: " "))
        for program in programs { try await program.event("chat.started") }
        return programs
    }

    /// The ID of the name that `chat` uses on a host, from a run of its own.
    func chatID(_ host: Int) async throws -> String? {
        let program = try run(host, "chat", "--json", "--name", "p\(host)", "--discovery", "off", "--port", "0")
        let id = try await program.event("ready").text("id")
        program.endInput()
        _ = try await program.exitStatus()
        return id
    }

    func makeFile(_ path: String, megabytes: Int) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path),
            let random = FileHandle(forReadingAtPath: "/dev/urandom")
        else { throw Lab.Failure(text: "\(path) cannot be made") }
        for _ in 0..<megabytes { try file.write(contentsOf: try random.read(upToCount: 1_000_000) ?? Data()) }
    }

    /// Whether two are equal, byte by byte, folders with all that is in them.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/diff")
        process.arguments = ["-rq", left, right]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
