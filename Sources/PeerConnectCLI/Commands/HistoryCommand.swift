internal import PeerConnect
internal import PeerModel
internal import PeerStore
internal import PeerSystem

/// `peerconnect history`: the stored chats.
struct HistoryCommand: Command {
    static let spec = CommandSpec(
        name: "history", synopsis: "[list|show CHAT|search TEXT|files [TEXT]|clear CHAT…|clear --all]",
        summary: "show, search and clear the stored chats",
        options: [
            OptionSpec("--all", help: "with clear: all chats"),
            OptionSpec("--yes", help: "with clear: do not ask"),
        ],
        notes: [
            "list           the chats, newest first: ID, start, with whom, how much, separated by tabs",
            "show CHAT      what was said and sent in one, and the line that invites the same people again",
            "search TEXT    the messages that hold every word of a text, newest first",
            "files [TEXT]   the offers of files, newest first; those that hold every word of a text:",
            "               chat, time, sender, what, first path if received, result, separated by tabs",
            "clear CHAT…    remove chats for good",
            "A CHAT is an ID from the list, or the start of one. --name NAME keeps to one of your identities.",
        ])

    private enum Action: Sendable {
        case list
        case show(String)
        case search(String)
        case files(String)
        case clear([String])
        case clearAll
    }

    private let action: Action
    private let isConfirmed: Bool

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        let words = arguments.operands.dropFirst()
        let verb = arguments.operands.first ?? "list"
        let takes: String?
        switch verb {
        case "list": (action, takes) = (.list, words.isEmpty ? nil : "nothing more")
        case "show": (action, takes) = (.show(words.first ?? ""), words.count == 1 ? nil : "one chat")
        case "search": (action, takes) = (.search(words.joined(separator: " ")), words.isEmpty ? "a text" : nil)
        case "files": (action, takes) = (.files(words.joined(separator: " ")), nil)
        case "clear":
            action = arguments.has("--all") ? .clearAll : .clear(Array(words))
            takes = words.isEmpty == arguments.has("--all") ? nil : "chats, or --all"
        default:
            throw UsageError.unknown(verb: verb, of: "history", among: ["list", "show", "search", "files", "clear"])
        }
        if let takes { throw UsageError("history \(verb) takes \(takes)") }
        guard !words.contains("") || verb == "files" else { throw UsageError("history \(verb) needs a text") }
        isConfirmed = arguments.has("--yes")
        guard verb == "clear" || !isConfirmed && !arguments.has("--all") else {
            throw UsageError("history \(verb) takes neither --all nor --yes")
        }
        guard verb != "clear" || isConfirmed || world.inputIsTerminal && !arguments.has("--json") else {
            throw UsageError("history clear needs --yes where nobody can be asked")
        }
    }

    func run(_ run: Run) async throws -> ExitStatus {
        let records = try await Records.open(
            state: run.home.stateFolder, data: run.home.dataFolder, creating: false)
        let own = try run.ownIdentity()
        if case .clearAll = action { return try await clearAll(records.history, run) }
        guard let history = records.history else {
            switch action {
            case .show(let chat): throw Self.noSuchChat(chat)
            case .clear(let chats): throw Self.noSuchChat(chats.first ?? "")
            default: break
            }
            if !run.console.isJSON { run.console.err("There is no history yet.") }
            return .done
        }
        switch action {
        case .list: try await list(history, own, run)
        case .show(let chat): try await show(chat, history, own, run)
        case .search(let text): try await search(text, history, own, run)
        case .files(let text):
            let files = try await onThread { () throws(StoreError) in try history.files(matching: text, own: own) }
            for file in files {
                run.show("history.file", HistoryRows.json(file)) { HistoryRows.line(file, run.offset) }
            }
        case .clear(let chats): return try await clear(chats, history, own, run)
        case .clearAll: break
        }
        return .done
    }

    private func list(_ history: History, _ own: PeerID?, _ run: Run) async throws {
        let chats = try await onThread { () throws(StoreError) in try history.chats(own: own) }
        for chat in chats { run.show("history.chat", HistoryRows.json(chat)) { HistoryRows.line(chat, run.offset) } }
        if !run.console.isJSON { run.console.err("The history is in \(SafeText.line(history.path)).") }
    }

    private func show(_ text: String, _ history: History, _ own: PeerID?, _ run: Run) async throws {
        let chat = try await Self.find(text, history, own)
        let entries = try await onThread { () throws(StoreError) in try history.entries(of: chat) }
        run.show("history.chat", HistoryRows.json(chat)) { HistoryRows.line(chat, run.offset) }
        for entry in entries {
            switch entry.kind {
            case .message(let message):
                run.show("history.message", HistoryRows.json(message)) { HistoryRows.line(message, run.offset) }
            case .offered(let file):
                run.show("history.file", HistoryRows.json(file)) { HistoryRows.line(entry, run.offset) }
            default: if !run.console.isJSON { run.console.out(HistoryRows.line(entry, run.offset)) }
            }
        }
        if !run.console.isJSON, let line = HistoryRows.invitation(chat) {
            run.console.err("To invite them again, type this in the chat program:\n\(line)")
        }
    }

    private func search(_ text: String, _ history: History, _ own: PeerID?, _ run: Run) async throws {
        var position = Int64.max
        while true {
            let found = try await onThread { [position] () throws(StoreError) in
                try history.messages(matching: text, own: own, before: position)
            }
            for message in found {
                run.show("history.message", HistoryRows.json(message)) {
                    HistoryRows.short(message.chat) + " " + HistoryRows.line(message, run.offset)
                }
            }
            guard let last = found.last else {
                if position == .max, !run.console.isJSON { run.console.err("Nothing is found.") }
                return
            }
            position = last.position
        }
    }

    // MARK: Clearing

    private func clear(
        _ names: [String], _ history: History, _ own: PeerID?, _ run: Run
    ) async throws -> ExitStatus {
        // All are found before any is removed.
        var chats: [ChatRecord] = []
        for name in names { chats.append(try await Self.find(name, history, own)) }
        guard await confirm("Remove \(Amount.counted(chats.count, "chat")) for good?", run) else { return .notAccepted }
        try await onThread { [chats] () throws(StoreError) in _ = try history.clear(chats) }
        Self.note("\(Amount.counted(chats.count, "chat")) removed.", run)
        return .done
    }

    private func clearAll(_ history: History?, _ run: Run) async throws -> ExitStatus {
        let question = "Remove all chats, of all your identities, and the lines you entered, for good?"
        guard await confirm(question, run) else { return .notAccepted }
        if let history { try await onThread { () throws(StoreError) in _ = try history.clearAll() } }
        do {
            try InputHistoryFile.clear(in: run.home.stateFolder)
        } catch {
            throw PeerConnectError(
                .internal, "The lines you entered cannot be removed: \(error.reason).",
                hint: "Remove \(InputHistoryFile.name) in \(run.home.stateFolder) yourself.", cause: error)
        }
        Self.note("All chats and the lines you entered are removed.", run)
        return .done
    }

    private func confirm(_ question: String, _ run: Run) async -> Bool {
        guard !isConfirmed else { return true }
        run.console.writeErr("\(question) Type yes to do it: ")
        let answer = await run.world.input.next()
        if answer == nil { run.console.err("") }  // the cursor stands behind the question
        if answer == .text("yes") { return true }
        Self.note("Nothing was removed.", run)
        return false
    }

    private static func note(_ text: String, _ run: Run) {
        if !run.console.isJSON { run.console.err(text) }
    }

    private static func find(_ text: String, _ history: History, _ own: PeerID?) async throws -> ChatRecord {
        let found = try await onThread { () throws(StoreError) in try history.chat(text, own: own) }
        guard let found else { throw noSuchChat(text) }
        return found
    }

    private static func noSuchChat(_ text: String) -> PeerConnectError {
        PeerConnectError(
            .noChat, "There is no chat “\(text)” in the history.", hint: "peerconnect history lists the chats.")
    }
}

extension Run {
    /// The identity that `--name` names; `nil` when it was not given.
    fileprivate func ownIdentity() throws(PeerConnectError) -> PeerID? {
        guard let name = options.name else { return nil }
        guard let found = try home.identities().first(where: { $0.peer.name == name.description }) else {
            throw PeerConnectError(
                .usage, "There is no identity named “\(name)”.", hint: "peerconnect id list shows all.")
        }
        return found.peer.id
    }

    fileprivate var offset: @Sendable (Int64) -> Int64 { world.localOffset }

    /// A record in the form the run is in.
    fileprivate func show(
        _ name: String, _ fields: @autoclosure () -> [(key: String, value: JSONValue)], _ line: () -> String
    ) {
        if console.isJSON { console.emit(JSONEvent(name, fields())) } else { console.out(line()) }
    }
}
