import Glibc
import PeerLink
import PeerModel
import PeerSystem
import PeerWire
import Testing

@Suite("Looking at what is sent")
struct SourceWalkTests {
    let from: TemporaryFolder

    init() throws { from = try TemporaryFolder() }

    private func code(_ paths: [String]) -> PeerConnectError.Code? {
        do {
            _ = try SourceWalk.walk(paths: paths)
            return nil
        } catch { return error.code }
    }

    @Test("Everything but files, folders and inner links is skipped and named")
    func skips() throws {
        try from.file("t/good", [1])
        try from.link("t/dangling", to: "nowhere")
        try from.link("t/out", to: "../other")
        try from.link("t/absolute", to: "/etc/passwd")
        try from.link("t/self", to: "self")
        #expect(mkfifo(from("t/fifo"), 0o600) == 0)
        var name = Array((from.path + "/t/bad-x").utf8CString)
        name[name.count - 2] = CChar(bitPattern: 0xFF)
        #expect(mkdir(name, 0o700) == 0)
        let source = try SourceWalk.walk(paths: [from("t")])
        #expect(source.manifest.entries.map(\.path) == ["t", "t/good"])
        let skipped = source.skipped.map(\.path).sorted()
        #expect(skipped == ["t/absolute", "t/bad-\u{FFFD}", "t/dangling", "t/fifo", "t/out", "t/self"].sorted())
        #expect(source.skipped.allSatisfy { !$0.why.isEmpty })
    }

    @Test("A path that is missing, a FIFO, a device, the root or nothing is an error")
    func refuses() throws {
        #expect(mkfifo(from("fifo"), 0o600) == 0)
        try from.link("dangling", to: "nowhere")
        try from.file("file")
        #expect(code([from("missing")]) == .noSuchFile)
        #expect(code([from("dangling")]) == .noSuchFile)
        #expect(code([from("file"), from("file/x")]) == .noSuchFile)
        #expect(code([from("fifo")]) == .unreadable)
        #expect(code(["/dev/null"]) == .unreadable)
        #expect(code(["/"]) == .usage)
        #expect(code([]) == .usage)
        #expect(code([""]) == .usage)
        #expect(code([from("file\0x")]) == .usage)
        #expect(code([from("file")]) == nil)
    }

    @Test("Paths with the same last name are numbered, and a link given by the user is followed")
    func tops() throws {
        try from.file("x/a.txt", [1])
        try from.file("y/a.txt", [2, 2])
        try from.link("current", to: "y")
        let source = try SourceWalk.walk(paths: [from("y/a.txt"), from("x/a.txt"), from("current"), from("x/.")])
        #expect(source.names == ["a.txt", "a (1).txt", "current/", "x/"])
        #expect(
            source.manifest.entries.map(\.path) == ["a (1).txt", "a.txt", "current", "current/a.txt", "x", "x/a.txt"])
        #expect(try source.bytes(at: UInt64(source.manifestBytes.count)) == [1, 2, 2, 2, 2, 1])
        #expect(source.path(of: 3) == from("y/a.txt"))
    }

    @Test("Any part of the stream reads like the whole")
    func parts() throws {
        try from.file("t/a", [1, 2, 3])
        try from.file("t/b")
        try from.file("t/c", Array(4...20))
        let source = try SourceWalk.walk(paths: [from("t")])
        let whole = try source.bytes()
        #expect(whole == source.manifestBytes + Array(1...20))
        #expect(try ManifestDecoder.decode(source.manifestBytes).entries == source.manifest.entries)
        for start in 0...whole.count {
            for end in start...whole.count {
                #expect(try source.bytes(at: UInt64(start), count: end - start) == Array(whole[start..<end]))
            }
        }
        #expect(throws: TransferFailure.self) { try source.bytes(at: 1, count: whole.count) }
        #expect(throws: TransferFailure.self) { try source.bytes(at: .max, count: 1) }
    }

    @Test(
        "A file that shrank, grew, was touched, replaced or removed is known to have changed, and the stream keeps its length"
    )
    func changes() throws {
        let names = ["gone", "grown", "same", "shrunk", "swapped", "touched"]
        for name in names { try from.file("t/" + name, [1, 2, 3, 4]) }
        let source = try SourceWalk.walk(paths: [from("t")])
        #expect(source.changedEntries().isEmpty)
        #expect(truncate(from("t/shrunk"), 2) == 0)
        #expect(truncate(from("t/grown"), 9) == 0)
        try Paths.openFile(from("t/touched")).setModified(FileStatus.Time(seconds: 1, nanoseconds: 0))
        #expect(unlink(from("t/gone")) == 0)
        try from.file("t/new", [5, 6, 7, 8])
        #expect(rename(from("t/new"), from("t/swapped")) == 0)
        let bytes = try source.bytes(at: UInt64(source.manifestBytes.count))
        let whole: [UInt8] = [1, 2, 3, 4]
        #expect(bytes == [0, 0, 0, 0] + whole + whole + [1, 2, 0, 0] + [0, 0, 0, 0] + whole)
        let changed = source.changedEntries().map { source.manifest.entries[$0].path }
        #expect(changed == ["t/gone", "t/grown", "t/shrunk", "t/swapped", "t/touched"])
    }

    @Test("A file larger than 4 GiB is read at the right place")
    func largeFile() throws {
        try from.file("sparse")
        #expect(truncate(from("sparse"), 5 << 30) == 0)
        let descriptor = open(from("sparse"), O_WRONLY)
        #expect(pwrite(descriptor, [7, 8] as [UInt8], 2, (4 << 30) + 100) == 2)
        close(descriptor)
        let source = try SourceWalk.walk(paths: [from("sparse")])
        #expect(source.totalSize == 5 << 30)
        let start = UInt64(source.manifestBytes.count) + 4 << 30 + 99
        let found = try source.bytes(at: start, count: 4)
        #expect(found == [0, 7, 8, 0])
    }

    @Test("A spool gives back what was written and leaves no name")
    func spool() throws {
        let spool = try Spool(folder: from("cache/spools"), length: 100)
        try [UInt8](1...10).withUnsafeBytes { try spool.write($0, at: 20) }
        try [UInt8(0)].withUnsafeBytes { try spool.write($0, at: 30) }
        #expect(try spool.bytes(at: 19, count: 12) == [0] + Array(1...10) + [0])
        #expect(throws: TransferFailure.self) { try spool.bytes(at: 95, count: 10) }
        #expect(try Folder.open(from("cache/spools")).names().names.isEmpty)
        #expect(try Paths.status(from("cache/spools")).mode == 0o700)
    }

    @Test("Free space is known for folders that are still to be made, and a size that cannot fit does not")
    func freeSpace() throws {
        let free = try #require(FreeSpace.free(at: from("not/yet")))
        #expect(free > 0)
        #expect(!FreeSpace.isEnough(for: .max, at: from.path))
        #expect(!FreeSpace.isEnough(for: 1, at: from.path, promised: .max))
        #expect(!FreeSpace.isEnough(for: free * 2, at: from("not/yet")))
    }
}
