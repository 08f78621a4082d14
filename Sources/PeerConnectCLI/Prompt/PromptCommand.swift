/// A command of the prompt as the help shows it.
struct PromptCommand: Sendable {
    let name: String
    let synopsis: String
    let summary: String

    /// How it is typed: `/send [@PEER]… PATH…`.
    var usage: String { "/" + name + (synopsis.isEmpty ? "" : " " + synopsis) }

    /// In the order of the help.
    static let all: [PromptCommand] = [
        PromptCommand(name: "peers", synopsis: "[TEXT]", summary: "who is there, or those whose name holds TEXT"),
        PromptCommand(name: "invite", synopsis: "PEER…", summary: "invite into a new chat, or into the one you host"),
        PromptCommand(name: "start", synopsis: "", summary: "start now, with those who accepted so far"),
        PromptCommand(name: "accept", synopsis: "[N|PEER]", summary: "accept an invitation or an offer"),
        PromptCommand(name: "decline", synopsis: "[N|PEER]", summary: "decline an invitation or an offer"),
        PromptCommand(name: "who", synopsis: "", summary: "who is in the chat"),
        PromptCommand(name: "send", synopsis: "[@PEER]… PATH…", summary: "offer files and folders to all, or to some"),
        PromptCommand(name: "transfers", synopsis: "", summary: "the transfers of this chat"),
        PromptCommand(name: "cancel", synopsis: "[N|PEER]", summary: "stop a transfer"),
        PromptCommand(name: "leave", synopsis: "", summary: "leave the chat as a member"),
        PromptCommand(name: "end", synopsis: "", summary: "end the chat as its host, or withdraw invitations"),
        PromptCommand(name: "verify", synopsis: "PEER", summary: "words to compare, to be sure who it is"),
        PromptCommand(name: "trust", synopsis: "PEER", summary: "take files unasked where the options say trusted"),
        PromptCommand(name: "untrust", synopsis: "PEER", summary: "no longer"),
        PromptCommand(name: "block", synopsis: "PEER", summary: "decline all of a peer, without telling it"),
        PromptCommand(name: "unblock", synopsis: "PEER", summary: "no longer"),
        PromptCommand(name: "history", synopsis: "[TEXT]", summary: "this chat so far, or the messages that hold TEXT"),
        PromptCommand(name: "files", synopsis: "[TEXT]", summary: "the offers of files, or those that hold TEXT"),
        PromptCommand(name: "name", synopsis: "NEW", summary: "another name for you; your key and ID stay"),
        PromptCommand(name: "dnd", synopsis: "[on|off]", summary: "refuse every invitation, or no longer"),
        PromptCommand(name: "help", synopsis: "[COMMAND]", summary: "this list, or one command"),
        PromptCommand(name: "quit", synopsis: "", summary: "leave the program"),
    ]
}
