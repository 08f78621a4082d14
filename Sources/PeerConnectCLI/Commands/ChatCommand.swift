internal import PeerModel

/// `peerconnect chat`: the interactive program, and the same lines from a script.
struct ChatCommand: Command {
    static let spec = CommandSpec(
        name: "chat", synopsis: "[--invite PEER]… [OPTIONS]", summary: "chat with people on this network",
        options: [
            OptionSpec("--invite", value: "PEER", isRepeatable: true, help: "invite these at once; repeatable"),
            OptionSpec(
                "--wait", value: "T", help: "how long to look for those of --invite, 10 s unless said otherwise"),
            OptionSpec("--accept", value: "ask|trusted|all", help: "what to do with invitations"),
            OptionSpec("--accept-files", value: "ask|trusted|all|none", help: "what to do with offered files"),
            OptionSpec("--max-file-size", value: "SIZE", help: "decline larger offers unasked"),
            OptionSpec("--into", value: "DIR", help: "where received files go"),
            OptionSpec("--max-peers", value: "N", help: "how many may be in an own chat, 7 unless said otherwise"),
            OptionSpec(
                "--max-chats", value: "N", help: "in how many chats you may be at once, 1 unless said otherwise"),
            noHistoryOption,
        ],
        notes: ["A line is a message, /help lists the commands. Off a terminal the lines come from standard input."])
    static let usesSettings = true

    let invitees: [PeerReference]
    let wait: Duration
    private let maximumChats: Int
    private let configure: @Sendable (inout NodeSettings) -> Void
    private let into: String?

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        try arguments.expectNoOperands()
        invitees = try arguments.peers("--invite")
        wait = try arguments.time("--wait") ?? .seconds(10)
        into = arguments.last("--into")
        guard into != "" else { throw UsageError("--into needs a folder") }
        let invitations = try Self.invitations(arguments) ?? .ask
        let files = try Self.files(arguments) ?? .ask
        let maximumFileSize = try arguments.size("--max-file-size")
        let maximumPeers = try arguments.number("--max-peers", in: 1...Limits.peersAtMost) ?? Limits.peersByDefault
        maximumChats = try arguments.number("--max-chats", in: 1...Limits.chatsAtMost) ?? 1
        guard invitees.count <= maximumPeers else {
            throw UsageError(
                "--invite names \(invitees.count) peers, \(maximumPeers) fit in a chat", hint: "see --max-peers")
        }
        configure = { [maximumChats] settings in
            settings.invitations = invitations
            settings.files = files
            settings.maximumFileSize = maximumFileSize
            settings.maximumPeers = maximumPeers
            settings.maximumChats = maximumChats
        }
    }

    static func invitations(_ arguments: ParsedArguments) throws(UsageError) -> NodeSettings.Acceptance? {
        try arguments.choice("--accept", [("ask", .ask), ("trusted", .trusted), ("all", .all)])
    }

    static func files(_ arguments: ParsedArguments) throws(UsageError) -> NodeSettings.Acceptance? {
        try arguments.choice(
            "--accept-files", [("ask", .ask), ("trusted", .trusted), ("all", .all), ("none", .none)])
    }

    func run(_ run: Run) async throws -> ExitStatus {
        var settings = run.settings(into: into)
        configure(&settings)
        return try await run.withSession(settings, isStored: true, asks: true) { session, _ in
            let queue = StepQueue<ChatStep>()
            // In a task of its own: when ours is cancelled, the chat is still ended and its last events are told.
            let task = Task { [invitees, wait, maximumChats, downloads = settings.downloads] in
                var loop = ChatLoop(
                    session: session, run: run, queue: queue, invitees: invitees, wait: wait, maximumChats: maximumChats
                )
                loop.greet(downloads: downloads)
                return await loop.run()
            }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                queue.add(.interrupted)
            }
        }
    }
}
