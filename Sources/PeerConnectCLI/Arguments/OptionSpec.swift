/// One option as the parser and the help know it.
struct OptionSpec: Sendable {
    /// Every spelling, the long one first: it is the key of the parsed values.
    let names: [String]
    /// What stands for the value in the help; `nil` for a switch.
    let value: String?
    /// Whether every use counts; else the last one wins.
    let isRepeatable: Bool
    /// The help's line.
    let help: String

    init(_ names: String..., value: String? = nil, isRepeatable: Bool = false, help: String) {
        self.names = names
        self.value = value
        self.isRepeatable = isRepeatable
        self.help = help
    }

    /// The spelling used as key.
    var key: String { names[0] }

    /// `-h, --help` or `--wait T`.
    var usage: String {
        names.sorted { $0.utf8.count < $1.utf8.count }.joined(separator: ", ") + (value.map { " " + $0 } ?? "")
    }
}

/// One command as the parser and the help know it.
struct CommandSpec: Sendable {
    let name: String
    /// What follows the name in the usage line.
    let synopsis: String
    /// One sentence for the list of commands.
    let summary: String
    let options: [OptionSpec]
    /// Further lines for the command's own help.
    var notes: [String] = []
}

/// For commands that keep a history.
let noHistoryOption = OptionSpec("--no-history", help: "keep chats, messages and file names out of the history")

/// The options every command takes.
let globalOptions: [OptionSpec] = [
    OptionSpec("--home", value: "DIR", help: "keep everything below DIR, also PEERCONNECT_HOME"),
    OptionSpec("--name", value: "NAME", help: "display name, and so the identity, for this run"),
    OptionSpec("--json", help: "standard output is one JSON object per line"),
    OptionSpec("--plain", help: "lines only, also PEERCONNECT_PLAIN; implied off a terminal"),
    OptionSpec("--color", value: "auto|always|never", help: "colour at a terminal; NO_COLOR is honoured"),
    OptionSpec("--port", value: "N", help: "listen on exactly this port; 0 is any"),
    OptionSpec("--interface", value: "IF", isRepeatable: true, help: "use only this network interface; repeatable"),
    OptionSpec("--discovery", value: "auto|daemon|embedded|off", help: "how peers are found"),
    OptionSpec("--help", "-h", help: "show this help"),
    OptionSpec("--version", "-V", help: "show the version"),
    OptionSpec("--verbose", "-v", help: "say more on standard error; in a live chat, in a log"),
]
