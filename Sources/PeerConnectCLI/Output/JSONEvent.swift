internal import PeerModel

/// One line of `--json`: the event's name first, then the time, then its fields.
struct JSONEvent {
    private let name: String
    private let fields: [(key: String, value: JSONValue)]

    init(_ name: String, _ fields: [(key: String, value: JSONValue)]) {
        self.name = name
        self.fields = fields
    }

    func with(_ more: [(key: String, value: JSONValue)]) -> JSONEvent { JSONEvent(name, fields + more) }

    /// The line without its line feed; `now` in milliseconds since 1970.
    func line(now: Int64) -> String {
        let head: [(key: String, value: JSONValue)] = [
            ("event", .string(name)), ("time", .string(Timestamp.rfc3339(now))),
        ]
        return JSONValue.object(head + fields).text
    }

    /// The first one of a run with a node.
    ///
    /// `port` is `nil` when nothing listens.
    static func ready(id: PeerID, name: String, port: UInt16?, discovery: String, into: String) -> JSONEvent {
        JSONEvent(
            "ready",
            [
                ("schema", .int(1)), ("version", .string(programVersion)), ("id", .string(id.description)),
                ("name", .string(name)), ("port", JSONValue(port.map(Int.init))), ("discovery", .string(discovery)),
                ("into", .string(into)),
            ])
    }

    /// The last one of every run.
    static func exit(_ code: Int32) -> JSONEvent { JSONEvent("exit", [("code", .int(Int64(code)))]) }

    static func error(_ error: PeerConnectError) -> JSONEvent {
        JSONEvent(
            "error",
            [
                ("code", .string(error.code.rawValue)), ("message", .string(error.message)),
                ("hint", JSONValue(error.hint)),
            ])
    }

    /// The answer to an input line, with the fields of a list or of a message between `ok` and the end.
    static func reply(line: Int, extra: [(key: String, value: JSONValue)] = []) -> JSONEvent {
        JSONEvent("reply", [("line", .int(Int64(line))), ("ok", .bool(true))] + extra)
    }

    /// The answer to an input line that could not be done.
    static func reply(line: Int, error: PeerConnectError) -> JSONEvent {
        var fields: [(key: String, value: JSONValue)] = [
            ("line", .int(Int64(line))), ("ok", .bool(false)), ("code", .string(error.code.rawValue)),
            ("message", .string(error.message)), ("hint", JSONValue(error.hint)),
        ]
        if !error.candidates.isEmpty { fields.append(("candidates", .array(error.candidates.map(\.json)))) }
        return JSONEvent("reply", fields)
    }
}

extension Peer {
    /// How a peer is written everywhere: `{"id":…,"name":…}`.
    var json: JSONValue { ["id": .string(id.description), "name": .string(name)] }
}

extension InviteTarget {
    /// As a peer; without an ID while only an address is known.
    var json: JSONValue { peer?.json ?? ["id": .null, "name": .string(label)] }
}

extension OfferSummary {
    var json: JSONValue { ["name": .string(name), "size": JSONValue(size), "files": .int(Int64(files))] }
}

extension TransferResult {
    var json: JSONValue {
        ["to": peer.json, "status": .string(status.rawValue), "reason": JSONValue(reason?.rawValue)]
    }
}
