import PeerModel
import Testing

@testable import PeerStore

@Suite struct JournalTests {
    @Test("Where the file system allows it there is a log, else a rollback journal")
    func journals() throws {
        let folder = try TemporaryFolder()
        var database = try makeDatabase(folder)
        #expect(DatabaseFile.allowsSharedMemory(folder("test.db")))
        #expect(!DatabaseFile.allowsSharedMemory(folder("none")))
        let settings = try read(&database)
        #expect(settings == ["wal", "1", "1", "1", "2"])  // synchronous NORMAL, secure_delete, foreign keys, memory

        let other = try TemporaryFolder()
        database = try makeDatabase(other, journal: .rollback)
        let rollback = try read(&database)
        #expect(rollback == ["delete", "2", "1", "1", "2"])  // synchronous FULL
        #expect(try other.names() == ["test.db"])
    }

    @Test("A database with a log gives it up where none can be, with all that is in the log, and takes it again")
    func moved() throws {
        let folder = try TemporaryFolder(), copy = try TemporaryFolder()
        var database = try makeDatabase(folder)
        try database.run("INSERT INTO peer(id, name, trust) VALUES('x', 'y', 'neutral')")
        // Copied while it is open, as after a crash.
        for name in ["test.db", "test.db-wal"] { try copy.write(name, folder.bytes(name)) }

        var moved = try makeDatabase(copy, journal: .rollback)
        let mode = try read(&moved).first, count = try moved.integer("SELECT count(*) FROM peer")
        #expect(mode == "delete" && count == 1)
        #expect(try copy.names() == ["test.db"])
        // Others may use it at the same time.
        var second = try makeDatabase(copy, journal: .rollback)
        let seen = try second.integer("SELECT count(*) FROM peer")
        #expect(seen == 1)
        _ = consume moved
        _ = consume second

        var back = try makeDatabase(copy)
        let again = try read(&back).first
        #expect(again == "wal")
    }

    @Test("What a transaction threw is undone, and the next one is not disturbed")
    func undone() throws {
        let folder = try TemporaryFolder()
        var database = try makeDatabase(folder)
        for _ in 1...2 {
            let result = Result { () throws(StoreError) in
                try database.transaction { database throws(StoreError) in
                    try database.run("INSERT INTO peer(id, name, trust) VALUES('x', 'y', 'neutral')")
                    throw StoreError.foreign(path: "")
                }
            }
            #expect(throws: StoreError.foreign(path: "")) { try result.get() }
            let count = try database.integer("SELECT count(*) FROM peer")
            #expect(count == 0)
        }
        try database.transaction { database throws(StoreError) in
            try database.run("INSERT INTO peer(id, name, trust) VALUES('x', 'y', 'neutral')")
        }
        let count = try database.integer("SELECT count(*) FROM peer")
        #expect(count == 1)
    }

    @Test("An error tells what SQLite said")
    func errors() throws {
        let folder = try TemporaryFolder()
        var database = try makeDatabase(folder)
        let path = folder("test.db")
        let syntax = Result { () throws(StoreError) in try database.run("SELEKT 1") }
        #expect(throws: StoreError.failed(path: path, code: 1, reason: "near \"SELEKT\": syntax error")) {
            try syntax.get()
        }
        let insert: StaticString = "INSERT INTO peer(id, name, trust) VALUES('x', ?, 'neutral')"
        let null = Result { () throws(StoreError) in try database.run(insert, nil) }
        #expect(throws: StoreError.failed(path: path, code: 1299, reason: "NOT NULL constraint failed: peer.name")) {
            try null.get()
        }
        let more = Result { () throws(StoreError) in try database.run(insert, "y", "z") }
        #expect(throws: StoreError.self) { try more.get() }
        try database.run(insert, "y")
        try database.script("PRAGMA max_page_count = 1")  // no less than there are
        let full = Result { () throws(StoreError) in
            try database.run("UPDATE peer SET name = ?", .text(String(repeating: "x", count: 1 << 20)))
        }
        #expect(throws: StoreError.full(path: path)) { try full.get() }
    }

    @Test("Each error is a sentence that names the file")
    func sentences() {
        let path = "/state/history.db"
        for (error, code) in [
            (.notPrivate(path: path), .cannotStart), (.damaged(path: path, reason: "x"), .cannotStart),
            (.foreign(path: path), .cannotStart), (.newer(path: path, version: 3, known: 1), .cannotStart),
            (.busy(path: path), .internal), (.full(path: path), .noSpace), (.readOnly(path: path), .cannotStart),
            (.system(path: path, call: "open", code: 13), .cannotStart),
            (.failed(path: path, code: 1, reason: "x"), .internal),
        ] as [(StoreError, PeerConnectError.Code)] {
            let shown = error.publicError
            #expect(shown.code == code && shown.message.contains(path) && shown.message.hasSuffix("."))
        }
        #expect(StoreError.system(path: path, call: "open", code: 13).publicError.message.contains("permission denied"))
        let ambiguous = StoreError.ambiguous(prefix: "ae", chats: [chatID(1), chatID(1, 1)]).publicError
        #expect(ambiguous.code == .ambiguous && ambiguous.hint?.contains("\(chatID(1, 1))") == true)
    }

    @Test(
        "Texts come back as they were, numbers too",
        arguments: ["", "a\0b", "\u{FEFF}é e\u{301} 👩‍👧\r\n", "'; DROP TABLE peer; --"])
    func values(text: String) throws {
        let folder = try TemporaryFolder()
        var database = try makeDatabase(folder)
        for number in [0, -1, .min, .max] as [Int64] {
            let found = try database.first("SELECT ?, ?, ?", .text(text), .integer(number), nil) {
                ($0.text(0), $0.integer(1), $0.optionalText(2), $0.optionalInteger(2), $0.optionalText(0))
            }
            let row = try #require(found)
            #expect(Array(row.0.utf8) == Array(text.utf8) && row.1 == number)
            #expect(row.2 == nil && row.3 == nil && row.4 == text)
        }
    }

    /// Journal, synchronous, secure_delete, foreign_keys, temp_store.
    private func read(_ database: inout Database) throws -> [String] {
        var result: [String] = []
        for name in ["journal_mode", "synchronous", "secure_delete", "foreign_keys", "temp_store"] {
            result += try database.rows(composed: "PRAGMA \(name)", []) { $0.text(0) }
        }
        return result
    }
}
