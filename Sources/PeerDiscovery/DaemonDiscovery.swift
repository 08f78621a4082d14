internal import CAvahi
internal import PeerModel

/// What discovery reports.
package enum DiscoveryEvent: Equatable, Sendable {
    /// The back end works.
    case up(backend: String)
    /// The own advert is on the network.
    case published
    /// The back end does not work; it is tried again by itself.
    case down(reason: String)
    case change(PeerChange)
}

/// Discovery through avahi-daemon: browses, advertises, and comes back by itself when the daemon or D-Bus does.
///
/// Avahi runs on a thread of its own. Everything is touched only there, or by a caller that holds that thread's lock.
package final class DaemonDiscovery: @unchecked Sendable {  // all state is guarded by Avahi's poll lock, see above
    private static let retryMilliseconds: UInt32 = 1000
    /// How long peers of a daemon that went away stay listed while its successor finds them again.
    private static let graceMilliseconds: UInt32 = 4000

    private let poll: OpaquePointer?
    private let sink: @Sendable (DiscoveryEvent) -> Void
    private let interfaces: Set<String>
    private var client: OpaquePointer?
    private var browser: ServiceBrowser
    private var publisher: Publisher
    private var timeouts: [OpaquePointer] = []
    private var isDown = false
    /// C's reference to this object; given back once Avahi's thread has ended.
    private var retained: Unmanaged<DaemonDiscovery>?

    package init(own: OwnRun, interfaces: [String], events sink: @escaping @Sendable (DiscoveryEvent) -> Void) {
        poll = avahi_threaded_poll_new()
        self.sink = sink
        self.interfaces = Set(interfaces)
        browser = ServiceBrowser(own: own, interfaces: self.interfaces) { sink(.change($0)) }
        publisher = Publisher(interfaces: interfaces, events: sink)
    }

    /// Starts browsing, and advertises if there is something to advertise.
    package func start(advert: Advert?) {
        guard let poll else { return sink(.down(reason: "out of memory")) }
        publisher.advert = advert
        retained = Unmanaged.passRetained(self)
        connect()
        avahi_threaded_poll_start(poll)
    }

    /// Changes the own advert.
    ///
    /// Not to be called on Avahi's thread, which the events come on.
    package func update(_ advert: Advert) {
        guard let poll, retained != nil else { return }
        avahi_threaded_poll_lock(poll)
        defer { avahi_threaded_poll_unlock(poll) }
        publisher.update(advert)
    }

    /// Says goodbye and ends.
    ///
    /// Not to be called on Avahi's thread.
    package func stop() {
        guard let poll, let retained else { return }
        avahi_threaded_poll_lock(poll)
        publisher.withdraw()
        avahi_threaded_poll_unlock(poll)
        avahi_threaded_poll_stop(poll)  // no callback runs after this line
        browser.forgetObjects(freeing: true)
        if let client { avahi_client_free(client) }
        client = nil
        avahi_threaded_poll_free(poll)
        self.retained = nil
        retained.release()
    }

    // MARK: On Avahi's thread

    /// Waits for the daemon if there is none; without D-Bus there is nothing to wait on, so it is tried again.
    private func connect() {
        guard let poll, let retained else { return }
        var code: CInt = 0
        client = avahi_client_new(
            avahi_threaded_poll_get(poll), AVAHI_CLIENT_NO_FAIL,
            { client, state, userdata in
                DaemonDiscovery.at(userdata)?.changed(client, state)
            }, retained.toOpaque(), &code)
        guard client == nil else { return }
        down("D-Bus cannot be reached: \(Self.text(code))")
        retry()
    }

    private static func at(_ userdata: UnsafeMutableRawPointer?) -> DaemonDiscovery? {
        userdata.map { Unmanaged<DaemonDiscovery>.fromOpaque($0).takeUnretainedValue() }
    }

    static func text(_ code: CInt) -> String { String(cString: avahi_strerror(code)) }

    /// The first call comes inside `avahi_client_new`, before `client` is set.
    private func changed(_ client: OpaquePointer?, _ state: AvahiClientState) {
        self.client = client
        guard let client else { return }
        switch state {
        case AVAHI_CLIENT_S_RUNNING:
            isDown = false
            sink(.up(backend: "daemon"))
            browser.start(client)
            publisher.publish(client)
            after(Self.graceMilliseconds) { $0.browser.dropUnseen() }
        case AVAHI_CLIENT_CONNECTING: down("avahi-daemon is not running")
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: publisher.forget(freeing: true)
        case AVAHI_CLIENT_FAILURE:
            let code = avahi_client_errno(client)
            down(code == AVAHI_ERR_DISCONNECTED ? "avahi-daemon went away" : Self.text(code))
            retry()
        default: break
        }
    }

    private func down(_ reason: String) {
        guard !isDown else { return }
        isDown = true
        sink(.down(reason: reason))
    }

    /// A client may not be freed inside its own callback; a timeout of the poll may do it.
    private func retry() {
        after(Self.retryMilliseconds) { discovery in
            discovery.browser.forgetObjects(freeing: false)
            discovery.publisher.forget(freeing: false)
            if let client = discovery.client { avahi_client_free(client) }  // frees everything made with it
            discovery.client = nil
            discovery.connect()
        }
    }

    private final class Delayed {
        let discovery: DaemonDiscovery
        let body: (DaemonDiscovery) -> Void
        init(_ discovery: DaemonDiscovery, _ body: @escaping (DaemonDiscovery) -> Void) {
            self.discovery = discovery
            self.body = body
        }
    }

    private func after(_ milliseconds: UInt32, _ body: @escaping (DaemonDiscovery) -> Void) {
        guard let poll, let api = avahi_threaded_poll_get(poll) else { return }
        let delayed = Unmanaged.passRetained(Delayed(self, body))
        let timeout = pc_timeout_new(
            api, milliseconds,
            { timeout, userdata in
                guard let userdata else { return }
                let delayed = Unmanaged<Delayed>.fromOpaque(userdata).takeRetainedValue()
                let discovery = delayed.discovery
                if let poll = discovery.poll, let api = avahi_threaded_poll_get(poll) { pc_timeout_free(api, timeout) }
                delayed.body(discovery)
            }, delayed.toOpaque())
        if timeout == nil { delayed.release() }
    }
}
