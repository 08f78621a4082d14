import PeerModel
import Testing

@testable import PeerStore

@Suite struct SchemaTests {
    private static let version1: StaticString = "CREATE TABLE a(x TEXT); INSERT INTO a VALUES('one')"
    private static let version2: StaticString = "ALTER TABLE a ADD COLUMN y TEXT; UPDATE a SET y = x || '!'"
    private static let version3: StaticString = "CREATE TABLE b(z); INSERT INTO b SELECT y FROM a"

    private func schema(_ migrations: StaticString...) -> Schema { Schema(applicationID: 77, migrations: migrations) }
    private var newest: Schema { schema(Self.version1, Self.version2, Self.version3) }

    @Test("A new database has the newest version")
    func new() throws {
        let folder = try TemporaryFolder()
        _ = try makeDatabase(folder, newest)
        #expect(try rawRows(folder("test.db"), "PRAGMA user_version") == ["3"])
        #expect(try rawRows(folder("test.db"), "SELECT z FROM b") == ["one!"])
    }

    @Test("Every older version is led to the newest with what is in it", arguments: [1, 2, 3])
    func steps(version: Int) throws {
        let folder = try TemporaryFolder()
        let old = Schema(applicationID: 77, migrations: Array(newest.migrations.prefix(version)))
        _ = try makeDatabase(folder, old)
        try raw(folder("test.db"), "INSERT INTO a(x) VALUES('two')")
        _ = try makeDatabase(folder, newest)
        #expect(try rawRows(folder("test.db"), "PRAGMA user_version") == ["3"])
        #expect(try rawRows(folder("test.db"), "SELECT x FROM a") == ["one", "two"])
        #expect(try rawRows(folder("test.db"), "SELECT count(*) FROM b") == [version < 3 ? "2" : "1"])
    }

    @Test("A step that fails leaves the version before it, whole")
    func failingStep() throws {
        let folder = try TemporaryFolder()
        _ = try makeDatabase(folder, schema(Self.version1))
        let broken = schema(Self.version1, Self.version2, "CREATE TABLE c(x); INSERT INTO nowhere VALUES(1)")
        #expect(throws: StoreError.self) { _ = try makeDatabase(folder, broken) }
        #expect(try rawRows(folder("test.db"), "PRAGMA user_version") == ["2"])
        #expect(try rawRows(folder("test.db"), "SELECT name FROM sqlite_schema") == ["a"])
        #expect(try rawRows(folder("test.db"), "SELECT y FROM a") == ["one!"])
    }

    @Test("A newer version is refused, and left as it is")
    func newer() throws {
        let folder = try TemporaryFolder()
        _ = try makeDatabase(folder, newest)
        let before = try folder.bytes("test.db")
        let error = StoreError.newer(path: folder("test.db"), version: 3, known: 2)
        #expect(throws: error) { _ = try makeDatabase(folder, schema(Self.version1, Self.version2)) }
        #expect(try folder.bytes("test.db") == before)
    }

    @Test("A version that never was is damage", arguments: [0, -1])
    func impossible(version: Int) throws {
        let folder = try TemporaryFolder()
        _ = try makeDatabase(folder, newest)
        try raw(folder("test.db"), "PRAGMA user_version = \(version)")
        #expect(throws: StoreError.self) { _ = try makeDatabase(folder, newest) }
    }

    @Test("Many that open an old version at once take each step once")
    func race() async throws {
        let folder = try TemporaryFolder()
        _ = try makeDatabase(folder, schema(Self.version1))
        let newest = newest
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...16 { group.addTask { _ = try makeDatabase(folder, newest) } }
            try await group.waitForAll()
        }
        #expect(try rawRows(folder("test.db"), "SELECT z FROM b") == ["one!"])
    }

    @Test("A history of version 1 can still be read")
    func historyVersion1() throws {
        let folder = try TemporaryFolder()
        try raw(folder("history.db"), frozenHistory)
        let history = try makeHistory(folder)
        let chat = try #require(try history.chats().first)
        #expect(chat.id == chatID(9) && chat.own == ada.id && chat.host == ada && chat.members.map(\.peer) == [bob])
        #expect(chat.started == 1000 && chat.ended == 3000 && chat.endReason == .empty)
        #expect(try history.texts("gruss") == ["Grüße"])
        let file = try #require(try history.files(matching: "photo").first)
        #expect(file.paths == ["/home/ada/photo.jpg"] && file.recipients.map(\.result?.status) == [.verified])
        #expect(try history.entries(of: chat).count == 2)
        #expect(try history.problems() == [])
    }

    @Test("A history of version 1 goes on, and one that is of the newest version already too", arguments: [1, 2])
    func historyGoesOn(version: Int) throws {
        let folder = try TemporaryFolder()
        try raw(folder("history.db"), frozenHistory + (version > 1 ? frozenStepTo2 : ""))
        let history = try makeHistory(folder)
        #expect(try rawRows(folder("history.db"), "PRAGMA user_version") == ["2"])
        let earlier = ChatMessage(
            chat: chatID(9), seq: 9, from: eve, text: "Grüße, früher", sent: 7, isEarlier: true, ref: nil, line: nil)
        try history.record(.message(earlier), by: ada, at: 4000)
        let found = try history.messages(matching: "gruss")
        #expect(found.map(\.text) == ["Grüße, früher", "Grüße"] && found.map(\.isEarlier) == [true, false])
        #expect(try history.problems() == [] && history.isIndexRight())
    }

    @Test("A history of a newer version is refused, and left as it is")
    func newerHistory() throws {
        let folder = try TemporaryFolder()
        try raw(folder("history.db"), frozenHistory + "PRAGMA user_version = 3;")
        let before = try folder.bytes("history.db")
        #expect(throws: StoreError.newer(path: folder("history.db"), version: 3, known: 2)) {
            _ = try makeHistory(folder)
        }
        #expect(try folder.bytes("history.db") == before)
    }

    @Test("Known peers of version 1 can still be read")
    func knownPeersVersion1() throws {
        let folder = try TemporaryFolder()
        try raw(
            folder("peers.db"),
            """
            PRAGMA application_id = 1885563760; PRAGMA user_version = 1;
            CREATE TABLE peer(
                id TEXT PRIMARY KEY, name TEXT NOT NULL, first_seen INTEGER, last_seen INTEGER, trust TEXT NOT NULL
            ) WITHOUT ROWID;
            INSERT INTO peer VALUES('\(bob.id)', 'Bob', 5, 6, 'trusted'), ('\(eve.id)', 'Eve', NULL, NULL, 'blocked');
            """)
        let peers = try #require(try KnownPeers.open(in: folder.path, creating: false))
        #expect(
            try peers.list() == [
                KnownPeer(peer: bob, firstSeen: 5, lastSeen: 6, trust: .trusted),
                KnownPeer(peer: eve, firstSeen: nil, lastSeen: nil, trust: .blocked),
            ])
    }

    /// What version 2 made of it; never to be changed.
    private let frozenStepTo2 =
        "ALTER TABLE entry ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0; PRAGMA user_version = 2;"

    /// A database as version 1 wrote it; never to be changed.
    private var frozenHistory: String {
        """
        PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 1885562985; PRAGMA user_version = 1;
        CREATE TABLE chat(
            id INTEGER PRIMARY KEY, own TEXT NOT NULL, chat TEXT NOT NULL, role TEXT NOT NULL, host TEXT NOT NULL,
            started INTEGER NOT NULL, ended INTEGER, reason TEXT, cause TEXT, UNIQUE(own, chat)
        );
        CREATE INDEX chat_started ON chat(started);
        CREATE TABLE participant(
            id INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chat(id) ON DELETE CASCADE, peer TEXT NOT NULL,
            name TEXT NOT NULL, joined INTEGER NOT NULL, gone INTEGER, reason TEXT, UNIQUE(chat, peer)
        );
        CREATE TABLE file(
            id INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chat(id) ON DELETE CASCADE,
            transfer TEXT NOT NULL, sender INTEGER NOT NULL, name TEXT NOT NULL, size INTEGER, files INTEGER NOT NULL,
            offered INTEGER NOT NULL, received INTEGER, paths INTEGER NOT NULL DEFAULT 0, folded TEXT NOT NULL,
            UNIQUE(chat, transfer)
        );
        CREATE INDEX file_transfer ON file(transfer);
        CREATE TABLE recipient(
            file INTEGER NOT NULL REFERENCES file(id) ON DELETE CASCADE, participant INTEGER NOT NULL,
            accepted INTEGER, status TEXT, reason TEXT, PRIMARY KEY(file, participant)
        ) WITHOUT ROWID;
        CREATE TABLE path(
            file INTEGER NOT NULL REFERENCES file(id) ON DELETE CASCADE, number INTEGER NOT NULL, path TEXT NOT NULL,
            PRIMARY KEY(file, number)
        ) WITHOUT ROWID;
        CREATE TABLE entry(
            id INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chat(id) ON DELETE CASCADE, kind TEXT NOT NULL,
            at INTEGER NOT NULL, participant INTEGER, file INTEGER, reason TEXT, seq INTEGER, sent INTEGER, text TEXT,
            folded TEXT
        );
        CREATE INDEX entry_chat ON entry(chat);
        CREATE INDEX entry_file ON entry(file) WHERE file IS NOT NULL;
        CREATE UNIQUE INDEX entry_seq ON entry(chat, seq) WHERE seq IS NOT NULL;
        CREATE VIEW message AS SELECT id, folded FROM entry WHERE folded IS NOT NULL;
        CREATE VIRTUAL TABLE search USING fts5(
            folded, content = 'message', content_rowid = 'id', tokenize = 'trigram case_sensitive 1', detail = none
        );
        INSERT INTO chat VALUES(1, '\(ada.id)', '\(chatID(9))', 'host', '\(ada.id)', 1000, 3000, 'empty', NULL);
        INSERT INTO participant VALUES
            (1, 1, '\(ada.id)', 'Ada', 1000, NULL, NULL), (2, 1, '\(bob.id)', 'Bob', 1000, 2500, 'left');
        INSERT INTO file VALUES
            (1, 1, '\(transferID(4))', 2, 'photo.jpg', 7, 1, 1500, 1600, 1, 'photo.jpg bob /home/ada/photo.jpg');
        INSERT INTO recipient VALUES(1, 1, 1, 'verified', NULL);
        INSERT INTO path VALUES(1, 0, '/home/ada/photo.jpg');
        INSERT INTO entry VALUES
            (1, 1, 'message', 1100, 2, NULL, NULL, 3, 1099, 'Grüße', 'grusse'),
            (2, 1, 'offered', 1500, 2, 1, NULL, NULL, NULL, NULL, NULL);
        INSERT INTO search(rowid, folded) VALUES(1, 'grusse');
        """
    }
}
