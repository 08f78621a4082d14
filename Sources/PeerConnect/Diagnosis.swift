internal import PeerDiscovery
package import PeerModel
internal import PeerSystem

/// Tries out discovery itself, for whoever wants to know why peers are not seen.
package enum Diagnosis {
    /// What there is of avahi-daemon.
    package enum Daemon: Hashable, Sendable {
        case running(version: String)
        case absent
        /// D-Bus does not answer, or does not let us ask.
        case unreachable(reason: String)
        /// It does not answer in time.
        case silent
    }

    /// What became of an advert put on the network for a few seconds.
    package struct Trial: Hashable, Sendable {
        /// The back end that took it; `nil` when none works.
        package var backend: String?
        /// Why no back end works, or the advert was not taken.
        package var problem: String?
        package var isPublished = false
        /// The back end that looked for it.
        package var watcher: String?
        package var isSeen = false
        /// Other peers that were seen meanwhile.
        package var others: Set<PeerID> = []

        package init() {}
    }

    /// Gives what the back ends say about themselves to `body`, line by line and on any thread, for the whole process.
    package static func log(to body: (@Sendable (String) -> Void)?) { DiscoveryLog.set(body) }

    /// Whether the responder inside this program can be used: it needs a library that may be missing.
    package static var hasEmbedded: Bool { AvahiDaemon.hasSubstitute }

    /// Asks avahi-daemon who it is.
    package static func daemon(within seconds: Double) async -> Daemon {
        switch await AvahiDaemon.ask(within: seconds) {
        case .running(let version): .running(version: version)
        case .absent: .absent
        case .unreachable(let reason): .unreachable(reason: reason)
        case .silent: .silent
        }
    }

    /// How long the list of other peers takes to be whole: most answer within a second, the rest when asked again.
    private static let settling = 3.0

    private enum Step: Sendable {
        case publisher(DiscoveryEvent)
        case watcher(DiscoveryEvent)
        case settled, over
    }

    /// Puts an advert on the network that no peer lists, and looks for it as another peer would; it is gone afterwards.
    ///
    /// The second look goes through a responder of its own where there is one, so that the advert really comes from the
    /// network and not from the daemon's memory, and on the networks named: the two would else meet on the loopback
    /// interface. Takes 3 s, or so many seconds when it or any other peer does not show, and up to 2 s to leave.
    package static func trial(
        _ settings: NodeSettings, watching networks: [String], within seconds: Double
    ) async -> Trial {
        guard let own = Trialist(settings.interfaces), let other = Trialist(networks) else { return Trial() }
        let (steps, sink) = AsyncStream.makeStream(of: Step.self)
        let publisher = own.discovery(mode(settings.discovery)) { sink.yield(.publisher($0)) }
        let watcher = other.discovery(hasEmbedded ? .embedded : .daemon) { sink.yield(.watcher($0)) }
        let timer = Task {
            try await Task.sleep(for: .seconds(min(settling, seconds)))
            sink.yield(.settled)
            try await Task.sleep(for: .seconds(max(0, seconds - settling)))
            sink.yield(.over)
        }
        watcher.start(advert: nil)
        publisher.start(advert: own.advert)
        var tally = Tally(wanted: own.id)
        for await step in steps where tally.take(step) { break }
        timer.cancel()
        async let first: Void = publisher.stop()
        async let second: Void = watcher.stop()
        _ = await (first, second)
        return tally.trial
    }

    private static func mode(_ discovery: NodeSettings.Discovery) -> DiscoverySettings.Mode {
        switch discovery {
        case .auto, .off: .auto
        case .daemon: .daemon
        case .embedded: .embedded
        }
    }

    /// One of the two ends: an identity that lives for this trial.
    private struct Trialist {
        let id: PeerID
        private let run: String
        private let interfaces: [String]

        init?(_ interfaces: [String]) {
            guard let digest = Digest(randomBytes(Digest.size)), let run = RunID(bytes: randomBytes(5)) else {
                return nil
            }
            id = PeerID(digest)
            self.run = run.description
            self.interfaces = interfaces
        }

        var advert: Advert {
            Advert(
                id: id, name: "doctor", versions: 1...1, isBusy: true, kind: .check, run: run, revision: 1,
                port: Limits.defaultPort)
        }

        func discovery(
            _ mode: DiscoverySettings.Mode, _ events: @escaping @Sendable (DiscoveryEvent) -> Void
        ) -> Discovery {
            let local = NetworkInterface.current().map {
                LocalInterface(name: $0.name, isLoopback: $0.isLoopback, addresses: $0.addresses.map(\.address.ip))
            }
            let own = OwnRun(id: id, run: run, seesChecks: true)
            return Discovery(
                DiscoverySettings(own: own, mode: mode, interfaces: interfaces, localInterfaces: local), events: events)
        }
    }

    /// What has been seen so far.
    private struct Tally {
        let wanted: PeerID
        var trial = Trial()
        private var isSettled = false

        init(wanted: PeerID) { self.wanted = wanted }

        /// Whether that was enough.
        mutating func take(_ step: Step) -> Bool {
            switch step {
            case .publisher(let event): publisher(event)
            case .watcher(.up(let backend, _)): trial.watcher = backend
            case .watcher(.change(.found(let peer))):
                if peer.id == wanted {
                    trial.isSeen = true
                } else if peer.kind != .check {
                    trial.others.insert(peer.id)
                }
            case .watcher: break
            case .settled: isSettled = true
            case .over: return true
            }
            return isSettled && trial.isSeen && !trial.others.isEmpty
        }

        private mutating func publisher(_ event: DiscoveryEvent) {
            switch event {
            case .up(let backend, _): (trial.backend, trial.problem) = (backend, nil)
            case .published(let backend): (trial.backend, trial.isPublished, trial.problem) = (backend, true, nil)
            case .down(let backend, let reason):
                // Of a back end that works, but does not take the advert, too.
                if trial.backend != backend { trial.backend = nil }
                trial.problem = reason
            case .change: break
            }
        }
    }
}
