internal import PeerModel

extension Database {
    mutating func files(_ query: SearchQuery, own: PeerID?, limit: Int) throws(StoreError) -> [FileRecord] {
        let rows = try rows(
            composed: """
                SELECT file.id FROM file JOIN chat ON chat.id = file.chat
                WHERE chat.own = coalesce(?, chat.own)\(query.conditions(on: "file.folded"))
                ORDER BY file.id DESC LIMIT ?
                """, [Value(own?.description)] + query.values + [Value(limit)]
        ) { $0.integer(0) }
        var result: [FileRecord] = []
        for row in rows { if let file = try file(row) { result.append(file) } }
        return result
    }

    mutating func file(_ row: Int64) throws(StoreError) -> FileRecord? {
        let path = path
        let recipients = try rows(
            """
            SELECT peer, name, accepted, status, recipient.reason
            FROM recipient JOIN participant ON participant.id = participant WHERE file = ? ORDER BY participant
            """, .integer(row)
        ) { row throws(StoreError) in
            let peer = try parsePeer(row.text(0), row.text(1), path)
            let result = row.optionalText(3).flatMap(TransferStatus.init).map {
                TransferResult(peer: peer, status: $0, reason: row.optionalText(4).flatMap(TransferReason.init))
            }
            return FileRecord.Recipient(peer: peer, accepted: row.optionalInteger(2).map { $0 == 1 }, result: result)
        }
        let paths = try rows("SELECT path FROM path WHERE file = ? ORDER BY number", .integer(row)) { $0.text(0) }
        return try first(
            """
            SELECT chat.chat, own, transfer, peer, participant.name, file.name, size, files, offered, received, paths
            FROM file JOIN chat ON chat.id = file.chat JOIN participant ON participant.id = sender WHERE file.id = ?
            """, .integer(row)
        ) { row throws(StoreError) in
            FileRecord(
                chat: try parse(row.text(0), ChatID.init, path), own: try parse(row.text(1), PeerID.init, path),
                transfer: try parse(row.text(2), TransferID.init, path),
                from: try parsePeer(row.text(3), row.text(4), path),
                summary: OfferSummary(
                    name: row.text(5), size: row.optionalInteger(6).map { UInt64(clamping: $0) },
                    files: Int(clamping: row.integer(7))),
                offered: row.integer(8), recipients: recipients, received: row.optionalInteger(9), paths: paths,
                pathCount: Int(clamping: row.integer(10)))
        }
    }
}
