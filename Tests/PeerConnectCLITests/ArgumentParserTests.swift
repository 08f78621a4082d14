import PeerModel
import Testing

@testable import PeerConnectCLI

struct ArgumentParserTests {
    private let parser = ArgumentParser(
        globals: globalOptions, commands: everyCommand.map { $0.spec }, fallback: "chat")

    @Test("Options go before or after the command, with = or without")
    func placement() throws {
        for line in [
            ["send", "a", "--to", "ada", "--json"], ["--json", "send", "--to=ada", "a"],
            ["--to", "ada", "send", "--json", "a"],
        ] {
            let parsed = try parser.parse(line)
            #expect(parsed.command == "send")
            #expect(parsed.operands == ["a"])
            #expect(parsed.options == ["--to": ["ada"], "--json": [""]])
        }
    }

    @Test("No command means chat")
    func fallback() throws {
        #expect(try parser.parse([]) == ParsedArguments(command: "chat"))
        #expect(try parser.parse(["--plain"]).command == "chat")
    }

    @Test("Two dashes end the options, one dash is an operand")
    func dashes() throws {
        #expect(try parser.parse(["send", "-", "--", "--to", "-x"]).operands == ["-", "--to", "-x"])
        #expect(try parser.parse(["--", "send"]) == ParsedArguments(command: "chat", operands: ["send"]))
    }

    @Test("The last of a repeated single option wins, repeatable ones are collected")
    func repetition() throws {
        let parsed = try parser.parse(["chat", "--wait", "1", "--wait=2", "--invite", "a", "--invite", "b"])
        #expect(parsed.last("--wait") == "2")
        #expect(parsed.all("--invite") == ["a", "b"])
    }

    @Test("Short options are the long ones")
    func short() throws {
        #expect(try parser.parse(["-h", "-V", "-v"]).options.keys.sorted() == ["--help", "--verbose", "--version"])
    }

    @Test("Help and version are asked for by a word as well, before a command")
    func words() throws {
        #expect(try parser.parse(["help", "send"]) == parser.parse(["send", "--help"]))
        #expect(try parser.parse(["--json", "help"]) == parser.parse(["--json", "--help"]))
        #expect(try parser.parse(["version"]) == parser.parse(["--version"]))
        #expect(try parser.parse(["send", "help", "version"]).operands == ["help", "version"])
        for (word, meant) in [("hlep", "help"), ("verison", "version")] {
            let error = UsageError("unknown command \(word)", hint: "did you mean \(meant)?")
            #expect(throws: error) { try parser.parse([word]) }
        }
        let error = UsageError("unknown command sedn", hint: "did you mean send?")
        #expect(throws: error) { try parser.parse(["help", "sedn"]) }
    }

    @Test("A value may look like an option or hold an equals sign")
    func values() throws {
        #expect(try parser.parse(["--name", "-x"]).last("--name") == "-x")
        #expect(try parser.parse(["--name=a=b"]).last("--name") == "a=b")
    }

    @Test(
        "What is wrong is said with what was likely meant",
        arguments: [
            (["sedn"], UsageError("unknown command sedn", hint: "did you mean send?")),
            (["frobnicate"], UsageError("unknown command frobnicate", hint: "peerconnect --help lists the commands")),
            (["--jsno"], UsageError("unknown option --jsno", hint: "did you mean --json?")),
            (["--frobnicate"], UsageError("unknown option --frobnicate", hint: "peerconnect --help lists them")),
            (
                ["chat", "--watch"],
                UsageError("chat takes no option --watch", hint: "peerconnect chat --help lists them")
            ),
            (
                ["send", "--recipient=a"],
                UsageError("unknown option --recipient", hint: "peerconnect send --help lists them")
            ),
            (["--wait"], UsageError("--wait needs a value: --wait T")),
            (["--json=yes"], UsageError("--json takes no value", hint: "write --json alone")),
            (["a\u{1B}[2J"], UsageError("unknown command a␛[2J", hint: "peerconnect --help lists the commands")),
        ] as [([String], UsageError)])
    func refusals(line: [String], error: UsageError) {
        #expect(throws: error) { try parser.parse(line) }
    }

    @Test("An option takes a value in all commands or in none")
    func consistency() {
        var arity: [String: Bool] = [:]
        for option in globalOptions + everyCommand.flatMap({ $0.spec.options }) {
            for name in option.names {
                #expect(arity[name, default: option.value != nil] == (option.value != nil), "\(name)")
                arity[name] = option.value != nil
            }
        }
    }
}

struct OptionValueTests {
    private func parsed(_ value: String) -> ParsedArguments { ParsedArguments(options: ["--x": [value]]) }

    @Test(
        "Times are seconds or have a unit",
        arguments: [("90", 90), ("0", 0), ("90s", 90), ("10m", 600), ("8h", 28800)])
    func times(text: String, seconds: Int64) throws {
        #expect(try parsed(text).time("--x") == .seconds(seconds))
    }

    @Test(
        "Anything else is not a time",
        arguments: ["", "s", "-1", "+1", "1.5", "1 m", "1d", "1ms", "9999999999h", "99999999999999999999", "١"])
    func badTimes(text: String) {
        #expect(throws: UsageError.self) { try parsed(text).time("--x") }
    }

    @Test(
        "Sizes count in powers of 1,024",
        arguments: [("0", 0), ("512", 512), ("1K", 1024), ("20M", 20 << 20), ("4G", 4 << 30)] as [(String, UInt64)])
    func sizes(text: String, bytes: UInt64) throws {
        #expect(try parsed(text).size("--x") == bytes)
    }

    @Test("Anything else is not a size", arguments: ["", "K", "1k", "1KB", "-1K", "99999999999999G", "1.5G"])
    func badSizes(text: String) {
        #expect(throws: UsageError.self) { try parsed(text).size("--x") }
    }

    @Test("Numbers keep to their range")
    func numbers() throws {
        #expect(try parsed("64").number("--x", in: 1...64) == 64)
        for text in ["0", "65", "x", ""] {
            #expect(throws: UsageError("--x takes a number from 1 to 64")) {
                try parsed(text).number("--x", in: 1...64)
            }
        }
    }
}

struct NearestTests {
    @Test(
        "A close word is found, a far one is not",
        arguments: [
            ("quti", "quit"), ("qiut", "quit"), ("hlep", "help"), ("help", "help"), ("x", nil), ("zzzz", nil),
            ("", nil),
        ] as [(String, String?)])
    func suggestions(word: String, expected: String?) {
        #expect(nearest(to: word, among: ["quit", "help", "send"]) == expected)
    }
}
