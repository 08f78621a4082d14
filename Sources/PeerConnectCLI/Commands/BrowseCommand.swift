internal import PeerModel

/// `peerconnect browse`: prints who is there, as found.
struct BrowseCommand: Command {
    static let spec = CommandSpec(
        name: "browse", synopsis: "[--for T] [--watch]", summary: "print who is there",
        options: [
            OptionSpec("--for", value: "T", help: "how long to look, 3 s unless said otherwise"),
            OptionSpec("--watch", help: "keep watching, and tell of changes too"),
        ],
        notes: [
            "Prints name, short ID, state and first address of each peer, separated by tabs.",
            "The exit code is 6 when nobody could be looked for, and 0 for a list that is empty.",
        ])
    static let usesSettings = true

    private enum Step: Sendable {
        case event(NodeEvent)
        case end
    }

    private let duration: Duration
    private let isWatching: Bool

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        try arguments.expectNoOperands()
        isWatching = arguments.has("--watch")
        guard !isWatching || !arguments.has("--for") else {
            throw UsageError("--watch has no end, so --for is not for it")
        }
        duration = try arguments.time("--for") ?? .seconds(3)
    }

    func run(_ run: Run) async throws -> ExitStatus {
        guard run.options.discovery != .off else { throw Self.blind("discovery is switched off") }
        var settings = run.settings(into: nil)
        settings.isVisible = false
        return try await run.withSession(settings, isStored: false) { session, start in
            let queue = StepQueue<Step>()
            defer { queue.close() }
            queue.follow(session.events, end: .end) { .event($0) }
            queue.run { await EmptyListHint.watch(session, run) }
            if !isWatching {
                queue.run { [duration, sleep = run.world.sleep] in (try? await sleep(duration)).map { Step.end } }
            }
            var hasLooked = start.discovery != "off", obstacle: String?
            for await step in queue.steps {
                guard case .event(let event) = step else { break }
                switch event {
                case .discovery(_, .up, _): hasLooked = true
                case .discovery(_, .down, let reason): obstacle = reason ?? "discovery does not work"
                default: break
                }
                show(event, on: run.console)
            }
            // An empty list would say that nobody is there.
            if !hasLooked, !isWatching { throw Self.blind(obstacle ?? "avahi-daemon did not answer in that time") }
            if !isWatching, duration < EmptyListHint.delay { await EmptyListHint.tell(session, run) }
            return .done
        }
    }

    private static func blind(_ reason: String) -> PeerConnectError {
        PeerConnectError(
            .cannotStart, "Nobody could be looked for, because \(reason).",
            hint: "A typed address works all the same; peerconnect doctor says more.")
    }

    private func show(_ event: NodeEvent, on console: Console) {
        switch event {
        case .peerFound, .peerUpdated, .peerLost, .discovery:
            if console.isJSON { return console.emit(JSONEvent(event)) }
        default: return
        }
        switch event {
        case .peerFound(let peer): console.out(Self.row(peer))
        case .peerUpdated(let peer) where isWatching: console.out(Self.row(peer))
        case .peerLost(let peer, _) where isWatching: console.out(Self.row(peer, state: "gone"))
        // Else it is the error at the end.
        case .discovery(let backend, .down, let reason) where isWatching:
            console.err(PlainNarrator.broken(backend, reason))
        default: break
        }
    }

    private static func row(_ peer: ListedPeer, state: String? = nil) -> String {
        let cells = [
            SafeText.line(peer.peer.name), peer.peer.id.short, state ?? (peer.isBusy ? "busy" : "idle"),
            peer.addresses.first?.description ?? "-",
        ]
        return cells.joined(separator: "\t")
    }
}
