internal import PeerModel

/// `peerconnect receive`: takes files without asking, and prints where they are.
struct ReceiveCommand: Command {
    static let spec = CommandSpec(
        name: "receive", synopsis: "[--from PEER… | --accept trusted|all]", summary: "take files, never asking",
        options: [
            OptionSpec("--from", value: "PEER", isRepeatable: true, help: "take those of this peer; repeatable"),
            OptionSpec(
                "--accept", value: "trusted|all",
                help: "without --from: whose files to take; trusted peers' unless said otherwise"),
            OptionSpec("--into", value: "DIR", help: "where received files go"),
            OptionSpec("--once", help: "leave after the first transfer"),
            OptionSpec("--wait", value: "T", help: "leave if nothing was offered until then"),
            OptionSpec("--max-file-size", value: "SIZE", help: "decline larger offers"),
            noHistoryOption,
            OptionSpec("-0", help: "end each printed path with NUL"),
        ],
        notes: ["Prints the absolute path of each received file or folder."])
    static let usesSettings = true

    private let senders: [PeerReference]
    private let files: NodeSettings.Acceptance
    private let into: String?
    private let isOnce: Bool
    private let wait: Duration?
    private let maximumFileSize: UInt64?
    private let endsWithNUL: Bool

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        try arguments.expectNoOperands()
        senders = try arguments.peers("--from")
        let acceptance = try arguments.choice(
            "--accept", [("trusted", NodeSettings.Acceptance.trusted), ("all", .all)])
        guard acceptance == nil || senders.isEmpty else {
            throw UsageError("--accept and --from exclude each other")
        }
        // What is asked about all the same is answered by the list of senders.
        files = senders.isEmpty ? acceptance ?? .trusted : .ask
        into = arguments.last("--into")
        guard into != "" else { throw UsageError("--into needs a folder") }
        isOnce = arguments.has("--once")
        wait = try arguments.time("--wait")
        maximumFileSize = try arguments.size("--max-file-size")
        endsWithNUL = arguments.has("-0")
    }

    func run(_ run: Run) async throws -> ExitStatus {
        var settings = run.settings(into: into)
        settings.kind = .inbox
        settings.maximumChats = Limits.peersAtMost
        settings.invitations = .none
        settings.files = files
        settings.maximumFileSize = maximumFileSize
        return try await run.withSession(settings, isStored: true) { session, _ in
            if !run.console.isJSON { run.console.err("You are \(NameBook.withID(session.me)).") }
            let allowed = files == .all ? nil : try await allowed(run, session)
            var loop = ReceiveLoop(
                session: session, console: run.console, allowed: allowed, isOnce: isOnce, endsWithNUL: endsWithNUL)
            return await loop.run(wait: wait, sleep: run.world.sleep)
        }
    }

    /// Names are fixed to IDs here, so that a later bearer of the name is not meant; they are looked for as long as `--wait`.
    private func allowed(_ run: Run, _ session: any NodeSession) async throws(PeerConnectError) -> Set<PeerID> {
        let isNamed = senders.contains { PeerID($0.text) == nil }
        if isNamed, !run.console.isJSON { run.console.err("Looking for those of --from.") }
        let limit = wait ?? .seconds(10), sleep = run.world.sleep
        if isNamed { _ = await Invitees.find(senders, in: session, within: limit, sleep: sleep) }
        var allowed: Set<PeerID> = []
        for sender in senders {
            guard let id = try await session.resolve(sender) else {
                throw PeerConnectError(
                    .noSuchPeer, "\(sender.text) is an address; files are taken from a peer.",
                    hint: "peerconnect browse shows names and IDs.")
            }
            allowed.insert(id)
        }
        return allowed
    }
}
