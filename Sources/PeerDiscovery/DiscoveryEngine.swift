internal import PeerModel

/// The part of discovery that has a thread of its own: picks the back end and comes back by itself when it went away.
final class DiscoveryEngine {
    private static let retry = 1.0
    /// Later on; a daemon or a D-Bus that comes back is still noticed within 10 s.
    private static let patientRetry = 3.0
    /// How long peers of a back end that went away stay listed while its successor finds them again.
    private static let grace = 4.0

    private let settings: DiscoverySettings
    private let sink: (DiscoveryEvent) -> Void
    private let loop: PollLoop
    private let browser: ServiceBrowser
    private let publisher: Publisher
    private var interfaces: [LocalInterface]
    private var daemon: DaemonBackend?
    private var embedded: EmbeddedBackend?
    /// The daemon was there once; the other back end is no choice any more.
    private var hasMoved = false
    /// The one in use.
    private weak var active: (any AvahiBackend)?
    private var isDown = false
    /// Since the daemon was there.
    private var attempts = 0
    private var isEnded = false

    init(_ settings: DiscoverySettings, on loop: PollLoop, _ sink: @escaping (DiscoveryEvent) -> Void) {
        self.settings = settings
        self.loop = loop
        self.sink = sink
        interfaces = settings.localInterfaces
        let relay = Relay()
        browser = ServiceBrowser(
            own: settings.own, interfaces: settings.interfaces, on: loop, report: { sink(.change($0)) },
            failed: { relay.engine?.browserFailed($0) })
        publisher = Publisher(interfaces: settings.interfaces, on: loop) { relay.engine?.publisherTold($0) }
        relay.engine = self
    }

    /// For the two that are made before the engine is whole.
    private final class Relay { weak var engine: DiscoveryEngine? }

    /// How many objects are inside Avahi.
    var objects: Int { (daemon?.objects ?? 0) + (embedded?.objects ?? 0) }

    func start() { if settings.mode == .embedded { startEmbedded(nil) } else { connect() } }

    func set(_ advert: Advert) { publisher.set(advert) }

    func set(_ interfaces: [LocalInterface]) {
        self.interfaces = interfaces
        embedded?.setInterfaces(interfaces)
        publisher.interfacesChanged()
    }

    func know(_ ids: Set<PeerID>) { browser.know(ids) }

    func prove(_ id: PeerID) { browser.prove(id) }

    func refresh(_ id: PeerID, _ done: @escaping ([[PeerAddress]]) -> Void) { browser.refresh(id, done) }

    /// Says goodbye.
    func stop() {
        isEnded = true
        close(daemon)
        close(embedded)
        release()
    }

    /// A daemon allows a client a number of objects (avahi-daemon.conf(5)), so the log tells how many there were.
    private func close(_ backend: (any AvahiBackend)?) {
        guard let backend else { return }
        if backend.mostObjects > 0 {
            DiscoveryLog.write("\(backend.name) has kept \(backend.mostObjects) objects at most")
        }
        backend.close()
    }

    private func later(_ body: @escaping (DiscoveryEngine) -> Void) {
        attempts += 1
        loop.after(attempts < 10 ? Self.retry : Self.patientRetry) { [weak self] in
            guard let self, !isEnded else { return }
            body(self)
        }
    }

    private func down(_ backend: String, _ reason: String) {
        guard !isDown else { return }
        isDown = true
        tell(.down(backend: backend, reason: reason))
    }

    /// In the log too, with what only that is for.
    private func tell(_ event: DiscoveryEvent) {
        switch event {
        case .up(let backend, let reason):
            DiscoveryLog.write("\(backend) is used" + (reason.map { ", because \($0)" } ?? ""))
        case .published(let backend): DiscoveryLog.write("\(backend) has published the advert")
        case .down(let backend, let reason): DiscoveryLog.write("\(backend) does not work, because \(reason)")
        case .change: break
        }
        sink(event)
    }

    private func up(_ backend: any AvahiBackend, instead reason: String?) {
        if active !== backend {
            // First what others wait for: where there are thousands, what is found keeps this thread for seconds.
            publisher.attach(backend)
            do { try browser.attach(backend) } catch { return browserFailed(error.reason) }
            active = backend
            isDown = false
            tell(.up(backend: backend.name, reason: reason))
            loop.after(Self.grace) { [weak self, weak backend] in
                guard let self, let backend, backend === active else { return }
                browser.dropUnseen()
            }
        }
        publisher.attach(backend)
    }

    private func browserFailed(_ reason: String) {
        if embedded != nil { loseEmbedded(reason) } else { lose(reason) }
    }

    private func publisherTold(_ report: Publisher.Report) {
        let backend = active?.name ?? "daemon"
        switch report {
        case .published: tell(.published(backend: backend))
        case .failed(let reason): tell(.down(backend: backend, reason: reason))
        }
    }

    // MARK: The daemon

    private func connect() {
        guard daemon == nil else { return }
        do {
            daemon = try DaemonBackend(on: loop) { [weak self] in self?.changed($0) }
        } catch {
            absent(error.isMissing ? "D-Bus is not running" : "D-Bus cannot be reached")
            later { $0.connect() }
        }
    }

    private func changed(_ state: DaemonBackend.State) {
        guard let daemon, !isEnded else { return }
        switch state {
        case .running:
            if !hasMoved { closeEmbedded() }
            hasMoved = true
            attempts = 0
            up(daemon, instead: nil)
        case .busy: if active === daemon { publisher.detach() }
        case .absent:
            absent(AvahiDaemon.isRefused ? "D-Bus does not let avahi-daemon be asked" : "avahi-daemon is not running")
        case .failed(let reason): lose(reason)
        }
    }

    private func absent(_ reason: String) {
        guard settings.mode == .auto, !hasMoved else { return down("daemon", reason) }
        if embedded == nil { startEmbedded(reason) }
    }

    private func lose(_ reason: String) {
        let isActive = active === daemon
        close(daemon)
        daemon = nil
        if isActive || active == nil { release() }
        absent(reason)
        later { $0.connect() }
    }

    // MARK: Inside this process

    private func startEmbedded(_ reason: String?) {
        guard embedded == nil, !hasMoved else { return }
        do {
            let backend = try EmbeddedBackend(
                on: loop, host: "peerconnect-\(settings.own.run)", interfaces: settings.interfaces
            ) { [weak self] in self?.loseEmbedded($0) }
            embedded = backend
            backend.setInterfaces(interfaces)
            up(backend, instead: reason)
        } catch {
            loseEmbedded(error.reason)
        }
    }

    private func loseEmbedded(_ reason: String) {
        closeEmbedded()
        down("embedded", reason)
        later { $0.startEmbedded(nil) }
    }

    private func closeEmbedded() {
        guard embedded != nil else { return }
        close(embedded)
        embedded = nil
        release()
    }

    private func release() {
        active = nil
        browser.detach()
        publisher.detach()
    }
}
