import Foundation
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct LockFileTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID())").path

    private func tryElsewhere() throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/flock")
        process.arguments = ["--nonblock", "--conflict-exit-code", "9", path, "true"]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test("Only one has the lock, in this process and others, until it lets go")
    func exclusive() throws {
        defer { unlink(path) }
        do {
            let lock = try LockFile(path: path, text: "4711 here\n")
            #expect(throws: LockFile.Taken(holder: "4711 here\n")) { _ = try LockFile(path: path, text: "other") }
            #expect(try tryElsewhere() == 9)
            _ = consume lock
        }
        #expect(try tryElsewhere() == 0)
        _ = try LockFile(path: path, text: "short")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "short")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test("The lock of a process that is killed is free, and until then its holder is told")
    func killedHolder() throws {
        defer { unlink(path) }
        let (holder, output) = (Process(), Pipe())
        holder.executableURL = URL(filePath: "/bin/sh")
        holder.arguments = ["-c", "exec 9<>\"$0\"; flock 9; echo 4711 there >&9; echo ready; exec sleep 600", path]
        holder.standardOutput = output
        try holder.run()
        defer { kill(holder.processIdentifier, SIGKILL) }
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        #expect(throws: LockFile.Taken(holder: "4711 there\n")) { _ = try LockFile(path: path, text: "own") }
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
        _ = try LockFile(path: path, text: "own")
    }

    @Test("A link in the lock's place is refused, not followed")
    func link() throws {
        defer { unlink(path) }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + "-target")
        #expect(throws: SystemError(call: "open", code: ELOOP)) { _ = try LockFile(path: path, text: "own") }
    }
}
