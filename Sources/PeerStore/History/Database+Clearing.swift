internal import PeerModel

extension Database {
    // MARK: Clearing

    mutating func remove(_ chats: [ChatRecord]) throws(StoreError) -> Int {
        var count = 0
        for chat in chats {
            guard let row = try row(of: chat.id, own: chat.own) else { continue }
            // The index has no text of its own: what is taken out of it must be said (www.sqlite.org/fts5.html, 4.4.3).
            try run(
                """
                INSERT INTO search(search, rowid, folded)
                SELECT 'delete', id, folded FROM entry WHERE chat = ? AND folded IS NOT NULL
                """, .integer(row))
            try run("DELETE FROM chat WHERE id = ?", .integer(row))  // and with it all that belongs to it
            count += 1
        }
        return count
    }

    mutating func removeAll() throws(StoreError) -> Int {
        let count = try integer("SELECT count(*) FROM chat")
        try run("INSERT INTO search(search) VALUES('delete-all')")
        try run("DELETE FROM entry")  // at once, instead of chat by chat
        try run("DELETE FROM chat")
        return Int(count)
    }

    /// Takes what was removed out of the files too.
    ///
    /// `secure_delete` alone does not: rows that SQLite moved from page to page leave copies, which only writing the
    /// whole database anew takes away; it passes through memory.
    mutating func scrub() throws(StoreError) {
        try mergeIndex()
        try script("VACUUM")
        guard try emptyLog() else { throw .busy(path: path) }
    }

    /// Makes the files as small as what is in them, a few pages at a time, so that other processes can write meanwhile.
    mutating func shrink() throws(StoreError) {
        try mergeIndex()
        try giveBackPages()
        _ = try emptyLog()
    }

    /// Forgets the pages that the log keeps as they were before; does nothing without one.
    ///
    /// False when others are in the way.
    private mutating func emptyLog() throws(StoreError) -> Bool {
        try first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) == 0 } ?? true
    }

    /// Makes one part of all parts of the index, which leaves behind what is marked as deleted in them.
    ///
    /// The same as `optimize`, but bit by bit, so that other processes can write meanwhile (www.sqlite.org/fts5.html,
    /// 6.8).
    private mutating func mergeIndex() throws(StoreError) {
        let pages = 500
        var before = changes
        try run("INSERT INTO search(search, rank) VALUES('merge', ?)", Value(-pages))
        while changes - before >= 2 {
            before = changes
            try run("INSERT INTO search(search, rank) VALUES('merge', ?)", Value(pages))
        }
    }

    private mutating func giveBackPages() throws(StoreError) {
        var free = try integer("PRAGMA freelist_count")
        while free > 0 {
            try script("PRAGMA incremental_vacuum(1000)")
            let left = try integer("PRAGMA freelist_count")
            guard left < free else { return }
            free = left
        }
    }
}
