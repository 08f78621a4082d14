import Foundation
import Testing

@testable import PeerSystem

@Suite("Small files of text") struct TextFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "text-\(UUID())").path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func file(_ bytes: [UInt8]) throws -> String {
        let path = folder + "/\(UUID())"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func reason(_ path: String, atMost limit: Int = TextFile.limit) -> String? {
        do throws(TextFile.Failure) {
            _ = try TextFile.read(path, atMost: limit)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("A text is read whole, up to its limit to the byte")
    func whole() throws {
        for count in [0, 1, 64 << 10, (64 << 10) + 1] {
            let path = try file([UInt8](repeating: 97, count: count))
            #expect(try TextFile.read(path, atMost: count).utf8.count == count)
        }
        #expect(reason(try file([UInt8](repeating: 97, count: 2049)), atMost: 2048) == "it is longer than 2 KiB")
    }

    @Test("What cannot be read is said: missing, a folder, not UTF-8, without an end")
    func unreadable() throws {
        #expect(reason(folder + "/none") == "no such file or directory")
        #expect(reason(folder) == "is a directory")
        #expect(reason(try file([0x61, 0xFF])) == "it is not UTF-8")
        #expect(reason("/dev/zero") == "it is longer than 1024 KiB")
    }

    @Test("A pipe is read to its end when that is wanted, and never waited for else")
    func pipes() async throws {
        let path = folder + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try TextFile.read(path) == "")  // returns, though nobody writes
        async let text = BlockingThread.value("reader") { try? TextFile.read(path, waits: true) }
        try await BlockingThread.value("writer") {
            let writer = FileHandle(forWritingAtPath: path)  // opens when the reader does
            writer?.write(Data("ada\n".utf8))
            writer?.write(Data("bob\n".utf8))
        }
        #expect(try await text == "ada\nbob\n")
    }
}
