import Glibc
import PeerLink
import PeerModel
import PeerSystem
import PeerWire
import Testing

@Suite("Landing received files")
struct LandingTests {
    let from: TemporaryFolder, into: TemporaryFolder

    init() throws {
        from = try TemporaryFolder()
        into = try TemporaryFolder()
    }

    /// Nothing but these is in the folder for received files: no partial folder either.
    private func expectInto(_ names: [String]) throws {
        #expect(try Folder.open(into.path).names().names.sorted() == names.sorted())
    }

    @Test("An empty file, an empty folder and a folder of empty files arrive", arguments: [1, 3, 1 << 20])
    func empties(partSize: Int) throws {
        try from.file("empty")
        try from.folder("hollow")
        try from.file("many/a")
        try from.file("many/b")
        let source = try SourceWalk.walk(paths: [from("empty"), from("hollow"), from("many")])
        #expect(source.totalSize == 0)
        let landed = try receive(source, in: into.path, partSize: partSize)
        #expect(landed.paths == ["empty", "hollow", "many"].map { into($0) })
        #expect(try TemporaryFolder.tree(into.path) == TemporaryFolder.tree(from.path))
    }

    @Test("Names of all kinds, depth and links arrive as they are")
    func names() throws {
        let long = String(repeating: "ü", count: 127) + "x"
        let deep = "t/" + Array(repeating: "d", count: 49).joined(separator: "/")
        for (index, name) in [
            "with space", "\"quotes'", "🙂👩‍👩‍👧", long, "-dash", "back\\slash", "e\u{301}", "\u{E9}",
        ]
        .enumerated() {
            try from.file("t/" + name, [UInt8(index), 1, 2])
        }
        try from.file(deep + "/bottom", [9, 9])
        try from.link("t/link", to: "with space")
        try from.link("t/d/up", to: "../link")
        try from.link("t/loop", to: ".")
        let source = try SourceWalk.walk(paths: [from("t")])
        #expect(source.skipped.isEmpty)
        let landed = try receive(source, in: into.path, partSize: 11)
        #expect(landed.mended.isEmpty && landed.skipped.isEmpty)
        #expect(try TemporaryFolder.tree(into.path) == TemporaryFolder.tree(from.path))
    }

    @Test("Control characters in names are mended, which is told, and everything else of the file arrives")
    func controlCharacters() throws {
        try from.file("t/new\nline \u{1B}[2J", [1, 2, 3])
        try from.file("t\u{7F}/x", [4])
        let source = try SourceWalk.walk(paths: [from("t"), from("t\u{7F}")])
        let landed = try receive(source, in: into.path, partSize: 11)
        #expect(landed.paths == ["t", "t_"].map { into($0) })
        #expect(landed.mended.count == 2)
        #expect(
            try TemporaryFolder.tree(into.path, times: false)
                == ["t/ 755", "t/new_line _[2J 644 [1, 2, 3]", "t_/ 755", "t_/x 644 [4]"])
    }

    @Test("A tree of 2,000 files arrives identical, and can be read before and after it has landed")
    func largeTree() throws {
        for index in 0..<2000 {
            let size = index % 97 == 0 ? 100_000 : index % 50
            try from.file("t/\(index % 40)/\(index)", [UInt8](repeating: UInt8(index % 251), count: size))
        }
        let source = try SourceWalk.walk(paths: [from("t")])
        #expect(source.fileCount == 2000)
        let stream = try source.bytes()
        let landing = try landing(of: source, in: into.path)
        try copy(source, to: landing, partSize: 64 << 10)
        #expect(try landing.bytes() == stream)
        let landed = try #require(try landing.finish(dropping: []))
        #expect(landed.paths == [into("t")])
        #expect(try TemporaryFolder.tree(into.path) == TemporaryFolder.tree(from.path))
        #expect(rename(into("t"), into("moved")) == 0)
        #expect(try landing.bytes() == stream)
        #expect(source.changedEntries().isEmpty)
    }

    @Test("Files that are there keep their content, and the new ones get numbers")
    func existing() throws {
        try from.file("a.txt", [1])
        try from.file("dir/x", [2])
        try into.file("a.txt", [9, 9])
        try into.folder("dir")
        let source = try SourceWalk.walk(paths: [from("a.txt"), from("dir")])
        #expect(try receive(source, in: into.path).paths == [into("a (1).txt"), into("dir (1)")])
        #expect(try receive(source, in: into.path).paths == [into("a (2).txt"), into("dir (2)")])
        let tree = try TemporaryFolder.tree(into.path, times: false)
        #expect(tree.contains("a.txt 644 [9, 9]") && tree.contains("a (1).txt 644 [1]"))
        #expect(tree.contains("dir (2)/x 644 [2]"))
        try expectInto(["a.txt", "a (1).txt", "a (2).txt", "dir", "dir (1)", "dir (2)"])
    }

    @Test("The executable bit and the time are kept, setuid is dropped, and no file is more open than it was")
    func modes() throws {
        try from.file("run", [1], mode: 0o4755)
        try from.file("secret", [1], mode: 0o600)
        try from.file("nothing", [1], mode: 0)
        try from.file("open", [1], mode: 0o777)
        try Paths.openFile(from("run")).setModified(FileStatus.Time(seconds: -86400, nanoseconds: 123_456_789))
        let paths = ["run", "secret", "nothing", "open"]
        try receive(SourceWalk.walk(paths: paths.map { from($0) }), in: into.path)
        let mask = umask(0o022)
        umask(mask)
        let modes = try paths.map { try Paths.status(into($0)).mode }
        #expect(modes == [0o755, 0o600, 0o600, 0o777].map { $0 & ~UInt16(mask) })
        #expect(
            try Paths.status(into("run")).modified == FileStatus.Time(seconds: -86400, nanoseconds: 123_456_789))
    }

    @Test("The folder for received files is made when missing, and may be a link")
    func intoFolder() throws {
        try from.file("a", [1])
        let source = try SourceWalk.walk(paths: [from("a")])
        #expect(try receive(source, in: into("new/deep")).paths == [into("new/deep/a")])
        try into.link("link", to: "new")
        #expect(try receive(source, in: into("link")).paths == [into("link/a")])
        #expect(try Paths.status(into("new/a")).size == 1)
    }

    @Test("A file in the place of the folder, and a folder that takes nothing, give a reason")
    func unwritable() throws {
        try into.file("file")
        try from.file("a", [1])
        let source = try SourceWalk.walk(paths: [from("a")])
        for path in [into("file"), "/proc/self"] {
            #expect {
                try landing(of: source, in: path)
            } throws: { error in
                guard case .unwritable(let text) = error as? TransferFailure else { return false }
                return text.contains(path)
            }
        }
    }

    @Test(
        "A partial folder of others, open to others, or behind a link is refused", arguments: ["owner", "mode", "link"])
    func foreignPartial(what: String) throws {
        let path = into(".peerconnect-partial")
        try into.folder("elsewhere")
        switch what {
        case "owner":
            try #require(geteuid() == 0 || what != "owner")
            try into.folder(".peerconnect-partial")
            #expect(chmod(path, 0o700) == 0 && chown(path, 12345, 12345) == 0)
        case "mode":
            try into.folder(".peerconnect-partial")
            #expect(chmod(path, 0o770) == 0)
        default: try into.link(".peerconnect-partial", to: "elsewhere")
        }
        try from.file("a", [1])
        let source = try SourceWalk.walk(paths: [from("a")])
        #expect {
            try landing(of: source, in: into.path)
        } throws: { error in
            if case .unwritable(let text) = error as? TransferFailure { text.contains("not used") } else { false }
        }
        #expect(try TemporaryFolder.tree(into("elsewhere")).isEmpty)
    }

    @Test("What an earlier attempt left is replaced, but not what another one still writes")
    func leftovers() throws {
        try from.file("a", [1, 2, 3])
        let source = try SourceWalk.walk(paths: [from("a")])
        do {
            let first = try landing(of: source, in: into.path)
            try first.append(source.bytes(at: 0, count: Int(source.length) - 1))
        }
        let second = try landing(of: source, in: into.path), third = try landing(of: source, in: into.path)
        for landing in [second, third] { try copy(source, to: landing) }
        #expect(try second.finish(dropping: [])?.paths == [into("a")])
        #expect(try third.finish(dropping: [])?.paths == [into("a (1)")])
        try expectInto(["a", "a (1)"])
    }

    @Test("After a transfer was given up nothing is left")
    func abandon() throws {
        try from.file("t/a", [1, 2, 3])
        let source = try SourceWalk.walk(paths: [from("t")])
        let landing = try landing(of: source, in: into.path)
        try landing.append(source.bytes(at: 0, count: Int(source.length) - 1))
        #expect(throws: TransferFailure.corrupt("The files are not complete.")) { try landing.finish(dropping: []) }
        landing.remove()
        try expectInto([])
    }

    @Test("Dropped entries are left out and named, and can still be read for others")
    func dropping() throws {
        try from.file("t/a", [1, 2])
        try from.file("t/b", [3, 4])
        try from.file("u", [5])
        let source = try SourceWalk.walk(paths: [from("t"), from("u")])
        let landing = try landing(of: source, in: into.path)
        try copy(source, to: landing)
        let landed = try #require(try landing.finish(dropping: [1, 3, 0, 99]))
        #expect(landed.paths == [into("t")])
        #expect(landed.skipped.map { String($0.prefix { $0 != ":" }) } == ["t/a", "u"])
        #expect(try TemporaryFolder.tree(into.path, times: false).map { $0.prefix(3) } == ["t/ ", "t/b"])
        #expect(try landing.bytes() == source.bytes())
    }

    @Test("Bytes that did not come yet cannot be read, and bytes too many are refused")
    func bounds() throws {
        try from.file("a", [1, 2, 3])
        let source = try SourceWalk.walk(paths: [from("a")])
        let landing = try landing(of: source, in: into.path)
        try landing.append(source.bytes(at: 0, count: Int(source.length) - 2))
        #expect(
            try landing.bytes(at: 0, count: Int(landing.received)) == source.bytes(at: 0, count: Int(source.length) - 2)
        )
        #expect(throws: TransferFailure.self) { try landing.bytes(at: landing.received - 1, count: 2) }
        #expect(throws: TransferFailure.self) { try landing.bytes(at: .max, count: 1) }
        #expect(throws: TransferFailure.self) { try landing.append([2, 3, 4]) }
    }

    @Test("Transfers that begin and end at once in the same folder do not disturb each other")
    func partialsComeAndGo() async throws {
        let into = try TemporaryFolder()
        let failures = Monitor([String]()), running = Monitor(4)
        for number in 0..<4 {
            try BlockingThread.spawn("landings") { [path = into.path] in
                for _ in 0..<150 {
                    do {
                        let entry = ManifestEntry(
                            kind: .file, mode: 0o644, seconds: 0, nanoseconds: 0, size: 0, path: "f\(number)",
                            target: "")
                        try landing([entry], in: path).0.remove()
                    } catch {
                        failures.update { $0.append("\(error)") }
                    }
                }
                running.update { $0 -= 1 }
            }
        }
        while running.read({ $0 > 0 }) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(failures.read { $0 }.isEmpty)
    }
}
