internal import PeerModel

/// A command line taken apart: which command, which options, what else.
struct ParsedArguments: Equatable, Sendable {
    var command = ""
    /// The command was named, not implied.
    var isExplicit = false
    /// By the long spelling; one value per use, empty for a switch.
    var options: [String: [String]] = [:]
    var operands: [String] = []
    /// What `@GROUP` stands for, from the settings.
    var groups: [String: [String]] = [:]

    func has(_ key: String) -> Bool { options[key] != nil }

    /// The last value given.
    func last(_ key: String) -> String? { options[key]?.last }

    func all(_ key: String) -> [String] { options[key] ?? [] }
}

/// Takes a command line apart: options stand before or after the command's name, as `--x V` or `--x=V`, unabbreviated.
///
/// An option means the same and takes a value or not alike in every command, so the command need not be known to read on.
struct ArgumentParser: Sendable {
    let globals: [OptionSpec]
    let commands: [CommandSpec]
    /// The command meant when none is named.
    let fallback: String

    /// Options that are written like commands: `help send` is `send --help`.
    private static let words = ["help": "--help", "version": "--version"]

    /// `arguments` without the program's name.
    func parse(_ arguments: [String]) throws(UsageError) -> ParsedArguments {
        var parsed = ParsedArguments()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                parsed.operands += rest
                break
            }
            if argument.hasPrefix("-"), argument != "-" {
                try take(option: argument, &rest, into: &parsed)
            } else if !parsed.isExplicit, parsed.operands.isEmpty, let option = Self.words[argument] {
                parsed.options[option, default: []].append("")
            } else if !parsed.isExplicit, parsed.operands.isEmpty {
                guard commands.contains(where: { $0.name == argument }) else { throw unknown(command: argument) }
                parsed.command = argument
                parsed.isExplicit = true
            } else {
                parsed.operands.append(argument)
            }
        }
        if !parsed.isExplicit { parsed.command = fallback }
        try checkOptions(of: parsed)
        return parsed
    }

    private func take(
        option argument: String, _ rest: inout ArraySlice<String>, into parsed: inout ParsedArguments
    ) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        guard let spec = everyOption.first(where: { $0.names.contains(name) }) else {
            throw UsageError(
                "unknown option \(SafeText.line(name))", hint: suggestion(for: name, among: everyOption, in: parsed))
        }
        let value: String
        switch (spec.value, parts.count == 2) {
        case (nil, true): throw UsageError("\(name) takes no value", hint: "write \(name) alone")
        case (nil, false): value = ""
        case (.some, true): value = parts[1]
        case (let placeholder?, false):
            guard let next = rest.popFirst() else { throw UsageError("\(name) needs a value: \(name) \(placeholder)") }
            value = next
        }
        parsed.options[spec.key, default: []].append(value)
    }

    private func checkOptions(of parsed: ParsedArguments) throws(UsageError) {
        let own = options(of: parsed.command)
        for key in parsed.options.keys.sorted() where !own.contains(where: { $0.key == key }) {
            throw UsageError(
                "\(parsed.command) takes no option \(key)", hint: suggestion(for: key, among: own, in: parsed))
        }
    }

    private func unknown(command: String) -> UsageError {
        let close = nearest(to: command, among: commands.map(\.name) + Self.words.keys.sorted())
        return UsageError(
            command.isEmpty ? "a command has no name" : "unknown command \(SafeText.line(command))",
            hint: close.map { "did you mean \($0)?" } ?? "peerconnect --help lists the commands")
    }

    private func suggestion(for name: String, among options: [OptionSpec], in parsed: ParsedArguments) -> String {
        nearest(to: name, among: options.flatMap(\.names).filter { $0 != name }).map { "did you mean \($0)?" }
            ?? "peerconnect \(parsed.command.isEmpty ? "" : parsed.command + " ")--help lists them"
    }

    private func options(of command: String) -> [OptionSpec] {
        globals + (commands.first { $0.name == command }?.options ?? [])
    }

    private var everyOption: [OptionSpec] { globals + commands.flatMap(\.options) }
}
