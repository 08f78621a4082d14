internal import PeerModel
internal import PeerSystem

/// What is said to a person when nobody was found for a while.
enum EmptyListHint {
    /// By then a healthy network has shown everybody; see the times of discovery.
    static let delay = Duration.seconds(10)

    /// Two lines with the causes that are likely now.
    static var lines: [String] { lines(NetworkInterface.current()) }

    /// With the one cause, where these interfaces leave no other.
    static func lines(_ interfaces: [NetworkInterface]) -> [String] {
        var facts = DoctorFacts()
        facts.interfaces = interfaces
        let help = "peerconnect doctor says more; a typed address works all the same."
        if facts.usable.isEmpty, !facts.links.isEmpty {
            let names = facts.links.map(\.name).joined(separator: ", ")
            return [
                "Nobody is seen: only a VPN or the like is up (\(names)), and peers are not found through that.", help,
            ]
        }
        if facts.usable.isEmpty {
            return [
                "Nobody is seen: this machine has no network.",
                "peerconnect doctor says more.",
            ]
        }
        return [
            "Nobody is seen yet: a firewall, a VPN, a guest Wi-Fi that keeps its devices apart, or a container may be why.",
            "peerconnect doctor looks which; a typed address works all the same.",
        ]
    }

    /// Says so on standard error after the delay, if still nobody is there and no chat is on.
    ///
    /// Not with `--json`, where a program reads, and not without discovery, where nobody expects a list. Gives no step,
    /// but the type of one, for a command's queue to run it.
    static func watch<Step>(_ session: any NodeSession, _ run: Run) async -> Step? {
        if await isDue(session, run) { lines.forEach(run.console.err) }
        return nil
    }

    /// Waits, and says whether it is to be told then.
    static func isDue(_ session: any NodeSession, _ run: Run) async -> Bool {
        (try? await run.world.sleep(delay)) != nil ? await isNobodySeen(session, run) : false
    }

    /// The same at once.
    static func tell(_ session: any NodeSession, _ run: Run) async {
        if await isNobodySeen(session, run) { lines.forEach(run.console.err) }
    }

    private static func isNobodySeen(_ session: any NodeSession, _ run: Run) async -> Bool {
        guard !run.console.isJSON, run.options.discovery != .off, !Task.isCancelled else { return false }
        let snapshot = await session.snapshot()
        return snapshot.peers.isEmpty && snapshot.chats.isEmpty
    }
}

extension ChatLoop {
    /// Why nobody may be listed, once nobody was for long enough.
    var whyNobody: [String] {
        let isEarly = run.world.clock() - state.listedAt < Double(EmptyListHint.delay.components.seconds)
        return isEarly || run.options.discovery == .off ? [] : EmptyListHint.lines
    }
}
