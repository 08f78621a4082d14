internal import PeerModel

/// A setting of `config.json5`: an option that need not be typed every time.
struct Setting: Sendable {
    /// How it is written in the file.
    enum Kind: Sendable {
        case flag
        /// A text, or a whole number.
        case text
        /// A list of texts, or one of them.
        case texts
    }

    let name: String
    /// The option it stands for; for what is on by default the one that says no.
    ///
    /// Without dashes it is none that can be typed.
    let option: String
    let kind: Kind
    /// What may be written, for errors and for the help.
    let takes: String
    /// The commands it holds for.
    let commands: Set<String>
    /// What holds when nobody says anything; `nil` for nothing, and for the folder of the downloads.
    let byDefault: String?
    private let check: @Sendable (ParsedArguments, String) throws(UsageError) -> Void

    /// In the order of the commented file.
    static let all: [Setting] = [
        Setting(
            name: "history", option: "--no-history", kind: .flag, takes: "true or false",
            commands: ["chat", "send", "receive"], byDefault: "true", check: { _, _ throws(UsageError) in }),
        Setting(
            name: "history-size", option: "history-size", kind: .text, takes: "bytes, or a text like “64M”",
            commands: ["chat", "send", "receive"], byDefault: "256M",
            check: { arguments, _ throws(UsageError) in _ = try GlobalOptions.historyLimits(arguments) }),
        Setting(
            name: "history-days", option: "history-days", kind: .text, takes: "a number from 1 to 36500",
            commands: ["chat", "send", "receive"], byDefault: nil,
            check: { arguments, _ throws(UsageError) in _ = try GlobalOptions.historyLimits(arguments) }),
        Setting(
            name: "into", option: "--into", kind: .text,
            takes: "a folder: an absolute path, or one that begins with ~/",
            commands: ["chat", "receive"], byDefault: nil,
            check: { arguments, option throws(UsageError) in
                guard let path = arguments.last(option), path.hasPrefix("/") || path.hasPrefix("~/") else {
                    throw UsageError("takes an absolute path, or one that begins with ~/")
                }
            }),
        Setting(
            name: "accept", option: "--accept", kind: .text, takes: "“ask”, “trusted” or “all”", commands: ["chat"],
            byDefault: "ask",
            check: { arguments, _ throws(UsageError) in _ = try ChatCommand.invitations(arguments) }),
        Setting(
            name: "accept-files", option: "--accept-files", kind: .text, takes: "“ask”, “trusted”, “all” or “none”",
            commands: ["chat"], byDefault: "ask",
            check: { arguments, _ throws(UsageError) in _ = try ChatCommand.files(arguments) }),
        Setting(
            name: "max-file-size", option: "--max-file-size", kind: .text, takes: "bytes, or a text like “20M”",
            commands: ["chat", "receive"], byDefault: nil,
            check: { arguments, option throws(UsageError) in _ = try arguments.size(option) }),
        Setting(
            name: "max-peers", option: "--max-peers", kind: .text, takes: "a number from 1 to \(Limits.peersAtMost)",
            commands: ["chat"], byDefault: "\(Limits.peersByDefault)",
            check: { arguments, option throws(UsageError) in
                _ = try arguments.number(option, in: 1...Limits.peersAtMost)
            }),
        Setting(
            name: "max-chats", option: "--max-chats", kind: .text, takes: "a number from 1 to \(Limits.chatsAtMost)",
            commands: ["chat"], byDefault: "1",
            check: { arguments, option throws(UsageError) in
                _ = try arguments.number(option, in: 1...Limits.chatsAtMost)
            }),
        Setting(
            name: "port", option: "--port", kind: .text, takes: "a number from 0 to 65535", commands: everywhere,
            byDefault: "auto",
            check: { arguments, option throws(UsageError) in _ = try arguments.number(option, in: 0...65535) }),
        Setting(
            name: "interface", option: "--interface", kind: .texts, takes: "the name of a network interface, or a list",
            commands: everywhere, byDefault: nil,
            check: { arguments, option throws(UsageError) in
                guard !arguments.all(option).contains("") else { throw UsageError("takes names of interfaces") }
            }),
        Setting(
            name: "discovery", option: "--discovery", kind: .text, takes: "“auto”, “daemon”, “embedded” or “off”",
            commands: everywhere, byDefault: "auto",
            check: { arguments, _ throws(UsageError) in _ = try GlobalOptions.discovery(arguments) }),
        Setting(
            name: "plain", option: "--plain", kind: .flag, takes: "true or false", commands: everywhere,
            byDefault: "false", check: { _, _ throws(UsageError) in }),
        Setting(
            name: "hold", option: "--hold", kind: .flag, takes: "true or false", commands: ["chat"],
            byDefault: "false", check: { _, _ throws(UsageError) in }),
        Setting(
            name: "bell", option: "--no-bell", kind: .flag, takes: "true or false", commands: ["chat"],
            byDefault: "true", check: { _, _ throws(UsageError) in }),
    ]

    private static let everywhere: Set<String> = ["chat", "browse", "send", "receive", "doctor"]

    /// The option switches off what is on by default.
    var isNegated: Bool { option.hasPrefix("--no-") }

    /// What is wrong with these values, as the end of a sentence; `nil` when they will do.
    func problem(_ values: [String]) -> String? {
        guard kind != .flag, !values.isEmpty else { return nil }
        do throws(UsageError) {
            try check(ParsedArguments(options: [option: values]), option)
            return nil
        } catch {
            // The readers of options begin with the option's name.
            return error.message.hasPrefix(option + " ")
                ? String(error.message.dropFirst(option.count + 1)) : error.message
        }
    }
}

/// Who said what holds.
enum SettingSource: String, Sendable {
    case byDefault = "default"
    case file, environment, option
}

extension SettingsFile {
    /// Says what the command line left open, as if it had been typed; gives who said what, by name.
    ///
    /// `home` is what `~` stands for.
    func complete(
        _ arguments: inout ParsedArguments, environment: [String: String], home: String?
    ) -> [String: SettingSource] {
        var sources: [String: SettingSource] = [:]
        arguments.groups = groups
        for setting in Setting.all {
            guard arguments.command == "config" || setting.commands.contains(arguments.command) else { continue }
            if arguments.has(setting.option) {
                sources[setting.name] = .option
            } else if setting.name == "plain", let text = environment["PEERCONNECT_PLAIN"], !text.isEmpty {
                sources[setting.name] = .environment
                arguments.options[setting.option] = [""]
            } else if let entry = entries[setting.name] {
                sources[setting.name] = .file
                arguments.options[setting.option] = Self.typed(setting, entry.values, home: home)
            }
        }
        return sources
    }

    /// The option's values; `nil` for an option that is not there.
    private static func typed(_ setting: Setting, _ values: [String], home: String?) -> [String]? {
        switch (setting.kind, values.first) {
        case (_, nil): nil
        case (.flag, let value?): (value == "true") != setting.isNegated ? [""] : nil
        case (_, let value?):
            setting.name == "into" && value.hasPrefix("~/") ? [(home ?? "") + value.dropFirst()] : values
        }
    }
}
