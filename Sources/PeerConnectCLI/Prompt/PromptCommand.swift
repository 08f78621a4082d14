/// A command of the prompt as the help shows it.
struct PromptCommand: Sendable {
    /// What one wants to do.
    enum Group: String, Sendable {
        case talk = "Talk"
        case files = "Files"
        case people = "Who is who"
        case own = "Yourself"
    }

    let name: String
    let synopsis: String
    let summary: String
    let group: Group
    /// What the list of all says in place of the summary; empty for one that stands in the row before.
    private let brief: String?

    private init(_ group: Group, _ name: String, _ synopsis: String, _ summary: String, brief: String? = nil) {
        (self.group, self.name, self.synopsis, self.summary, self.brief) = (group, name, synopsis, summary, brief)
    }

    /// How it is typed: `/send [@PEER]… PATH…`.
    var usage: String { "/" + name + (synopsis.isEmpty ? "" : " " + synopsis) }

    /// In the order of the help.
    static let all: [PromptCommand] = [
        PromptCommand(.talk, "peers", "[TEXT]", "who is there, or those whose name holds TEXT"),
        PromptCommand(.talk, "invite", "PEER…", "invite into a new chat, or into the one you host"),
        PromptCommand(.talk, "start", "", "start now, with those who accepted so far"),
        PromptCommand(
            .talk, "accept", "[N|PEER]", "accept one; plain lines need N, and without it read out what is open",
            brief: "answer an invitation or an offer"),
        PromptCommand(
            .talk, "decline", "[N|PEER]", "decline one; plain lines need N, and without it read out what is open",
            brief: ""),
        PromptCommand(.talk, "who", "", "who is in the chat"),
        PromptCommand(
            .talk, "leave", "", "leave the chat as a member", brief: "leave as a member; end it for all as the host"),
        PromptCommand(.talk, "end", "", "end the chat as its host, or withdraw invitations", brief: ""),
        PromptCommand(
            .talk, "chats", "", "the chats you are in, and what is unread", brief: "the chats you are in; go to one"),
        PromptCommand(.talk, "switch", "N", "go to chat N, or with 0 to none, to invite into a new one", brief: ""),
        PromptCommand(.talk, "history", "[TEXT]", "this chat so far, or the messages that hold TEXT"),
        PromptCommand(.files, "send", "[@PEER]… PATH…", "offer files and folders to all, or to some"),
        PromptCommand(
            .files, "transfers", "", "what was offered in your chats, and how it stands",
            brief: "what was offered, and how it stands; stop one"),
        PromptCommand(.files, "cancel", "[N|PEER]", "stop a transfer", brief: ""),
        PromptCommand(.files, "files", "[TEXT]", "the offers of files, or those that hold TEXT"),
        PromptCommand(.people, "verify", "PEER", "words to compare, to be sure who it is"),
        PromptCommand(
            .people, "trust", "PEER", "take files unasked where the options say trusted",
            brief: "take files unasked, where set so; no longer"),
        PromptCommand(.people, "untrust", "PEER", "no longer take files unasked", brief: ""),
        PromptCommand(
            .people, "block", "PEER", "decline all of a peer, without telling it",
            brief: "decline all of a peer, without a word; no longer"),
        PromptCommand(.people, "unblock", "PEER", "no longer decline all of a peer", brief: ""),
        PromptCommand(
            .own, "name", "NEW", "another name, under the same key; not in a chat"),
        PromptCommand(.own, "dnd", "[on|off]", "refuse every invitation, or no longer"),
        PromptCommand(
            .own, "quit", "", "leave the program", brief: "leave the program; this list, or one command"),
        PromptCommand(.own, "help", "[COMMAND]", "this list, or one command", brief: ""),
    ]

    /// All of them in few rows, under what one wants to do: they fit a window of 24 with what stands below.
    static var overview: [(String, String)] {
        var rows: [(String, String)] = [], group: Group?
        for command in all {
            if command.group != group { rows.append((command.group.rawValue, "")) }
            group = command.group
            if command.brief == "", let last = rows.popLast() {
                // What they take is the same, or the first takes nothing.
                rows.append((last.0.prefix { $0 != " " } + ", " + command.usage, last.1))
            } else {
                rows.append((command.usage, command.brief ?? command.summary))
            }
        }
        return rows
    }
}
