import Foundation
import Glibc
import PeerTerminal
import Testing

@testable import PeerConnectCLI

@Suite(.timeLimit(.minutes(8)))
struct InputHistoryFileTests {
    private final class Place {
        let path = FileManager.default.temporaryDirectory.path + "/peerconnect-input-\(UUID().uuidString.prefix(8))"
        var file: String { path + "/" + InputHistoryFile.name }

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Adds lines in a run of their own, and waits until they are written.
        func add(_ lines: String...) {
            let file = InputHistoryFile(folder: path)
            lines.forEach(file.add)
            file.flush()
        }

        var lines: [String] { InputHistoryFile(folder: path).lines() }
    }

    @Test("Lines of earlier runs are there again, whatever is in them, for their user alone")
    func roundTrip() throws {
        let place = try Place()
        place.add("one", "two\nthree \\n \\", "", "ünï\t👩‍👩‍👧")
        #expect(place.lines == ["one", "two\nthree \\n \\", "ünï\t👩‍👩‍👧"])
        place.add("last", "last")
        #expect(place.lines.suffix(2) == ["ünï\t👩‍👩‍👧", "last"])
        let mode = try FileManager.default.attributesOfItem(atPath: place.file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [InputHistoryFile.name])
    }

    @Test("All that was entered can be forgotten, and forgetting nothing is no error")
    func forgotten() throws {
        let place = try Place()
        place.add("secret")
        try InputHistoryFile.clear(in: place.path)
        #expect(place.lines.isEmpty && !FileManager.default.fileExists(atPath: place.file))
        try InputHistoryFile.clear(in: place.path)
        try InputHistoryFile.clear(in: place.path + "/none")
    }

    @Test("It is as long as the editor's own history at most")
    func bounds() throws {
        let place = try Place()
        let file = InputHistoryFile(folder: place.path)
        for number in 0..<1500 { file.add("line \(number)") }
        file.flush()
        #expect(place.lines == (500..<1500).map { "line \($0)" })
        for number in 0..<40 { file.add(String(repeating: "\(number % 10)", count: 16 << 10)) }
        file.flush()
        #expect(place.lines.count == 16 && place.lines.last?.first == "9")
    }

    @Test("Programs that run at once lose nothing of each other")
    func together() async throws {
        let place = try Place()
        await withTaskGroup(of: Void.self) { group in
            for program in 0..<4 {
                let file = InputHistoryFile(folder: place.path)
                group.addTask {
                    for number in 0..<50 { file.add("\(program) \(number)") }
                    file.flush()
                }
            }
        }
        for program in 0..<4 {
            #expect(place.lines.filter { $0.hasPrefix("\(program) ") } == (0..<50).map { "\(program) \($0)" })
        }
    }

    @Test("What is no file of this user is left alone: a link, a FIFO, a folder that is not there")
    func foreign() throws {
        let place = try Place()
        let other = place.path + "/other"
        try "secret\n".write(toFile: other, atomically: false, encoding: .utf8)
        symlink(other, place.file)
        #expect(place.lines.isEmpty)
        place.add("mine")
        #expect(place.lines == ["mine"])
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "secret\n")
        unlink(place.file)
        mkfifo(place.file, 0o600)
        #expect(place.lines.isEmpty)
        let nowhere = InputHistoryFile(folder: place.path + "/none")
        nowhere.add("x")
        nowhere.flush()
        #expect(nowhere.lines().isEmpty && !FileManager.default.fileExists(atPath: place.path + "/none"))
    }

    @Test("A damaged line costs that line only, and what a killed program left is in nobody's way")
    func damaged() throws {
        let place = try Place()
        try Data([0x61, 0x0A, 0xFF, 0x0A, 0x62, 0x5C, 0x0A]).write(to: URL(filePath: place.file))
        try "half".write(toFile: place.file + ".new", atomically: false, encoding: .utf8)
        #expect(place.lines == ["a", "b"])
        place.add("c")
        #expect(place.lines == ["a", "b", "c"])
    }
}
