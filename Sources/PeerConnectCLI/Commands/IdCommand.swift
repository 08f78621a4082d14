internal import PeerModel

/// `peerconnect id`: the own identities.
struct IdCommand: Command {
    static let spec = CommandSpec(
        name: "id", synopsis: "[show|list|new NAME|use NAME|rename NEW]", summary: "show and change own identities",
        options: [],
        notes: [
            "show         the current identity: name and ID, separated by a tab",
            "list         all of them; the current one is marked",
            "new NAME     make one",
            "use NAME     make it the current one",
            "rename NEW   another name for the current one, under the same key",
        ])

    private enum Action: Sendable {
        case show, list
        case new(DisplayName)
        case use(DisplayName)
        case rename(DisplayName)
    }

    private let action: Action

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        let words = arguments.operands
        let verb = words.first ?? "show"
        let verbs = ["show", "list", "new", "use", "rename"]
        guard verbs.contains(verb) else {
            throw UsageError.unknown(verb: verb, of: "id", among: verbs)
        }
        let takesName = !["show", "list"].contains(verb)
        guard words.count == (takesName ? 2 : min(words.count, 1)) else {
            throw UsageError(
                "id \(verb) takes \(takesName ? "one name" : "nothing more")", hint: "quote a name with blanks")
        }
        action =
            switch verb {
            case "new": .new(try GlobalOptions.displayName(words[1]))
            case "use": .use(try GlobalOptions.displayName(words[1]))
            case "rename": .rename(try GlobalOptions.displayName(words[1]))
            case "list": .list
            default: .show
            }
    }

    func run(_ run: Run) async throws -> ExitStatus {
        let shown: [StoredIdentity]
        switch action {
        case .list: shown = try run.home.identities()
        case .new(let name): shown = [try run.home.create(name)]
        case .use(let name): shown = [try run.home.use(name)]
        case .rename(let name): shown = [try run.home.rename(to: name)]
        case .show:
            shown = try run.home.identities().filter { identity in
                run.options.name.map { $0.description == identity.peer.name } ?? identity.isCurrent
            }
            let all = try run.home.identities().map { SafeText.line($0.peer.name) }
            if shown.isEmpty, run.options.name == nil, !all.isEmpty {
                throw PeerConnectError(
                    .usage, "None is the current one.", hint: "peerconnect id use NAME, with \(Amount.list(all)).")
            }
            guard !shown.isEmpty else {
                throw PeerConnectError(
                    .noSuchPeer, "There is no such identity yet.", hint: "peerconnect id new NAME makes one.")
            }
        }
        var isList = false
        if case .list = action { isList = true }
        for identity in shown { Self.show(identity, isMarked: isList && identity.isCurrent, on: run.console) }
        return .done
    }

    private static func show(_ identity: StoredIdentity, isMarked: Bool, on console: Console) {
        if console.isJSON {
            let fields: [(key: String, value: JSONValue)] = [
                ("id", .string(identity.peer.id.description)), ("name", .string(identity.peer.name)),
                ("current", .bool(identity.isCurrent)),
            ]
            console.emit(JSONEvent("identity", fields))
        } else {
            console.out("\(SafeText.line(identity.peer.name))\t\(identity.peer.id)" + (isMarked ? "\tcurrent" : ""))
        }
    }
}
