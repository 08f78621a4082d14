internal import PeerModel

/// An offer's row and that of its chat.
struct FileRow {
    let id: Int64
    let chat: Int64
}

/// The changes that `Recorder` makes of events; each is harmless when it is made again.
extension Database {
    /// More paths than anybody reads through, and few enough for a list in memory.
    private static let pathsKept = 1000

    // MARK: Chats

    mutating func row(of chat: ChatID, own: PeerID) throws(StoreError) -> Int64? {
        try first(
            "SELECT id FROM chat WHERE own = ? AND chat = ?", .text(own.description), .text(chat.description)
        ) { $0.integer(0) }
    }

    /// One that is there, since this peer is in it again, runs again.
    mutating func insert(_ chat: RunningChat, at time: Int64) throws(StoreError) -> Int64 {
        let row = try first(
            """
            INSERT INTO chat(own, chat, role, host, started) VALUES(?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET ended = NULL, reason = NULL, cause = NULL RETURNING id
            """, .text(chat.own.description), .text(chat.chat.description), .text(chat.role.rawValue),
            .text(chat.host.id.description), .integer(time)
        ) { $0.integer(0) }
        guard let row else { throw damaged("a chat cannot be added") }
        for peer in [chat.host] + chat.members { _ = try participant(peer, of: row, at: time) }
        return row
    }

    /// The row of someone in a chat, who is there from now on; new when it was not.
    mutating func participant(
        _ peer: Peer, of chat: Int64, at time: Int64
    ) throws(StoreError) -> (row: Int64, isNew: Bool) {
        let id = peer.id.description
        let found = try first(
            "SELECT id, gone IS NOT NULL FROM participant WHERE chat = ? AND peer = ?", .integer(chat), .text(id)
        ) { (row: $0.integer(0), isNew: $0.integer(1) == 1) }
        if let found {
            if found.isNew {
                try run("UPDATE participant SET gone = NULL, reason = NULL WHERE id = ?", .integer(found.row))
            }
            return found
        }
        try run(
            "INSERT INTO participant(chat, peer, name, joined) VALUES(?, ?, ?, ?)", .integer(chat), .text(id),
            .text(peer.name), .integer(time))
        return (try integer("SELECT last_insert_rowid()"), true)
    }

    /// Like `participant`, but brings nobody back: a line or an answer may come from someone who has left since.
    mutating func author(_ peer: Peer, of chat: Int64, at time: Int64) throws(StoreError) -> Int64 {
        let found = try first(
            "SELECT id FROM participant WHERE chat = ? AND peer = ?", .integer(chat), .text(peer.id.description)
        ) { $0.integer(0) }
        if let found { return found }
        return try participant(peer, of: chat, at: time).row
    }

    /// Like `author`, for someone who may have left before this peer came: a name at its lines, but no member.
    private mutating func earlierAuthor(_ peer: Peer, of chat: Int64, at time: Int64) throws(StoreError) -> Int64 {
        let before = changes
        let row = try author(peer, of: chat, at: time)
        if changes > before { try run("UPDATE participant SET gone = joined WHERE id = ?", .integer(row)) }
        return row
    }

    // MARK: Entries

    mutating func insertEntry(
        _ chat: Int64, _ kind: String, _ time: Int64, by participant: Int64? = nil, file: Int64? = nil,
        reason: String? = nil
    ) throws(StoreError) {
        try run(
            "INSERT INTO entry(chat, kind, at, participant, file, reason) VALUES(?, ?, ?, ?, ?, ?)", .integer(chat),
            .text(kind), .integer(time), Value(participant), Value(file), Value(reason))
    }

    mutating func insert(_ message: ChatMessage, into chat: Int64, at time: Int64) throws(StoreError) {
        let seq = Int64(bitPattern: message.seq)  // as many values either way
        let isTold = try integer(
            "SELECT EXISTS(SELECT 1 FROM entry WHERE chat = ? AND seq = ?)", .integer(chat), .integer(seq))
        guard isTold == 0 else { return }
        let folded = SearchText.folded(message.text)
        let author =
            if message.isEarlier {
                try earlierAuthor(message.from, of: chat, at: time)
            } else {
                try author(message.from, of: chat, at: time)
            }
        try run(
            """
            INSERT INTO entry(chat, kind, at, participant, seq, sent, text, folded, earlier)
            VALUES(?, 'message', ?, ?, ?, ?, ?, ?, ?)
            """, .integer(chat), .integer(time), .integer(author), .integer(seq), .integer(message.sent),
            .text(message.text), .text(folded), Value(message.isEarlier ? 1 : 0))
        try run("INSERT INTO search(rowid, folded) VALUES(last_insert_rowid(), ?)", .text(folded))
    }

    // MARK: Files

    /// The latest offer of a transfer: it may be offered again in another chat.
    mutating func file(_ transfer: TransferID, own: PeerID) throws(StoreError) -> FileRow? {
        try first(
            """
            SELECT file.id, file.chat FROM file JOIN chat ON chat.id = file.chat
            WHERE file.transfer = ? AND chat.own = ? ORDER BY file.id DESC LIMIT 1
            """, .text(transfer.description), .text(own.description)
        ) { FileRow(id: $0.integer(0), chat: $0.integer(1)) }
    }

    mutating func insert(_ offer: FileOffer, into chat: Int64, at time: Int64) throws(StoreError) {
        let sender = try author(offer.from, of: chat, at: time)
        let size = offer.summary.size.map { Int64(clamping: $0) }
        let inserted = try first(
            """
            INSERT INTO file(chat, transfer, sender, name, size, files, offered, folded) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING RETURNING id
            """, .integer(chat), .text(offer.transfer.description), .integer(sender), .text(offer.summary.name),
            Value(size), Value(offer.summary.files), .integer(time),
            .text(SearchText.folded(offer.summary.name + "\n" + offer.from.name))
        ) { $0.integer(0) }
        // Offered again after it had ended, perhaps to others too: results of the new offer take the places of the former.
        let row =
            if let inserted {
                inserted
            } else {
                try integer(
                    "SELECT id FROM file WHERE chat = ? AND transfer = ?", .integer(chat),
                    .text(offer.transfer.description))
            }
        let file = FileRow(id: row, chat: chat)
        for peer in offer.to { _ = try recipient(peer, of: file, at: time) }
        guard inserted != nil else { return }
        try insertEntry(chat, "offered", time, by: sender, file: row)
    }

    /// The participant that a recipient is.
    mutating func recipient(_ peer: Peer, of file: FileRow, at time: Int64) throws(StoreError) -> Int64 {
        let participant = try author(peer, of: file.chat, at: time)
        try run(
            "INSERT INTO recipient(file, participant) VALUES(?, ?) ON CONFLICT DO NOTHING", .integer(file.id),
            .integer(participant))
        return participant
    }

    mutating func set(_ result: TransferResult, of file: FileRow, at time: Int64) throws(StoreError) {
        let participant = try recipient(result.peer, of: file, at: time)
        try run(
            "UPDATE recipient SET status = ?, reason = ? WHERE file = ? AND participant = ?",
            .text(result.status.rawValue), Value(result.reason?.rawValue), .integer(file.id), .integer(participant))
    }

    mutating func insert(_ files: ReceivedFiles, into file: FileRow, me: Peer, at time: Int64) throws(StoreError) {
        let isFirst = try integer("SELECT received IS NULL FROM file WHERE id = ?", .integer(file.id)) == 1
        let kept = files.paths.prefix(Self.pathsKept)
        for (number, path) in kept.enumerated() {
            try run(
                "INSERT OR REPLACE INTO path(file, number, path) VALUES(?, ?, ?)", .integer(file.id), Value(number),
                .text(path))
        }
        try run("DELETE FROM path WHERE file = ? AND number >= ?", .integer(file.id), Value(kept.count))
        try run(
            """
            UPDATE file SET received = ?, paths = ?, size = coalesce(size, ?), folded = folded || ? WHERE id = ?
            """, .integer(time), Value(files.paths.count), .integer(Int64(clamping: files.size)),
            .text(isFirst ? SearchText.folded("\n" + kept.joined(separator: "\n")) : ""), .integer(file.id))
        guard isFirst else { return }
        try insertEntry(file.chat, "received", time, by: author(me, of: file.chat, at: time), file: file.id)
    }
}
