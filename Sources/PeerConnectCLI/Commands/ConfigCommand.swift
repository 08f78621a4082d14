internal import PeerModel
internal import PeerStore

/// `peerconnect config`: the effective settings and where each comes from.
struct ConfigCommand: Command {
    static let spec = CommandSpec(
        name: "config", synopsis: "[OPTIONS]", summary: "show the settings and where each comes from",
        options: [
            noHistoryOption,
            OptionSpec("--into", value: "DIR", help: "where received files go"),
            OptionSpec("--accept", value: "ask|trusted|all", help: "what to do with invitations"),
            OptionSpec("--accept-files", value: "ask|trusted|all|none", help: "what to do with offered files"),
            OptionSpec("--max-file-size", value: "SIZE", help: "decline larger offers unasked"),
            OptionSpec("--max-peers", value: "N", help: "how many may be in an own chat"),
            OptionSpec("--max-chats", value: "N", help: "in how many chats you may be at once"),
        ],
        notes: [
            "Prints name, value and source of each setting, separated by tabs; the source is default, file, environment",
            "or option. Options are checked and shown as they would hold for the other commands. Groups come last.",
        ])
    static let usesSettings = true

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        try arguments.expectNoOperands()
        for setting in Setting.all {
            if let problem = setting.problem(arguments.all(setting.option)), setting.name != "into" {
                throw UsageError("\(setting.option) \(problem)")
            }
        }
    }

    func run(_ run: Run) async throws -> ExitStatus {
        for setting in Setting.all {
            let value = Self.value(of: setting, run)
            Self.show(setting.name, value, run.settings.sources[setting.name] ?? .byDefault, on: run.console)
        }
        for (name, ids) in run.options.groups.sorted(by: { $0.key < $1.key }) {
            Self.show("@" + name, .array(ids.map { .string($0) }), .file, on: run.console)
        }
        if !run.console.isJSON {
            let path = SafeText.line(run.settings.path)
            run.console.err(
                run.settings.hasFile
                    ? "The settings are in \(path)." : "There is no settings file; it would be \(path).")
        }
        return .done
    }

    private static func value(of setting: Setting, _ run: Run) -> JSONValue {
        let typed = run.settings.arguments.all(setting.option)
        switch setting.kind {
        case .flag:
            let isTyped = run.settings.arguments.has(setting.option)
            return .bool(setting.isNegated ? !isTyped : isTyped)
        case .texts: return .array(typed.map { .string($0) })
        case .text:
            if setting.name == "into" { return .string(typed.last.map(run.world.absolute) ?? run.home.downloads) }
            if setting.name == "max-file-size" { return JSONValue(try? run.settings.arguments.size(setting.option)) }
            if setting.name == "history-size" { return .int(run.options.historyLimits.size) }
            guard let text = typed.last ?? setting.byDefault else { return .null }
            return Int64(text).map { .int($0) } ?? .string(text)
        }
    }

    private static func show(_ name: String, _ value: JSONValue, _ source: SettingSource, on console: Console) {
        if console.isJSON {
            let fields: [(key: String, value: JSONValue)] = [
                ("name", .string(name)), ("value", value), ("source", .string(source.rawValue)),
            ]
            return console.emit(JSONEvent("setting", fields))
        }
        let text =
            switch value {
            case .null: "-"
            case .string(let text): SafeText.line(text)
            case .array(let values):
                values.isEmpty
                    ? "-"
                    : values.map { if case .string(let text) = $0 { text } else { $0.text } }
                        .joined(separator: " ")
            default: value.text
            }
        console.out("\(SafeText.line(name))\t\(text)\t\(source.rawValue)")
    }
}
