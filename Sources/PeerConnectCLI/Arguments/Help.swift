/// The help texts, made from the same tables the parser reads.
enum Help {
    /// For `peerconnect --help`.
    static func overview(_ commands: [CommandSpec], globals: [OptionSpec]) -> String {
        let rows =
            commands.map { ($0.name, $0.summary) } + [
                ("help", "show this help, or that of a command"), ("version", "show the version"),
            ]
        return """
            usage: peerconnect [OPTIONS] [COMMAND] [ARGUMENTS]

            Finds people on this network, chats with them and sends them files, without a server.

            commands:
            \(table(rows))

            options of every command:
            \(table(globals.map { ($0.usage, $0.help) }))

            `peerconnect` alone is `peerconnect chat`. `peerconnect COMMAND --help` says more.
            T is seconds, or 90s, 10m, 8h. SIZE is bytes, or 500K, 20M, 4G.
            PEER is an ID, the start of one (8 characters or more), a name, an address, or ID@address.
            @GROUP is a list of IDs in the settings.
            """
    }

    /// For `peerconnect COMMAND --help`.
    static func command(_ command: CommandSpec, globals: [OptionSpec]) -> String {
        var text = "usage: peerconnect \(command.name)"
        if !command.synopsis.isEmpty { text += " " + command.synopsis }
        text += "\n\n\(command.summary)\n"
        if !command.notes.isEmpty { text += "\n" + command.notes.joined(separator: "\n") + "\n" }
        if !command.options.isEmpty {
            text += "\noptions:\n" + table(command.options.map { ($0.usage, $0.help) }) + "\n"
        }
        return text + "\noptions of every command:\n" + table(globals.map { ($0.usage, $0.help) })
    }

    /// Two columns; a wide left cell gets a line of its own.
    static func table(_ rows: [(String, String)]) -> String {
        let width = min(rows.map(\.0.count).max() ?? 0, 26)
        return rows.map { left, right in
            guard !right.isEmpty else { return left }
            let gap = left.count > width ? "\n" + spaces(width + 4) : spaces(width + 2 - left.count)
            return "  " + left + gap + right
        }.joined(separator: "\n")
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
