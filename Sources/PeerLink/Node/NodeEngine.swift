internal import PeerDiscovery
package import PeerModel
internal import PeerProtocol
package import PeerSystem
internal import PeerTLS
internal import PeerWire

/// One running peer: joins the pure machines to sockets, TLS, files and discovery.
///
/// An actor on its own event loop: everything but file bytes happens on that one thread, so nothing here needs a lock, and no
/// `await` stands between asking a machine and doing what it says.
package actor NodeEngine {
    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    package nonisolated let events: AsyncStream<NodeEvent>
    nonisolated let queue: EventQueue<NodeEvent>
    private nonisolated let observe: @Sendable (NodeEvent) -> Void

    var identity: LocalIdentity
    let settings: NodeSettings
    let context: TLSContext
    let run: RunID
    var machine: NodeMachine
    var directory = PeerDirectory()
    /// What discovery shows, hidden peers too.
    var nearby: [PeerID: NearbyPeer] = [:]
    var reachability = Reachability()
    var listener: TCPListener?
    var listenerTokens: [UInt64] = []
    var connections: [ConnectionID: ControlConnection] = [:]
    var tokens: [ConnectionID: UInt64] = [:]
    var flow = Flow()
    /// The event that was encoded last: it goes to every member in turn.
    var lastEvent: (message: ControlMessage, frame: [UInt8])?
    var lastConnection: UInt64 = 0
    var dials: [DialID: Dial] = [:]
    var lastCheck = UInt64.max
    /// Which dial a connection belongs to, until it is open.
    var dialOf: [ConnectionID: DialID] = [:]
    private var wakeUp: (at: Instant, token: UInt64)?
    var hub: TransferHub
    /// How received files get their place; it may block.
    var openLanding: LandingOpener = { (folder, transfer, offer, key) throws(TransferFailure) in
        try Landing(folder: folder, transfer: transfer, offer: offer, signedBy: key)
    }
    var discovery: Discovery?
    /// The back end in use, `off` when there is none; `nil` while nothing has been heard of it.
    var backEnd: String?
    var waitingForBackEnd: [CheckedContinuation<Void, Never>] = []
    var interfaceMonitor: InterfaceMonitor?
    /// What this machine is connected by.
    var ownInterfaces = NetworkInterface.current()
    var revision = 1
    var lastAdvert: Advert?
    var isStopped = false
    /// Those who wait for the end that another `stop()` brings; `nil` once it has come.
    private var waitingForEnd: [CheckedContinuation<Void, Never>]? = []

    /// `observe` hears of each event before it is in `events`, on the loop's thread: it must not wait.
    package init(
        identity: LocalIdentity, settings: NodeSettings, eventsWaiting: Int = Limits.eventsWaiting,
        observe: @escaping @Sendable (NodeEvent) -> Void = { _ in }
    ) throws(PeerConnectError) {
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw PeerConnectError(
                .cannotStart, "The event loop cannot be made: \(error.reason).",
                hint: "Check the limit of open files (ulimit -n) and the free memory.", cause: error)
        }
        self.identity = identity
        self.settings = settings
        context = TLSContext(key: identity.key)
        guard let run = RunID(bytes: randomBytes(5)) else { preconditionFailure("5 bytes make a run") }
        self.run = run
        self.observe = observe
        queue = EventQueue(bound: eventsWaiting)
        events = queue.elements
        let key = identity.key
        let environment = Environment(
            hash: { SHA256.hash($0) }, sign: { key.sign($0) },
            isValid: { signature, bytes, spki in
                PublicKey(spki: spki)?.isValid(signature: signature, for: bytes) ?? false
            },
            random: { randomBytes($0) })
        let me = LocalPeer(
            peer: Peer(id: identity.id, name: identity.displayName.description), key: key.publicKey.spki)
        machine = NodeMachine(me: me, settings: Policy(settings), environment: environment)
        hub = TransferHub()
    }

    /// The own side of every hello.
    var hello: Hello {
        Hello(run: run, name: identity.displayName, port: listener?.port ?? 0, addresses: ownAddresses)
    }

    var moment: Moment { Moment(now: BootClock.now(), wall: WallClock.milliseconds()) }

    nonisolated func emit(_ event: NodeEvent) {
        observe(event)
        queue.add(event)
    }

    // MARK: Start and end

    /// Listens and goes on the network; gives the port, or `nil` when it does not listen.
    package func start() throws(PeerConnectError) -> UInt16? {
        try checkInterfaces()
        queue.onRelief { [weak self, loop] in loop.post { self?.assumeIsolated { $0.caughtUp() } } }
        if settings.isVisible {
            try checkDownloads()
            try listen()
        }
        startDiscovery()
        return listener?.port
    }

    /// One that is down may come up, but one that is not there is most likely a slip.
    private func checkInterfaces() throws(PeerConnectError) {
        let names = NetworkInterface.names()
        guard let missing = settings.interfaces.first(where: { !names.contains($0) }) else { return }
        throw PeerConnectError(
            .cannotStart, "There is no interface \(missing).",
            hint: "This machine has \(names.joined(separator: ", ")); --interface takes one of them.")
    }

    /// Better said now than when somebody's file has come.
    private func checkDownloads() throws(PeerConnectError) {
        let path: String
        do { path = try Paths.absolute(settings.downloads) } catch { return }
        guard let error = Paths.whyNotWritable(path) else { return }
        throw PeerConnectError(
            .cannotStart, "Received files cannot be kept in \(settings.downloads): \(error.reason).",
            hint: "Name another folder with --into DIR.", cause: error)
    }

    /// Tells members and says goodbye; every call returns when all has ended.
    ///
    /// What was sent has 1 s to go out, and the goodbye to the network goes beside it: after a signal the whole program has
    /// 2 s, its records included.
    package func stop() async {
        guard !isStopped else { return await end() }
        machine.stop(at: moment)
        carryOutEffects()
        isStopped = true
        settleBackEnd("off")
        flow.resume(flow.waitingChats)
        endTransfers()
        interfaceMonitor?.cancel()
        let discovery = self.discovery.take()
        let farewell = Task { await discovery?.stop() }
        for token in listenerTokens { loop.unregister(token) }
        listener = nil
        let limit = BootClock.now() + 1
        while !connections.isEmpty || hub.writers > 0, BootClock.now() < limit {
            try? await Task.sleep(for: .milliseconds(5))  // the loop goes on meanwhile and lets connections close
        }
        for connection in connections.values { handle(connection.end(.closedHere), of: connection) }
        await farewell.value
        queue.finish()
        let waiting = waitingForEnd.take() ?? []
        for continuation in waiting { continuation.resume() }
    }

    /// Whether nothing of it is left.
    var hasEnded: Bool { waitingForEnd == nil }

    private func end() async {
        guard !hasEnded else { return }
        await withCheckedContinuation { waitingForEnd?.append($0) }
    }

    // Not in `stop()`: calls that come after it, a second `stop()` too, still need a thread to run on.
    deinit {
        loop.stop()
        queue.finish()
    }

    // MARK: Effects

    /// Does what the machine wants, until it wants nothing more.
    func carryOutEffects() {
        while true {
            let effects = machine.takeEffects()
            guard !effects.isEmpty else { break }
            for effect in effects { carryOut(effect) }
        }
        lastEvent = nil
        settleFlow()
        refreshAdvert()
        rearm()
    }

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .dial(let id, let target): dial(id, target)
        case .abandon(let id): abandon(id)
        case .send(let id, let message):
            guard let connection = connections[id] else { return }
            handle(connection.send(frame: encoded(message)), of: connection)
        case .close(let id):
            guard let connection = connections[id] else { return }
            handle(connection.closeAfterSending(), of: connection)
        case .emit(let event): emit(event)
        case .transfer(let order): carryOut(order)
        }
    }

    private func encoded(_ message: ControlMessage) -> [UInt8] {
        guard case .event = message else { return message.encoded() }
        if let lastEvent, lastEvent.message == message { return lastEvent.frame }
        let frame = message.encoded()
        lastEvent = (message, frame)
        return frame
    }

    // MARK: Time

    /// Sets the alarm to the earliest thing that has a time.
    func rearm() {
        var times = connections.values.compactMap(\.deadline) + dials.values.map(\.wakeAt)
        times += [machine.deadline, hub.deadline, reachability.deadline].compactMap { $0 }
        guard let first = times.min() else { return }
        if let wakeUp, wakeUp.at <= first { return }
        if let wakeUp { loop.cancel(wakeUp.token) }
        let token = loop.schedule(at: first) { [weak self] in self?.assumeIsolated { $0.wokeUp() } }
        wakeUp = (first, token)
    }

    private func wokeUp() {
        wakeUp = nil
        let now = BootClock.now()
        for connection in connections.values {
            if let deadline = connection.deadline, now >= deadline {
                handle(connection.timerFired(now: now), of: connection)
            }
        }
        for id in dials.keys { advance(id) }
        hub.forgetTickets(now: now)
        askDoubtful()
        machine.timerFired(at: moment)
        carryOutEffects()
    }
}

extension Policy {
    init(_ settings: NodeSettings) {
        self.init()
        maximumPeers = min(settings.maximumPeers, Limits.peersAtMost)
        maximumChats = settings.maximumChats
        invitations = settings.invitations
        files = settings.files
        maximumFileSize = settings.maximumFileSize
    }
}
