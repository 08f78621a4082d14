import Foundation
import TestSupport
import Testing

@testable import PeerStore

@Suite struct DatabaseFileTests {
    @Test("Database, log and shared memory are the user's alone, in a folder of the user's alone")
    func modes() throws {
        let folder = try TemporaryFolder()
        let history = try #require(try History.open(in: folder("a/b"), creating: true))
        try history.record(started(chatID(1)))
        for name in ["a", "a/b"] { #expect(try mode(folder(name)) == 0o700) }
        #expect(try folder.names("a/b") == ["history.db", "history.db-shm", "history.db-wal"])
        for name in try folder.names("a/b") { #expect(try mode(folder("a/b/" + name)) == 0o600, "\(name)") }
    }

    @Test("What others could read or write is taken from them")
    func tightens() throws {
        let folder = try TemporaryFolder()
        _ = try makeHistory(folder)
        chmod(folder("history.db"), 0o666)
        chmod(folder.path, 0o755)
        _ = try #require(try History.open(in: folder.path, creating: false))
        #expect(try mode(folder("history.db")) == 0o600)
        #expect(try mode(folder.path) == 0o700)
    }

    @Test("Whoever only reads makes nothing")
    func createsNothing() throws {
        let folder = try TemporaryFolder()
        #expect(try History.open(in: folder("new"), creating: false) == nil)
        #expect(try History.open(in: folder.path, creating: false) == nil)
        #expect(try KnownPeers.open(in: folder.path, creating: false) == nil)
        #expect(try folder.names() == [])
    }

    @Test("A folder may be reached by a link, a database may not")
    func links() throws {
        let folder = try TemporaryFolder()
        _ = try History.open(in: folder("real"), creating: true)
        symlink("real", folder("link"))
        let history = try #require(try History.open(in: folder("link"), creating: false))
        #expect(history.path == folder("real/history.db"))
        mkdir(folder("other"), 0o700)
        symlink("../real/history.db", folder("other/history.db"))
        #expect(throws: StoreError.notPrivate(path: folder("other/history.db"))) {
            try History.open(in: folder("other"), creating: true)
        }
    }

    @Test("A database or a folder of another user is refused, and stays as it is", .enabled(if: geteuid() == 0))
    func otherOwner() throws {
        let folder = try TemporaryFolder()
        _ = try makeHistory(folder)
        let before = try folder.bytes("history.db")
        chown(folder("history.db"), 65534, 65534)
        #expect(throws: StoreError.notPrivate(path: folder("history.db"))) {
            try History.open(in: folder.path, creating: true)
        }
        #expect(try folder.bytes("history.db") == before)
        chown(folder("history.db"), 0, 0)
        chown(folder.path, 65534, 65534)
        #expect(throws: StoreError.notPrivate(path: folder.path)) { try History.open(in: folder.path, creating: true) }
    }

    @Test("What is no database is damaged, and is left as it is", arguments: ["", "not a database, by any means"])
    func garbage(text: String) throws {
        let folder = try TemporaryFolder()
        let bytes = Data(String(repeating: text, count: 100).utf8)
        try folder.write("history.db", bytes)
        for creating in [true, false] {
            #expect(isDamaged { try History.open(in: folder.path, creating: creating) })
        }
        #expect(try folder.bytes("history.db") == bytes)
        #expect(try folder.names() == ["history.db"])
    }

    @Test("A database that is gone while its log is there is damaged, not new", arguments: ["-wal", "-journal"])
    func logWithoutDatabase(companion: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("history.db" + companion, Data([1, 2, 3]))
        #expect(isDamaged { try History.open(in: folder.path, creating: true) })
        #expect(try folder.names() == ["history.db" + companion])
    }

    @Test("A database that lost its end is damaged")
    func truncated() throws {
        let folder = try TemporaryFolder()
        let history = try makeHistory(folder)
        let chat = chatID(1)
        try history.record(started(chat))
        try history.record((1...200).map { (line(chat, $0, String(repeating: "long ", count: 100)), 1) }, by: ada)
        try history.clear([])  // empties the log
        let bytes = try folder.bytes("history.db")
        for share in [2, 3, 10, 50] {
            let copy = try TemporaryFolder()
            try copy.write("history.db", bytes.prefix(bytes.count / share / 4096 * 4096 + 100))
            let isFound = isDamaged { try History.open(in: copy.path, creating: true)?.chats() }
            #expect(isFound, "1/\(share)")
        }
    }

    @Test("Changed bytes anywhere are an error or a wrong value, never a crash", arguments: [1, 2, 3, 4] as [UInt64])
    func randomDamage(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let history = try makeHistory(folder)
        let chat = chatID(1)
        try history.record(started(chat), offer(transferID(1), "photo.jpg"), received(transferID(1), ["/a/photo.jpg"]))
        try history.record((1...300).map { (line(chat, $0, "line number \($0)"), 1) }, by: ada)
        try history.clear([])
        let bytes = try folder.bytes("history.db")
        var random = SeededGenerator(seed: seed)
        for _ in 1...25 {
            var damaged = bytes
            for _ in 1...20 {
                damaged[Int.random(in: 100..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let copy = try TemporaryFolder()
            try copy.write("history.db", damaged)
            do {
                let history = try #require(try History.open(in: copy.path, creating: true))
                for chat in try history.chats() { _ = try history.entries(of: chat) }
                _ = try history.texts("number 2")
                _ = try history.files(matching: "photo")
                try history.record(started(chat), line(chat, 1000, "more"))
                try history.clearAll()
            } catch is StoreError {}
        }
    }

    @Test("A database of another kind is refused and left as it is")
    func foreign() throws {
        let folder = try TemporaryFolder()
        try raw(folder("history.db"), "CREATE TABLE chat(id); PRAGMA user_version = 1")
        let before = try folder.bytes("history.db")
        #expect(throws: StoreError.foreign(path: folder("history.db"))) {
            try History.open(in: folder.path, creating: true)
        }
        #expect(try folder.bytes("history.db") == before)
        _ = try KnownPeers.open(in: folder.path, creating: true)
        rename(folder("peers.db"), folder("history.db"))
        #expect(throws: StoreError.foreign(path: folder("history.db"))) {
            try History.open(in: folder.path, creating: true)
        }
    }

    @Test("A database that may not be written says so")
    func readOnly() async throws {
        await #expect(processExitsWith: .success) {
            // Nothing is read-only for root.
            if geteuid() == 0, setuid(65534) != 0 { throw Failure("setuid") }
            let folder = try TemporaryFolder()
            _ = try makeHistory(folder)
            chmod(folder("history.db"), 0o400)
            do {
                try History.open(in: folder.path, creating: true)?.record(started(chatID(1)))
            } catch StoreError.readOnly(folder("history.db")) {
                return
            }
            throw Failure("written all the same")
        }
    }

    @Test("Many that open at once for the first time all get the same database")
    func race() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...16 as ClosedRange<UInt8> {
                group.addTask {
                    let history = try #require(try History.open(in: path, creating: true))
                    try history.record(started(chatID(number)))
                }
            }
            try await group.waitForAll()
        }
        #expect(try makeHistory(folder).chats().count == 16)
        #expect(try folder.names().filter { $0.contains("new") } == [])
    }

    private func isDamaged(_ body: () throws -> Any?) -> Bool {
        do {
            _ = try body()
            return false
        } catch StoreError.damaged {
            return true
        } catch {
            Issue.record("\(error)")
            return false
        }
    }
}
