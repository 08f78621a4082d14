internal import PeerModel

/// What a line at the prompt asks for.
enum PromptLine: Sendable {
    case nothing
    case message(String)
    case command(NodeCommand)
    /// `/accept`, `/decline` or `/cancel` without saying which: at a terminal the open items are listed instead.
    case unnamed(NodeCommand)
    case peers(matching: String?)
    case who
    case chats
    /// 0 is none.
    case switchTo(Int)
    case transfers
    case record(RecordRequest)
    /// Both take a while; the other lines wait.
    case work(ChatWork)
    case help([PromptCommand])
    case quit
    case problem(PeerConnectError)
}

/// Reads lines at the prompt; pure but for the expansion of paths.
struct PromptParser: Sendable {
    let paths: PathExpander
    /// What `@GROUP` stands for.
    var groups: [String: [String]] = [:]

    func parse(_ line: String) -> PromptLine {
        guard !line.isEmpty else { return .nothing }
        guard line.hasPrefix("/") else { return message(line) }
        if line.hasPrefix("//") { return message(String(line.dropFirst())) }
        let name = String(line.dropFirst().prefix { $0 != " " && $0 != "\t" })
        guard let command = PromptCommand.all.first(where: { $0.name == name }) else { return unknown(name) }
        let rest = line.dropFirst(name.count + 1)
        guard let words = ShellWord.split(rest) else {
            // An apostrophe in a name is one.
            if command.name == "name" { return self.name(String(rest)) }
            return .problem(
                PeerConnectError(.usage, "A quote or a backslash is left open.", hint: "Usage is \(command.usage)."))
        }
        return parse(command, words) ?? .problem(Self.usage(command))
    }

    /// A message as it will be sent; refused when too long, never cut.
    func message(_ text: String) -> PromptLine {
        guard text.utf8.count <= Limits.text else {
            return .problem(
                PeerConnectError(
                    .tooLong, "The message has \(text.utf8.count) bytes; \(Limits.text) are allowed.",
                    hint: "Send longer texts as a file, with /send."))
        }
        return .message(text)
    }

    static func usage(_ command: PromptCommand) -> PeerConnectError {
        let number = ["accept", "decline", "cancel"].contains(command.name) ? ", one at a time" : ""
        return PeerConnectError(.usage, "Usage is \(command.usage)\(number).", hint: "/help \(command.name)")
    }

    /// `nil` for a wrong use.
    private func parse(_ command: PromptCommand, _ words: [ShellWord]) -> PromptLine? {
        switch command.name {
        case "invite": words.isEmpty ? nil : .command(.invite(words.flatMap(peers)))
        case "accept": item(words) { .accept($0) }
        case "decline": item(words) { .decline($0) }
        case "cancel": item(words) { .cancel($0) }
        case "send": send(words)
        case "switch": switchTo(words)
        case "peers": .peers(matching: words.isEmpty ? nil : words.map(\.text).joined(separator: " "))
        case "dnd": doNotDisturb(words)
        case "history": .record(.history(matching: words.map(\.text).joined(separator: " ")))
        case "files": .record(.files(matching: words.map(\.text).joined(separator: " ")))
        case "trust": change(.trust, words)
        case "untrust": change(.untrust, words)
        case "block": change(.block, words)
        case "unblock": change(.unblock, words)
        case "verify": word(words).map { .work(.verify(Self.peer($0))) }
        case "name": name(words)
        case "help": help(words)
        default: words.isEmpty ? parseBare(command.name) : nil
        }
    }

    private func parseBare(_ name: String) -> PromptLine? {
        switch name {
        case "start": .command(.start)
        case "leave": .command(.leave)
        case "end": .command(.end)
        case "who": .who
        case "chats": .chats
        case "transfers": .transfers
        case "quit": .quit
        default: nil
        }
    }

    /// `3`, `#3`, a peer, or nothing.
    private func item(_ words: [ShellWord], _ make: (ItemReference?) -> NodeCommand) -> PromptLine? {
        guard let word = words.first else { return .unnamed(make(nil)) }
        guard words.count == 1 else { return nil }
        if let number = Self.number(word), number > 0 { return .command(make(.number(number))) }
        return .command(make(.peer(Self.peer(word))))
    }

    /// `3` or `#3`.
    private static func number(_ word: ShellWord) -> Int? {
        let digits = word.starts(with: "#") ? String(word.text.dropFirst()) : word.text
        return digits.utf8.count < 10 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
    }

    private func switchTo(_ words: [ShellWord]) -> PromptLine? {
        words.count == 1 ? words.first.flatMap(Self.number).map { .switchTo($0) } : nil
    }

    private func send(_ words: [ShellWord]) -> PromptLine? {
        let recipients = words.prefix { $0.starts(with: "@") }
        let sources = words.dropFirst(recipients.count).flatMap(paths.expand)
        guard !sources.isEmpty, recipients.allSatisfy({ $0.characters.count > 1 }) else { return nil }
        return .command(.send(paths: sources, to: recipients.flatMap(peers)))
    }

    private func change(_ change: KnownChange, _ words: [ShellWord]) -> PromptLine? {
        word(words).map { .record(.change(change, Self.peer($0))) }
    }

    private func word(_ words: [ShellWord]) -> ShellWord? {
        words.count == 1 ? words.first.flatMap { $0.text.isEmpty ? nil : $0 } : nil
    }

    /// Blanks need no quotes: there is nothing else that could be meant.
    private func name(_ words: [ShellWord]) -> PromptLine? {
        words.isEmpty ? nil : name(words.map(\.text).joined(separator: " "))
    }

    private func name(_ text: String) -> PromptLine {
        do {
            return .work(.rename(try DisplayName(text)))
        } catch {
            return .problem(
                PeerConnectError(
                    .usage, "That does not work, \(GlobalOptions.problem(error)).", hint: "Usage is /name NEW."))
        }
    }

    private func doNotDisturb(_ words: [ShellWord]) -> PromptLine? {
        switch words.map(\.text) {
        case [], ["on"]: .command(.doNotDisturb(true))
        case ["off"]: .command(.doNotDisturb(false))
        default: nil
        }
    }

    private func help(_ words: [ShellWord]) -> PromptLine? {
        guard let word = words.first else { return .help(PromptCommand.all) }
        guard words.count == 1 else { return nil }
        let name = word.starts(with: "/") ? String(word.text.dropFirst()) : word.text
        guard let command = PromptCommand.all.first(where: { $0.name == name }) else { return unknown(name) }
        return .help([command])
    }

    private func unknown(_ name: String) -> PromptLine {
        let close = nearest(to: name, among: PromptCommand.all.map(\.name))
        return .problem(
            PeerConnectError(
                .unknownCommand, "There is no command /\(name).",
                hint: close.map { "Did you mean /\($0)?" } ?? "/help lists the commands; //\(name) sends the text."))
    }

    /// One peer, or those of a group.
    private func peers(_ word: ShellWord) -> [PeerReference] {
        if word.starts(with: "@"), let ids = groups[String(word.text.dropFirst())] {
            return ids.map { PeerReference($0) }
        }
        return [Self.peer(word)]
    }

    /// A leading `@` is allowed wherever a peer is named.
    private static func peer(_ word: ShellWord) -> PeerReference {
        PeerReference(word.starts(with: "@") && word.characters.count > 1 ? String(word.text.dropFirst()) : word.text)
    }
}
