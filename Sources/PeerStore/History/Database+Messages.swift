internal import PeerModel

extension Database {
    private static let messageColumns =
        "e.id, chat.chat, chat.own, e.seq, p.peer, p.name, e.text, e.sent, e.at, e.earlier"

    mutating func messages(
        _ query: SearchQuery, own: PeerID?, before position: Int64, limit: Int
    ) throws(StoreError) -> [MessageRecord] {
        guard !query.words.isEmpty else { return [] }
        // CROSS JOIN keeps this order: the newest candidates first, and no further than the limit.
        let source =
            if query.match == nil { "entry e" } else { "search CROSS JOIN entry e ON e.id = search.rowid" }
        let number = query.match == nil ? "e.id" : "search.rowid"
        let sql = """
            SELECT \(Self.messageColumns) FROM \(source)
            CROSS JOIN chat ON chat.id = e.chat CROSS JOIN participant p ON p.id = e.participant
            WHERE \(query.match == nil ? "" : "search MATCH ? AND ")\(number) < ? AND chat.own = coalesce(?, chat.own)
            \(query.conditions(on: "e.folded")) ORDER BY \(number) DESC LIMIT ?
            """
        let values = (query.match.map { [.text($0)] } ?? []) + [.integer(position), Value(own?.description)]
        let path = path
        return try rows(composed: sql, values + query.values + [Value(limit)]) { row throws(StoreError) in
            try Self.message(row, path)
        }
    }

    static func message(_ row: borrowing Row, _ path: String) throws(StoreError) -> MessageRecord {
        MessageRecord(
            chat: try parse(row.text(1), ChatID.init, path), own: try parse(row.text(2), PeerID.init, path),
            position: row.integer(0), seq: UInt64(bitPattern: row.integer(3)),
            from: try parsePeer(row.text(4), row.text(5), path), text: row.text(6), sent: row.integer(7),
            recorded: row.integer(8), isEarlier: row.integer(9) == 1)
    }

    // MARK: The course of a chat

    private struct EntryRow {
        let position, at: Int64
        let kind: String
        let reason: String?
        let peer: Peer?
        let file: Int64?
        let message: MessageRecord?
    }

    mutating func entries(
        of chat: ChatRecord, after position: Int64, limit: Int
    ) throws(StoreError) -> [HistoryEntry] {
        guard let row = try row(of: chat.id, own: chat.own) else { return [] }
        let path = path
        let sql = """
            SELECT \(Self.messageColumns), e.kind, e.reason, e.file
            FROM entry e CROSS JOIN chat ON chat.id = e.chat LEFT JOIN participant p ON p.id = e.participant
            WHERE e.chat = ? AND e.id > ? ORDER BY e.id LIMIT ?
            """
        let rows = try rows(composed: sql, [.integer(row), .integer(position), Value(limit)]) {
            row throws(StoreError) in
            let kind = row.text(10), id = row.optionalText(4)
            return EntryRow(
                position: row.integer(0), at: row.integer(8), kind: kind, reason: row.optionalText(11),
                peer: try id.map { id throws(StoreError) in try parsePeer(id, row.text(5), path) },
                file: row.optionalInteger(12), message: kind == "message" ? try Self.message(row, path) : nil)
        }
        var files: [Int64: FileRecord] = [:], result: [HistoryEntry] = []
        for row in rows {
            if let file = row.file, files[file] == nil { files[file] = try self.file(file) }
            if let kind = kind(of: row, row.file.flatMap { files[$0] }) {
                result.append(HistoryEntry(position: row.position, at: row.at, kind: kind))
            }
        }
        return result
    }

    /// `nil` for what a part of is gone, and for kinds that are not known.
    private func kind(of row: EntryRow, _ file: FileRecord?) -> HistoryEntry.Kind? {
        switch row.kind {
        case "message": row.message.map { .message($0) }
        case "joined": row.peer.map { .joined($0) }
        case "left":
            if let peer = row.peer, let reason = row.reason.flatMap(DepartureReason.init) {
                .left(peer, reason)
            } else {
                nil
            }
        case "offered": file.map { .offered($0) }
        case "received": file.map { .received($0) }
        case "finished": file.map { .finished($0) }
        default: nil
        }
    }
}
