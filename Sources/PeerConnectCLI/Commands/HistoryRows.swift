internal import PeerModel
internal import PeerStore

/// The records of the history as lines, in local time, and as JSON.
enum HistoryRows {
    /// How much of a chat's ID is shown: 40 bits tell the chats of a lifetime apart, and more may be typed.
    private static let idShown = 8

    static func json(_ chat: ChatRecord) -> [(key: String, value: JSONValue)] {
        [
            ("chat", .string(chat.id.description)), ("own", .string(chat.own.description)),
            ("role", .string(chat.role.rawValue)), ("host", chat.host.json),
            ("members", .array(chat.members.map(\.peer.json))), ("started", .string(Timestamp.rfc3339(chat.started))),
            ("ended", JSONValue(chat.ended.map(Timestamp.rfc3339))), ("reason", JSONValue(chat.endReason?.rawValue)),
            ("cause", JSONValue(chat.endCause?.rawValue)), ("messages", .int(Int64(chat.messages))),
            ("files", .int(Int64(chat.files))),
        ]
    }

    static func json(_ message: MessageRecord) -> [(key: String, value: JSONValue)] {
        [
            ("chat", .string(message.chat.description)), ("seq", .uint(message.seq)), ("from", message.from.json),
            ("text", .string(message.text)), ("sent", .string(Timestamp.rfc3339(message.sent))),
            ("recorded", .string(Timestamp.rfc3339(message.recorded))), ("mine", .bool(message.isMine)),
            ("earlier", .bool(message.isEarlier)),
        ]
    }

    static func json(_ file: FileRecord) -> [(key: String, value: JSONValue)] {
        let recipients = file.recipients.map { recipient -> JSONValue in
            [
                "peer": recipient.peer.json,
                "answer": recipient.accepted.map { $0 ? "accepted" : "declined" } ?? .null,
                "status": JSONValue(recipient.result?.status.rawValue),
                "reason": JSONValue(recipient.result?.reason?.rawValue),
            ]
        }
        return [
            ("chat", .string(file.chat.description)), ("transfer", .string(file.transfer.description)),
            ("from", file.from.json), ("mine", .bool(file.isMine)), ("name", .string(file.summary.name)),
            ("size", JSONValue(file.summary.size)), ("files", .int(Int64(file.summary.files))),
            ("offered", .string(Timestamp.rfc3339(file.offered))), ("to", .array(recipients)),
            ("received", JSONValue(file.received.map(Timestamp.rfc3339))),
            ("paths", .array(file.paths.map { .string($0) })), ("pathCount", .int(Int64(file.pathCount))),
        ]
    }

    /// `ID, start, with whom, how much`, separated by tabs.
    static func line(_ chat: ChatRecord, _ offset: (Int64) -> Int64) -> String {
        let others = ([chat.host] + chat.members.map(\.peer)).filter { $0.id != chat.own }
        let amount = "\(Amount.counted(chat.messages, "message")), \(Amount.counted(chat.files, "file"))"
        return [
            short(chat.id), Timestamp.local(chat.started, offset), Amount.list(others.map { NameBook.clean($0.name) }),
            amount,
        ].joined(separator: "\t")
    }

    /// `time name: text`; further lines of a text are indented under a bar, as in the chat.
    ///
    /// What was said before this peer came is `time name, earlier: text`, with the author's time.
    static func line(_ message: MessageRecord, _ offset: (Int64) -> Int64) -> String {
        let lines = SafeText.multiline(message.text).split(separator: "\n", omittingEmptySubsequences: false)
        // When it came says little of such a line, so it is its author's clock that is shown.
        let time = message.isEarlier ? message.sent : message.recorded
        let author = NameBook.clean(message.from.name) + (message.isEarlier ? ", earlier" : "")
        return "\(Timestamp.local(time, offset)) \(author): " + lines.joined(separator: PlainNarrator.bar)
    }

    /// `chat, time, sender, what, first path, result`, separated by tabs; the path is empty where there is none.
    static func line(_ file: FileRecord, _ offset: (Int64) -> Int64) -> String {
        [
            short(file.chat), Timestamp.local(file.offered, offset), NameBook.clean(file.from.name),
            PlainNarrator.describe(file.summary), file.paths.first.map { SafeText.line($0) } ?? "", result(file),
        ].joined(separator: "\t")
    }

    /// The same for the prompt.
    ///
    /// `2026-11-30 00:53, Ada offered “plan.pdf”, 9 bytes: received, /d/plan.pdf.`
    static func sentence(_ file: FileRecord, _ offset: (Int64) -> Int64) -> String {
        let who = file.isMine ? "you" : NameBook.clean(file.from.name)
        let place = file.paths.first.map { ", \(SafeText.path($0))" } ?? ""
        return
            "\(Timestamp.local(file.offered, offset)), \(who) offered \(PlainNarrator.describe(file.summary)): \(result(file))\(place)."
    }

    private static func result(_ file: FileRecord) -> String {
        if file.paths.isEmpty, file.received == nil {
            return file.recipients.map { "\(NameBook.clean($0.peer.name)) \(state($0))" }.joined(separator: ", ")
        }
        return file.pathCount > 1 ? "received with \(file.pathCount - 1) more" : "received"
    }

    /// Something that is not a message, in the course of a chat.
    static func line(_ entry: HistoryEntry, _ offset: (Int64) -> Int64) -> String {
        let time = Timestamp.local(entry.at, offset)
        return switch entry.kind {
        case .message(let message): line(message, offset)
        case .joined(let peer): "\(time) \(NameBook.clean(peer.name)) joined the chat."
        case .left(let peer, let reason): "\(time) \(NameBook.clean(peer.name)) is gone (\(reason.rawValue))."
        case .offered(let file):
            "\(time) \(NameBook.clean(file.from.name)) offered \(PlainNarrator.describe(file.summary))."
        case .received(let file):
            "\(time) Received \(file.paths.isEmpty ? "the files" : SafeText.path(file.paths[0]))"
                + (file.pathCount > 1 ? " and \(file.pathCount - 1) more." : ".")
        case .finished(let file): "\(time) Finished with \(SafeText.quoted(file.summary.name)). \(ending(file))"
        }
    }

    /// The line for the prompt that invites all the others of a chat into a new one; `nil` when there are none.
    ///
    /// By their full IDs: names may be others' by then, and short forms ambiguous.
    static func invitation(_ chat: ChatRecord) -> String? {
        let others = ([chat.host] + chat.members.map(\.peer)).filter { $0.id != chat.own }
        return others.isEmpty ? nil : "/invite " + others.map(\.id.description).joined(separator: " ")
    }

    static func short(_ chat: ChatID) -> String { String(chat.description.prefix(idShown)) }

    /// Who has it, and who has not and why.
    private static func ending(_ file: FileRecord) -> String {
        let results = file.recipients.compactMap { recipient in
            recipient.result
                ?? (recipient.accepted == false ? TransferResult(peer: recipient.peer, status: .declined) : nil)
        }
        let silent = file.recipients.filter { $0.result == nil && $0.accepted != false }.map(\.peer)
        let narrator = PlainNarrator(me: Peer(id: file.own, name: ""))
        let sentences = [
            results.isEmpty && !silent.isEmpty ? nil : narrator.summary(of: results),
            silent.isEmpty ? nil : "Nothing is known of \(narrator.list(silent)).",
        ]
        return sentences.compactMap { $0 }.joined(separator: " ")
    }

    private static func state(_ recipient: FileRecord.Recipient) -> String {
        recipient.result?.status.rawValue ?? recipient.accepted.map { $0 ? "accepted" : "declined" } ?? "no answer"
    }
}
