internal import CAvahi
package import PeerModel
internal import Synchronization

/// What discovery reports.
package enum DiscoveryEvent: Equatable, Sendable {
    /// The back end works; the reason is why it is this one.
    case up(backend: String, reason: String?)
    /// The own advert is on the network.
    case published(backend: String)
    /// The back end does not work, or the advert is not taken; it is tried again by itself.
    case down(backend: String, reason: String)
    case change(PeerChange)
}

/// How peers are to be found.
package struct DiscoverySettings: Sendable {
    package enum Mode: Sendable {
        /// The daemon if it answers, else inside this process, until there is a daemon.
        case auto
        case daemon, embedded
    }

    package let own: OwnRun
    package var mode: Mode
    /// Only these; empty means all.
    package var interfaces: [String]
    /// What the machine has at the start; see `Discovery.set(_:)`.
    package var localInterfaces: [LocalInterface]

    package init(own: OwnRun, mode: Mode, interfaces: [String] = [], localInterfaces: [LocalInterface] = []) {
        self.own = own
        self.mode = mode
        self.interfaces = interfaces
        self.localInterfaces = localInterfaces
    }
}

/// Finds peers and lets them find this one.
///
/// Avahi and all that belongs to it live on one thread, since calls to the daemon may block for 25 s. Every method may be called
/// from anywhere and returns at once: it leaves a note for that thread.
package final class Discovery: Sendable {
    /// How long a goodbye may take.
    private static let goodbye = Duration.seconds(2)
    /// How long the daemon may take for the first answer before it is said that there is none.
    ///
    /// Shorter than `browse` looks, so that it can tell a stuck daemon from an empty network.
    private static let patience = Duration.seconds(2)

    private let mail: DiscoveryMail
    private let settings: DiscoverySettings
    private let sink: @Sendable (DiscoveryEvent) -> Void

    /// `events` is called on discovery's thread, except to say that this thread is stuck.
    package init(_ settings: DiscoverySettings, events: @escaping @Sendable (DiscoveryEvent) -> Void) {
        self.settings = settings
        sink = events
        mail = DiscoveryMail()
    }

    deinit { mail.post { $0.isStopping = true } }

    /// Starts browsing, and advertises if there is something to advertise; once.
    package func start(advert: Advert?) {
        mail.begin()
        mail.post { $0.advert = advert }
        let isStarted = DiscoveryThread.start { [mail, settings, sink] in
            guard let loop = PollLoop() else {
                sink(.down(backend: "daemon", reason: "out of memory"))
                return mail.ended()
            }
            let engine = DiscoveryEngine(settings, on: loop, sink)
            let read = {
                let notes = mail.take()
                if notes.isStopping {
                    notes.decline()
                    return loop.quit()
                }
                if let interfaces = notes.interfaces { engine.set(interfaces) }
                if let advert = notes.advert { engine.set(advert) }
                if let known = notes.known { engine.know(known) }
                for id in notes.proved { engine.prove(id) }
                for (id, done) in notes.refreshes { engine.refresh(id, done) }
                for done in notes.counts { done(engine.objects) }
            }
            loop.follow(mail.descriptor, read)
            read()
            engine.start()
            mail.began()
            loop.run()
            engine.stop()
            loop.unfollow()
            mail.ended()
        }
        if !isStarted {
            sink(.down(backend: "daemon", reason: "no thread can be started"))
            return mail.ended()
        }
        Task { [mail, sink] in
            try await Task.sleep(for: Self.patience)
            if mail.isStuck { sink(.down(backend: "daemon", reason: "avahi-daemon does not answer")) }
        }
    }

    /// Changes the own advert; of several the last one counts.
    package func update(_ advert: Advert) { mail.post { $0.advert = advert } }

    /// Tells what interfaces and addresses the machine has now.
    package func set(_ interfaces: [LocalInterface]) { mail.post { $0.interfaces = interfaces } }

    /// Tells whom the user knows now; they stay listed when a flood of adverts leaves no room.
    package func know(_ ids: Set<PeerID>) { mail.post { $0.known = ids } }

    /// Tells that a peer has proved its key; it stays listed like one that is known, unless too many have.
    package func prove(_ id: PeerID) { mail.post { $0.proved.insert(id) } }

    /// Looks a peer's addresses up again and gives what is known of each instance afterwards, which takes a second.
    ///
    /// Longer when Avahi is stuck: who cannot wait sets a limit. `done` is called once, on any thread.
    package func refresh(_ id: PeerID, _ done: @escaping @Sendable ([[PeerAddress]]) -> Void) {
        let isPosted = mail.post { $0.refreshes.append((id, done)) }
        if !isPosted { done([]) }
    }

    /// Says goodbye and ends; takes 2 s at most.
    package func stop() async {
        mail.post { $0.isStopping = true }
        let limit = Task { [mail] in
            try await Task.sleep(for: Self.goodbye)
            mail.giveUp()
        }
        await withCheckedContinuation { mail.whenEnded($0) }
        limit.cancel()
    }

    /// How many objects this one keeps inside Avahi, for tests; `nil` once it has ended.
    package func countObjects() async -> Int? {
        await withCheckedContinuation { continuation in
            let isPosted = mail.post { $0.counts.append { continuation.resume(returning: $0) } }
            if !isPosted { continuation.resume(returning: nil) }
        }
    }
}
