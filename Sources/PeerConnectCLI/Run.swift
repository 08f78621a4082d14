internal import PeerModel
internal import PeerStore

/// The options of every command, checked.
struct GlobalOptions: Sendable {
    enum Color: Sendable { case auto, always, never }

    let home: String?
    let name: DisplayName?
    let isJSON: Bool
    let isVerbose: Bool
    /// Lines only, even on a terminal that can do more.
    let isPlain: Bool
    let color: Color
    let port: NodeSettings.Port
    let interfaces: [String]
    let discovery: NodeSettings.Discovery
    /// Whether chats, messages and file names are stored.
    let keepsHistory: Bool
    /// How much of them.
    let historyLimits: HistoryLimits
    /// In plain lines: what comes in is printed at the next Enter.
    let holdsLines: Bool
    /// The bell rings for a question and for a mention.
    let ringsBell: Bool
    /// The IDs of each group of the settings.
    let groups: [String: [String]]

    init(_ arguments: ParsedArguments, environment: [String: String]) throws(UsageError) {
        home = arguments.last("--home") ?? environment["PEERCONNECT_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        guard home != "" else { throw UsageError("--home needs a folder") }
        name = try arguments.last("--name").map(Self.displayName)
        isJSON = arguments.has("--json")
        isVerbose = arguments.has("--verbose")
        func isSet(_ variable: String) -> Bool { environment[variable].map { !$0.isEmpty } ?? false }
        isPlain = arguments.has("--plain") || isSet("PEERCONNECT_PLAIN")
        color =
            try arguments.choice("--color", [("auto", .auto), ("always", .always), ("never", .never)])
            ?? (isSet("NO_COLOR") ? .never : .auto)  // no-color.org: options go before it, and empty is not set
        port = try arguments.number("--port", in: 0...65535).map { .exactly(UInt16($0)) } ?? .automatic
        interfaces = arguments.all("--interface")
        guard !interfaces.contains("") else { throw UsageError("--interface needs a name") }
        discovery = try Self.discovery(arguments) ?? .auto
        keepsHistory = !arguments.has("--no-history")
        historyLimits = try Self.historyLimits(arguments)
        holdsLines = arguments.has("--hold")
        ringsBell = !arguments.has("--no-bell")
        groups = arguments.groups
    }

    static func discovery(_ arguments: ParsedArguments) throws(UsageError) -> NodeSettings.Discovery? {
        try arguments.choice(
            "--discovery", [("auto", .auto), ("daemon", .daemon), ("embedded", .embedded), ("off", .off)])
    }

    /// What the settings say; there are no options for it.
    static func historyLimits(_ arguments: ParsedArguments) throws(UsageError) -> HistoryLimits {
        var limits = HistoryLimits()
        if let size = try arguments.size("history-size") {
            guard size >= HistoryLimits.leastSize else { throw UsageError("takes at least 1M") }
            limits.size = Int64(clamping: size)
        }
        if let days = try arguments.number("history-days", in: 1...36500) { limits.age = Int64(days) * 86_400_000 }
        return limits
    }

    /// A display name from the command line.
    static func displayName(_ text: String) throws(UsageError) -> DisplayName {
        do { return try DisplayName(text) } catch { throw UsageError(problem(error)) }
    }

    /// What is wrong with a name, for people.
    static func problem(_ problem: DisplayName.Problem) -> String {
        switch problem {
        case .empty: "a name needs at least one character"
        case .tooLong(let bytes): "the name has \(bytes) bytes, \(DisplayName.maximumBytes) are allowed"
        case .controlCharacter: "a name cannot hold control characters"
        }
    }
}

/// One run of a command: what it may touch and the options that hold for all.
struct Run: Sendable {
    let world: World
    let options: GlobalOptions
    let home: any Home
    var settings = EffectiveSettings()

    var console: Console { world.console }

    /// The settings every node begins with; `into` as the user gave it.
    func settings(into: String?) -> NodeSettings {
        var settings = NodeSettings(downloads: into.map(world.absolute) ?? home.downloads, spools: home.spools)
        settings.port = options.port
        settings.interfaces = options.interfaces
        settings.discovery = options.discovery
        return settings
    }

    /// The name for this run; asks for it at a terminal where no identity is the current one, if `mayAsk`.
    ///
    /// `nil` when whoever was asked has left instead, by Ctrl-D.
    func displayName(mayAsk: Bool) async throws(PeerConnectError) -> DisplayName? {
        if let name = options.name { return name }
        let identities = try home.identities()
        if let current = identities.first(where: \.isCurrent)?.peer.name, let name = try? DisplayName(current) {
            return name
        }
        guard mayAsk, world.inputIsTerminal, !console.isJSON else { return home.proposedName }
        let names = identities.compactMap { try? DisplayName($0.peer.name) }
        if !names.isEmpty {
            let list = Amount.list(names.map { NameBook.clean($0.description) })
            console.err("You have the identit\(names.count == 1 ? "y" : "ies") \(list); another name makes another.")
        }
        let proposed = names.first ?? home.proposedName
        while true {
            console.writeErr("Your name, as others will see it [\(SafeText.line(proposed.description))]: ")
            guard let line = await world.input.next() else {
                console.err("")
                return nil
            }
            guard case .text(let answer) = line, !answer.isEmpty else { return proposed }
            do {
                return try DisplayName(answer)
            } catch {
                console.err("That does not work, \(GlobalOptions.problem(error)).")
            }
        }
    }

    /// Starts a node, says `ready`, and hands it over with what it said at its start; the body stops it or leaves that to us.
    ///
    /// An identity that is not there yet is made if the run is stored, under the proposed name unless it `asks`.
    func withSession(
        _ settings: NodeSettings, isStored: Bool, asks: Bool = false,
        _ body: (any NodeSession, SessionStart) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        guard let name = try await displayName(mayAsk: asks) else { return .done }
        if isStored, options.name == nil, try !home.identities().contains(where: \.isCurrent) {
            try home.establish(name)
            if !asks, !console.isJSON {
                console.err(
                    "Others see you as \(SafeText.line(name.description)); peerconnect id rename NAME changes it.")
            }
        }
        var session = try home.session(as: name, isStored: isStored, settings)
        do {
            session = try await recorded(session, isStored: isStored)
            let start = try await session.start()
            // Who has opened a firewall for the usual port has to know.
            if !console.isJSON, case .automatic = settings.port, let port = start.port, port != Limits.defaultPort {
                console.err("Port \(Limits.defaultPort) is taken, so this listens on \(port).")
            }
            if console.isJSON {
                console.emit(
                    .ready(
                        id: session.me.id, name: session.me.name, port: start.port, discovery: start.discovery,
                        into: settings.downloads))
            }
            let status = try await body(session, start)
            await stop(session)
            return status
        } catch {
            await stop(session)
            throw error
        }
    }

    /// In a task of its own, because ours may be cancelled and members are to be told all the same.
    private func stop(_ session: any NodeSession) async {
        await Task { await session.stop() }.value
        if let error = session.unstored { console.report(error) }
    }
}
