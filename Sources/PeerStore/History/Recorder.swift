internal import PeerModel

/// A chat that runs in this process.
struct RunningChat {
    let own: PeerID
    let chat: ChatID
    let role: ChatRole
    let host: Peer
    let started: Int64
    var members: [Peer]

    func has(_ peer: Peer) -> Bool { host.id == peer.id || members.contains { $0.id == peer.id } }
}

/// Writes one own identity's events into the tables.
struct Recorder {
    let me: Peer
    var running: [RunningChat]

    static func isHistory(_ event: NodeEvent) -> Bool {
        switch event {
        case .chatStarted, .memberJoined, .memberLeft, .chatEnded, .message: true
        case .fileOffered, .fileAnswered, .fileReceived, .fileDelivered, .fileDone: true
        default: false
        }
    }

    mutating func record(_ event: NodeEvent, at time: Int64, in database: inout Database) throws(StoreError) {
        switch event {
        case .chatStarted(let chat, let role, let host, let members, _):
            running.removeAll { $0.own == me.id && $0.chat == chat }
            let started = RunningChat(
                own: me.id, chat: chat, role: role, host: host, started: time, members: members)
            running.append(started)
            _ = try database.insert(started, at: time)
        case .memberJoined(let chat, let member):
            guard let row = try row(of: chat, in: &database) else { return }
            change(chat) { running in
                if !running.has(member) { running.members.append(member) }
            }
            let participant = try database.participant(member, of: row, at: time)
            if participant.isNew { try database.insertEntry(row, "joined", time, by: participant.row) }
        case .memberLeft(let chat, let member, let reason):
            guard let row = try row(of: chat, in: &database) else { return }
            let participant = try database.author(member, of: row, at: time)
            let before = database.changes
            try database.run(
                "UPDATE participant SET gone = ?, reason = ? WHERE id = ? AND gone IS NULL", .integer(time),
                .text(reason.rawValue), .integer(participant))
            guard database.changes > before else { return }
            try database.insertEntry(row, "left", time, by: participant, reason: reason.rawValue)
        case .chatEnded(let chat, let reason, let cause):
            if let row = try row(of: chat, in: &database) {
                try database.run(
                    "UPDATE chat SET ended = ?, reason = ?, cause = ? WHERE id = ?", .integer(time),
                    .text(reason.rawValue), Value(cause?.rawValue), .integer(row))
            }
            running.removeAll { $0.own == me.id && $0.chat == chat }
        case .message(let message):
            guard let row = try row(of: message.chat, in: &database) else { return }
            try database.insert(message, into: row, at: time)
        default: try recordFile(event, at: time, in: &database)
        }
    }

    private mutating func recordFile(
        _ event: NodeEvent, at time: Int64, in database: inout Database
    ) throws(StoreError) {
        switch event {
        case .fileOffered(let offer):
            guard let row = try row(of: offer.chat, in: &database) else { return }
            try database.insert(offer, into: row, at: time)
        case .fileAnswered(let transfer, let peer, let accepted, _):
            guard let file = try database.file(transfer, own: me.id) else { return }
            let recipient = try database.recipient(peer, of: file, at: time)
            try database.run(
                "UPDATE recipient SET accepted = ? WHERE file = ? AND participant = ?",
                .integer(accepted ? 1 : 0), .integer(file.id), .integer(recipient))
        case .fileReceived(let files):
            guard let file = try database.file(files.transfer, own: me.id) else { return }
            try database.insert(files, into: file, me: me, at: time)
        case .fileDelivered(let transfer, let result):
            guard let file = try database.file(transfer, own: me.id) else { return }
            try database.set(result, of: file, at: time)
        case .fileDone(let transfer, let results, _):
            guard let file = try database.file(transfer, own: me.id) else { return }
            for result in results { try database.set(result, of: file, at: time) }
            let isTold = try database.integer(
                "SELECT count(*) FROM entry WHERE file = ? AND kind = 'finished'", .integer(file.id))
            if isTold == 0 { try database.insertEntry(file.chat, "finished", time, file: file.id) }
        default: return
        }
    }

    /// The chat's row; `nil` for a chat that was never started here.
    private func row(of chat: ChatID, in database: inout Database) throws(StoreError) -> Int64? {
        if let row = try database.row(of: chat, own: me.id) { return row }
        // Cleared while it runs, or its start could not be written: what follows is kept.
        guard let running = running.last(where: { $0.own == me.id && $0.chat == chat }) else { return nil }
        return try database.insert(running, at: running.started)
    }

    private mutating func change(_ chat: ChatID, _ body: (inout RunningChat) -> Void) {
        guard let index = running.lastIndex(where: { $0.own == me.id && $0.chat == chat }) else { return }
        body(&running[index])
    }
}
