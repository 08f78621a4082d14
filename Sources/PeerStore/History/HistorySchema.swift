extension Schema {
    /// The history's tables.
    ///
    /// `chat.id` and the like are numbers of this database; `chat.chat`, `peer` and `transfer` are IDs in their text
    /// form, times are milliseconds since 1970, and words are those of the JSON events.
    static let history = Schema(applicationID: 0x7063_6869, migrations: [historyVersion1, historyVersion2])  // "pchi"

    // A chat is kept once for each own identity in it: two of them on one machine are two views of it.
    //
    // `entry` is the course of all chats, its numbers are its order. The search index holds no text of its own but
    // only which three letters stand together in which entry ("trigram", detail "none"): that finds parts of words,
    // costs less than positions would, and what the letters lead to is compared with `folded` anyway.
    private static let historyVersion1: StaticString = """
        CREATE TABLE chat(
            id INTEGER PRIMARY KEY,
            own TEXT NOT NULL,
            chat TEXT NOT NULL,
            role TEXT NOT NULL,
            host TEXT NOT NULL,
            started INTEGER NOT NULL,
            ended INTEGER,
            reason TEXT,
            cause TEXT,
            UNIQUE(own, chat)
        );
        CREATE INDEX chat_started ON chat(started);
        CREATE TABLE participant(
            id INTEGER PRIMARY KEY,
            chat INTEGER NOT NULL REFERENCES chat(id) ON DELETE CASCADE,
            peer TEXT NOT NULL,
            name TEXT NOT NULL,
            joined INTEGER NOT NULL,
            gone INTEGER,
            reason TEXT,
            UNIQUE(chat, peer)
        );
        CREATE TABLE file(
            id INTEGER PRIMARY KEY,
            chat INTEGER NOT NULL REFERENCES chat(id) ON DELETE CASCADE,
            transfer TEXT NOT NULL,
            sender INTEGER NOT NULL,
            name TEXT NOT NULL,
            size INTEGER,
            files INTEGER NOT NULL,
            offered INTEGER NOT NULL,
            received INTEGER,
            paths INTEGER NOT NULL DEFAULT 0,
            folded TEXT NOT NULL,
            UNIQUE(chat, transfer)
        );
        CREATE INDEX file_transfer ON file(transfer);
        CREATE TABLE recipient(
            file INTEGER NOT NULL REFERENCES file(id) ON DELETE CASCADE,
            participant INTEGER NOT NULL,
            accepted INTEGER,
            status TEXT,
            reason TEXT,
            PRIMARY KEY(file, participant)
        ) WITHOUT ROWID;
        CREATE TABLE path(
            file INTEGER NOT NULL REFERENCES file(id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            path TEXT NOT NULL,
            PRIMARY KEY(file, number)
        ) WITHOUT ROWID;
        CREATE TABLE entry(
            id INTEGER PRIMARY KEY,
            chat INTEGER NOT NULL REFERENCES chat(id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            at INTEGER NOT NULL,
            participant INTEGER,
            file INTEGER,
            reason TEXT,
            seq INTEGER,
            sent INTEGER,
            text TEXT,
            folded TEXT
        );
        CREATE INDEX entry_chat ON entry(chat);
        CREATE INDEX entry_file ON entry(file) WHERE file IS NOT NULL;
        CREATE UNIQUE INDEX entry_seq ON entry(chat, seq) WHERE seq IS NOT NULL;
        CREATE VIEW message AS SELECT id, folded FROM entry WHERE folded IS NOT NULL;
        CREATE VIRTUAL TABLE search USING fts5(
            folded, content = 'message', content_rowid = 'id', tokenize = 'trigram case_sensitive 1', detail = none
        );
        """

    // Which messages were said before this peer was there; of those in version 1 that is not known.
    private static let historyVersion2: StaticString = "ALTER TABLE entry ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0"
}
