internal import PeerModel

private typealias Fields = [(key: String, value: JSONValue)]

/// The fields of each group; an event of another group gives an empty event of no name, which no caller asks for.
extension JSONEvent {
    static func discovery(_ event: NodeEvent) -> JSONEvent {
        switch event {
        case .discovery(let backend, let state, let reason):
            JSONEvent(
                "discovery",
                [("backend", .string(backend)), ("state", .string(state.rawValue)), ("reason", JSONValue(reason))])
        case .peerFound(let peer): JSONEvent("peer.found", peer.jsonFields)
        case .peerUpdated(let peer): JSONEvent("peer.updated", peer.jsonFields)
        case .peerLost(let peer, let reason): JSONEvent("peer.lost", peer.jsonFields + [("reason", .string(reason))])
        default: JSONEvent("", [])
        }
    }

    static func invite(_ event: NodeEvent) -> JSONEvent {
        switch event {
        case .inviteReceived(let number, let from, let purpose, let offer, let known):
            JSONEvent(
                "invite.received",
                [
                    ("number", .int(Int64(number))), ("from", from.json), ("known", .string(known.rawValue)),
                    ("purpose", .string(purpose.rawValue)), ("offer", offer?.json ?? .null),
                ])
        case .inviteWithdrawn(let number, let reason):
            JSONEvent("invite.withdrawn", [("number", .int(Int64(number))), ("reason", .string(reason))])
        case .inviteRefused(let from, let answer):
            JSONEvent("invite.refused", [("from", from.json), ("answer", .string(answer.rawValue))])
        case .inviteAnswered(let target, let answer, let reason, let line):
            JSONEvent(
                "invite.answered",
                [("peer", target.json), ("answer", .string(answer.rawValue)), ("reason", JSONValue(reason))]
                    + lineField(line))
        case .inviteDone(let chat, let answers, let line):
            JSONEvent(
                "invite.done",
                [
                    ("chat", JSONValue(chat?.description)),
                    ("answers", .array(answers.map { ["peer": $0.0.json, "answer": .string($0.1.rawValue)] })),
                ] + lineField(line))
        default: JSONEvent("", [])
        }
    }

    static func chat(_ event: NodeEvent) -> JSONEvent {
        switch event {
        case .chatStarted(let chat, let role, let host, let members, let purpose):
            JSONEvent(
                "chat.started",
                [
                    ("chat", .string(chat.description)), ("role", .string(role.rawValue)), ("host", host.json),
                    ("members", .array(members.map(\.json))), ("purpose", .string(purpose.rawValue)),
                ])
        case .memberJoined(let chat, let member):
            JSONEvent("member.joined", [("chat", .string(chat.description)), ("member", member.json)])
        case .memberLeft(let chat, let member, let reason):
            JSONEvent(
                "member.left",
                [("chat", .string(chat.description)), ("member", member.json), ("reason", .string(reason.rawValue))])
        case .chatEnded(let chat, let reason, let cause):
            JSONEvent(
                "chat.ended",
                [
                    ("chat", .string(chat.description)), ("reason", .string(reason.rawValue)),
                    ("cause", JSONValue(cause?.rawValue)),
                ])
        default: JSONEvent("", [])
        }
    }

    static func message(_ event: NodeEvent) -> JSONEvent {
        switch event {
        case .message(let message):
            JSONEvent("message", message.jsonFields)
        case .messageDelivered(let chat, let seq, let ref, let missing, let line):
            JSONEvent(
                "message.delivered",
                [
                    ("chat", .string(chat.description)), ("seq", .uint(seq)), ("ref", .int(Int64(ref))),
                    ("missing", .array(missing.map(\.json))),
                ] + lineField(line))
        case .messageFailed(let chat, let ref, let reason, let line):
            JSONEvent(
                "message.failed",
                [
                    ("chat", .string(chat.description)), ("seq", .null), ("ref", .int(Int64(ref))),
                    ("missing", .array([])),
                ]
                    + [("reason", .string(reason))] + lineField(line))
        default: JSONEvent("", [])
        }
    }

    static func file(_ event: NodeEvent) -> JSONEvent {
        switch event {
        case .fileOffered(let offer): JSONEvent("file.offered", offer.jsonFields + lineField(offer.line))
        case .fileAnswered(let transfer, let peer, let accepted, let automatic):
            JSONEvent(
                "file.answered",
                [
                    ("transfer", .string(transfer.description)), ("peer", peer.json),
                    ("answer", accepted ? "accepted" : "declined"), ("auto", .bool(automatic)),
                ])
        case .fileProgress(let progress): JSONEvent("file.progress", progress.jsonFields)
        case .fileReceived(let files): JSONEvent("file.received", files.jsonFields)
        case .fileDelivered(let transfer, let result):
            JSONEvent(
                "file.delivered",
                [
                    ("transfer", .string(transfer.description)), ("to", result.peer.json),
                    ("status", .string(result.status.rawValue)), ("reason", JSONValue(result.reason?.rawValue)),
                ])
        case .fileDone(let transfer, let results, let line):
            JSONEvent(
                "file.done",
                [("transfer", .string(transfer.description)), ("results", .array(results.map(\.json)))]
                    + lineField(line))
        default: JSONEvent("", [])
        }
    }

    /// Own events carry the input line that caused them, if one did.
    private static func lineField(_ line: Int?) -> [(key: String, value: JSONValue)] {
        // What was not typed has a number below 1.
        line.flatMap { $0 > 0 ? [("line", .int(Int64($0)))] : nil } ?? []
    }
}

extension ListedPeer {
    fileprivate var jsonFields: Fields {
        [
            ("peer", peer.json), ("number", .int(Int64(number))), ("state", .string(isBusy ? "busy" : "idle")),
            ("kind", .string(kind)), ("known", .string(known.rawValue)),
            ("addresses", .array(addresses.map { .string($0.description) })),
        ]
    }

    var json: JSONValue { .object(jsonFields) }
}

extension ChatMessage {
    fileprivate var jsonFields: Fields {
        var fields: Fields = [
            ("chat", .string(chat.description)), ("seq", .uint(seq)), ("from", from.json), ("text", .string(text)),
            ("sent", .string(Timestamp.rfc3339(sent))), ("mine", .bool(ref != nil)), ("earlier", .bool(isEarlier)),
        ]
        if let ref { fields.append(("ref", .int(Int64(ref)))) }
        if let line { fields.append(("line", .int(Int64(line)))) }
        return fields
    }
}

extension FileOffer {
    fileprivate var jsonFields: Fields {
        [
            ("number", .int(Int64(number))), ("chat", .string(chat.description)),
            ("transfer", .string(transfer.description)), ("from", from.json), ("to", .array(to.map(\.json))),
            ("mine", .bool(isMine)),
            ("name", .string(summary.name)), ("size", JSONValue(summary.size)), ("files", .int(Int64(summary.files))),
        ]
    }

    var json: JSONValue { .object(jsonFields) }
}

extension FileProgress {
    fileprivate var jsonFields: Fields {
        var fields: Fields = [
            ("transfer", .string(transfer.description)), ("direction", recipient == nil ? "in" : "out"),
        ]
        if let recipient { fields.append(("peer", recipient.json)) }
        fields += [("bytes", .uint(bytes)), ("size", .uint(size)), ("rate", .uint(rate))]
        return fields + (from.map { [("from", .uint($0))] } ?? [])
    }
}

extension ReceivedFiles {
    /// The lists of mended and skipped entries are as long as the sender likes, so only their start is told.
    fileprivate var jsonFields: Fields {
        [
            ("transfer", .string(transfer.description)), ("from", from.json),
            ("paths", .array(paths.map { .string($0) })), ("size", .uint(size)),
            ("mended", .array(mended.prefix(100).map { .string($0) })), ("mendedCount", .int(Int64(mended.count))),
            ("skipped", .array(skipped.prefix(100).map { .string($0) })), ("skippedCount", .int(Int64(skipped.count))),
        ]
    }
}
