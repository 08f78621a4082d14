import Foundation
import Glibc
import PeerModel
import Testing

@testable import PeerConnectCLI

@Suite("The log of --verbose") final class VerboseLogTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-log-\(UUID().uuidString.prefix(8))"

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func size(_ name: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.size]) as? Int ?? 0
    }

    @Test("A line has its time and no control characters, and the file and its folder are the user's alone")
    func lines() throws {
        try VerboseLog(in: folder + "/state").write("red \u{1B}[31m\nline", at: 1_796_000_000_123)
        let log = try VerboseLog(in: folder + "/state")
        log.write("again", at: 1_796_000_000_124)
        let path = folder + "/state/" + VerboseLog.name
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == "2026-11-30T00:53:20.123Z red ␛[31m␊line\n2026-11-30T00:53:20.124Z again\n")
        for (path, mode) in [(path, 0o600), (folder + "/state", 0o700)] as [(String, mode_t)] {
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == mode)
        }
    }

    @Test("However much two programs write, there are two files of 1 MiB and a line at most")
    func bound() throws {
        let logs = [try VerboseLog(in: folder), try VerboseLog(in: folder)]
        let line = String(repeating: "x", count: 4000)
        for number in 0..<1200 { logs[number % 2].write(line, at: 0) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        for name in [VerboseLog.name, VerboseLog.name + ".old"] {
            #expect(size(name) > 0 && size(name) <= VerboseLog.limit + 2 * 4100)
        }
    }

    @Test("A log that cannot be written is an error at the start, and a link in its place is not followed")
    func refused() throws {
        #expect(throws: PeerConnectError.self) { try VerboseLog(in: "/proc/nothing") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(symlink("/dev/null", folder + "/" + VerboseLog.name) == 0)
        #expect(throws: PeerConnectError.self) { try VerboseLog(in: self.folder) }
    }
}
