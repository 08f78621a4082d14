internal import PeerModel
internal import PeerSystem

/// `peerconnect send`: files to some peers, in one shot; each is served as soon as it is there.
struct SendCommand: Command {
    static let spec = CommandSpec(
        name: "send", synopsis: "PATH… --to PEER…", summary: "send files and folders",
        options: [
            OptionSpec("--to", value: "PEER", isRepeatable: true, help: "who gets them; repeatable"),
            OptionSpec("--to-file", value: "FILE", isRepeatable: true, help: "more peers, one a line"),
            OptionSpec(
                "--wait", value: "T", help: "how long a peer may be missing or busy, 10 s unless said otherwise"),
            OptionSpec("--answer", value: "T", help: "how long an answer may take, 5 m unless said otherwise"),
            OptionSpec(
                "--stall", value: "T", help: "give up on who takes nothing for so long, 60 s unless said otherwise"),
            noHistoryOption,
        ],
        notes: ["At the end a line per peer: status, name, ID, reason, separated by tabs."])
    static let usesSettings = true

    private let paths: [String]
    private let recipients: [PeerReference]
    private let wait: Duration
    private let answer: Duration
    private let stall: Duration

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        guard !arguments.operands.isEmpty else {
            throw UsageError("send needs a path", hint: "peerconnect send --help")
        }
        var references = try arguments.peers("--to")
        for file in arguments.all("--to-file") {
            do throws(TextFile.Failure) {
                references += Self.peers(in: try world.text(world.absolute(file)))
            } catch {
                throw UsageError(
                    "--to-file \(SafeText.line(file)) cannot be read: \(error.reason)",
                    hint: "it holds one peer a line")
            }
        }
        // Said twice is meant once.
        var seen: Set<PeerReference> = []
        recipients = references.filter { seen.insert($0).inserted }
        guard !recipients.isEmpty else { throw UsageError("send needs a peer", hint: "name it with --to PEER") }
        guard recipients.count <= Limits.peersAtMost else {
            throw UsageError(
                "send takes up to \(Limits.peersAtMost) peers, these are \(recipients.count)",
                hint: "send to the others with another command")
        }
        wait = try arguments.time("--wait") ?? .seconds(10)
        answer = try arguments.time("--answer") ?? .seconds(300)
        stall = try arguments.time("--stall") ?? .seconds(60)
        paths = arguments.operands.map(world.absolute)
        for (path, typed) in zip(paths, arguments.operands) {
            guard let problem = world.readProblem(path) else { continue }
            throw UsageError(
                "\(SafeText.path(typed)) cannot be opened: \(problem)",
                hint: "check its spelling and its rights")
        }
    }

    func run(_ run: Run) async throws -> ExitStatus {
        var settings = run.settings(into: nil)
        settings.isVisible = false
        settings.maximumChats = Limits.peersAtMost
        return try await run.withSession(settings, isStored: true) { session, _ in
            let teller = DeliveryTeller(me: session.me, console: run.console, board: run.deliveryBoard)
            let telling = Task { await teller.tell(session.events) }
            let claims = RecipientClaims()
            let rows = await withTaskGroup(of: (Int, DeliveryRow?).self) { group in
                for (index, recipient) in recipients.enumerated() {
                    group.addTask {
                        let delivery = Delivery(
                            session: session, paths: paths, answer: answer, stall: stall, sleep: run.world.sleep,
                            claims: claims, note: { if !teller.console.isJSON { teller.say($0) } })
                        return (index, await delivery.deliver(to: recipient, within: wait))
                    }
                }
                let found = await group.reduce(into: [Int: DeliveryRow]()) { $0[$1.0] = $1.1 }
                return recipients.indices.compactMap { found[$0] }
            }
            // Its events end with the session; only then is all known that was left out.
            await session.stop()
            let hasSkipped = await telling.value
            rows.forEach { $0.show(on: run.console) }
            let status = DeliveryRow.status(of: rows)
            return status == .done && hasSkipped ? .incomplete : status
        }
    }

    /// One peer a line; blank lines and those that begin with `#` are not read.
    private static func peers(in text: String) -> [PeerReference] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let parts = line.drop { $0.isWhitespace }
            guard let last = parts.lastIndex(where: { !$0.isWhitespace }), !parts.hasPrefix("#") else { return nil }
            return PeerReference(String(parts[...last]))
        }
    }
}
