internal import PeerModel

/// What of a chat can be read in one row.
private struct ChatRow {
    let row: Int64
    let id, own, role, host, hostName: String
    let started: Int64
    let ended: Int64?
    let reason, cause: String?
    let last, messages, files: Int64
}

extension Database {
    /// Newest first; `start` is that of the chat's ID.
    mutating func chats(start: String, own: PeerID?, limit: Int) throws(StoreError) -> [ChatRecord] {
        let rows = try rows(
            """
            SELECT chat.id, chat.chat, own, role, host, host.name, started, ended, chat.reason, cause,
                (SELECT at FROM entry WHERE entry.chat = chat.id ORDER BY entry.id DESC LIMIT 1),
                (SELECT count(*) FROM entry WHERE entry.chat = chat.id AND seq IS NOT NULL),
                (SELECT count(*) FROM file WHERE file.chat = chat.id)
            FROM chat JOIN participant host ON host.chat = chat.id AND host.peer = chat.host
            WHERE substr(chat.chat, 1, length(?1)) = ?1 AND own = coalesce(?2, own)
            ORDER BY started DESC, chat.id DESC LIMIT ?3
            """, .text(start), Value(own?.description), Value(limit)
        ) { row in
            ChatRow(
                row: row.integer(0), id: row.text(1), own: row.text(2), role: row.text(3), host: row.text(4),
                hostName: row.text(5), started: row.integer(6), ended: row.optionalInteger(7),
                reason: row.optionalText(8), cause: row.optionalText(9),
                last: max(row.integer(6), row.integer(7), row.integer(10)), messages: row.integer(11),
                files: row.integer(12))
        }
        var result: [ChatRecord] = []
        for row in rows { result.append(try record(row)) }
        return result
    }

    private mutating func record(_ row: ChatRow) throws(StoreError) -> ChatRecord {
        let path = path
        let members = try rows(
            """
            SELECT peer, name, joined, gone, reason FROM participant
            WHERE chat = ? AND peer <> ? AND (gone IS NULL OR reason IS NOT NULL) ORDER BY id
            """, .integer(row.row), .text(row.host)
        ) { row throws(StoreError) in
            ChatRecord.Member(
                peer: try parsePeer(row.text(0), row.text(1), path), joined: row.integer(2),
                left: row.optionalInteger(3), reason: row.optionalText(4).flatMap(DepartureReason.init))
        }
        return ChatRecord(
            id: try parse(row.id, ChatID.init, path), own: try parse(row.own, PeerID.init, path),
            role: try parse(row.role, ChatRole.init, path), host: try parsePeer(row.host, row.hostName, path),
            members: members, started: row.started, ended: row.ended,
            endReason: row.reason.flatMap(ChatEndReason.init), endCause: row.cause.flatMap(DepartureReason.init),
            lastActivity: row.last, messages: Int(row.messages), files: Int(row.files))
    }
}

/// A value as it was written, or the error that it is none.
func parse<Result>(_ text: String, _ read: (String) -> Result?, _ path: String) throws(StoreError) -> Result {
    guard let result = read(text) else { throw .damaged(path: path, reason: "“\(text)” is no value of its kind") }
    return result
}

func parsePeer(_ id: String, _ name: String, _ path: String) throws(StoreError) -> Peer {
    Peer(id: try parse(id, PeerID.init, path), name: name)
}
