internal import PeerModel

extension Database {
    mutating func prune(
        to limits: HistoryLimits, now: Int64, sparing running: [(own: PeerID, chat: ChatID)]
    ) throws(StoreError) -> Int {
        var end: Int64 = 0
        if let age = limits.age, case let (oldest, isTooFar) = now.subtractingReportingOverflow(age), !isTooFar {
            // All before the first that is young enough, so that a time noted by a wrong clock takes nothing with it.
            let young = try first("SELECT id FROM entry WHERE at >= ? ORDER BY id LIMIT 1", .integer(oldest)) {
                $0.integer(0)
            }
            end = young ?? .max
        }
        let used = try usedBytes()
        if used > limits.size {
            // A tenth less than allowed, so that it is not done again for the next line.
            let share = 1 - Double(max(limits.size, 0)) * 0.9 / Double(used)
            end = max(end, try entryAfter(share: share))
        }
        guard try integer("SELECT EXISTS(SELECT 1 FROM entry WHERE id < ?)", .integer(end)) == 1 else { return 0 }
        let count = try drop(before: end, sparing: running)
        try shrink()
        return count
    }

    private mutating func usedBytes() throws(StoreError) -> Int64 {
        let pages = try integer("PRAGMA page_count") - integer("PRAGMA freelist_count")
        return try pages * integer("PRAGMA page_size")
    }

    /// The first entry that stays: what is written in the entries before it is this share of all.
    private mutating func entryAfter(share: Double) throws(StoreError) -> Int64 {
        // Each entry has some bytes besides its text.
        let total = try integer("SELECT sum(coalesce(length(text), 0) + 64) FROM entry")
        let dropped = Int64(Double(total) * share)
        let end = try first(
            """
            SELECT id FROM (SELECT id, sum(coalesce(length(text), 0) + 64) OVER (ORDER BY id) AS size FROM entry)
            WHERE size > ? LIMIT 1
            """, .integer(dropped)
        ) { $0.integer(0) }
        return end ?? .max
    }

    /// A few at a time, so that other processes can write meanwhile.
    private mutating func drop(
        before end: Int64, sparing running: [(own: PeerID, chat: ChatID)]
    ) throws(StoreError) -> Int {
        var count = 0, lastChat: Int64 = 0
        while true {
            let dropped = try transaction { database throws(StoreError) -> (entries: Int, chat: Int64) in
                try database.dropSome(before: end)
            }
            guard dropped.entries > 0 else { break }
            count += dropped.entries
            lastChat = max(lastChat, dropped.chat)
        }
        try transaction { database throws(StoreError) in
            try database.run(
                "DELETE FROM file WHERE NOT EXISTS(SELECT 1 FROM entry WHERE entry.file = file.id)")
            let empty = try database.rows(
                """
                SELECT id, own, chat FROM chat
                WHERE id <= ? AND NOT EXISTS(SELECT 1 FROM entry WHERE entry.chat = chat.id)
                """, .integer(lastChat)
            ) { ($0.integer(0), $0.text(1), $0.text(2)) }
            for (row, own, chat) in empty {
                let isRunning = running.contains { $0.own.description == own && $0.chat.description == chat }
                if !isRunning { try database.run("DELETE FROM chat WHERE id = ?", .integer(row)) }
            }
        }
        return count
    }

    /// Gives how many entries there were, and the latest chat they belonged to.
    private mutating func dropSome(before end: Int64) throws(StoreError) -> (entries: Int, chat: Int64) {
        let some = try first(
            "SELECT count(*), max(id), max(chat) FROM (SELECT id, chat FROM entry WHERE id < ? ORDER BY id LIMIT 2000)",
            .integer(end)
        ) { (count: Int($0.integer(0)), last: $0.integer(1), chat: $0.integer(2)) }
        guard let some, some.count > 0 else { return (0, 0) }
        try run(
            """
            INSERT INTO search(search, rowid, folded)
            SELECT 'delete', id, folded FROM entry WHERE id <= ? AND folded IS NOT NULL
            """, .integer(some.last))
        try run("DELETE FROM entry WHERE id <= ?", .integer(some.last))
        return (some.count, some.chat)
    }
}
