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
    private nonisolated let sink: AsyncStream<NodeEvent>.Continuation

    let identity: LocalIdentity
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
    private var lastEvent: (message: ControlMessage, frame: [UInt8])?
    private var lastConnection: UInt64 = 0
    var dials: [DialID: Dial] = [:]
    private var lastCheck = UInt64.max
    /// Which dial a connection belongs to, until it is open.
    var dialOf: [ConnectionID: DialID] = [:]
    private var wakeUp: (at: Instant, token: UInt64)?
    var hub: TransferHub
    var discovery: Discovery?
    var interfaceMonitor: InterfaceMonitor?
    /// What this machine is connected by.
    var ownInterfaces = NetworkInterface.current()
    var revision = 1
    var lastAdvert: Advert?
    var isStopped = false

    package init(identity: LocalIdentity, settings: NodeSettings) throws(PeerConnectError) {
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw PeerConnectError(.cannotStart, "The event loop cannot be made: \(error.reason).", cause: error)
        }
        self.identity = identity
        self.settings = settings
        context = TLSContext(key: identity.key)
        guard let run = RunID(bytes: randomBytes(5)) else { preconditionFailure("5 bytes make a run") }
        self.run = run
        (events, sink) = AsyncStream.makeStream(of: NodeEvent.self, bufferingPolicy: .unbounded)
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

    nonisolated func emit(_ event: NodeEvent) { sink.yield(event) }

    // MARK: Start and end

    /// Listens and goes on the network; gives the port, or `nil` when it does not listen.
    package func start() throws(PeerConnectError) -> UInt16? {
        if settings.isVisible {
            try checkDownloads()
            try listen()
        }
        startDiscovery()
        return listener?.port
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

    /// Tells members and says goodbye; what was sent has 2 s to go out.
    package func stop() async {
        guard !isStopped else { return }
        machine.stop(at: moment)
        carryOutEffects()
        isStopped = true
        flow.resumeAll()
        endTransfers()
        interfaceMonitor?.cancel()
        let discovery = self.discovery.take()
        for token in listenerTokens { loop.unregister(token) }
        listener = nil
        let limit = BootClock.now() + 2
        while !connections.isEmpty || hub.writers > 0, BootClock.now() < limit {
            try? await Task.sleep(for: .milliseconds(5))  // the loop goes on meanwhile and lets connections close
        }
        for connection in connections.values { handle(connection.end(.closedHere), of: connection) }
        await discovery?.stop()
        sink.finish()
    }

    // Not in `stop()`: calls that come after it, a second `stop()` too, still need a thread to run on.
    deinit { loop.stop() }

    // MARK: Connections

    @discardableResult
    func add(
        _ socket: consuming TCPSocket, address: PeerAddress, dialling: Plane?, expected: PeerID?
    ) -> ConnectionID {
        lastConnection += 1
        let id = ConnectionID(lastConnection)
        let connection = ControlConnection(
            id, socket: socket, address: address, dialling: dialling, expected: expected, context: context,
            hello: hello, now: BootClock.now())
        connections[id] = connection
        guard let raw = connection.descriptor else { return id }
        tokens[id] = try? loop.register(raw: raw, connection.interest) { [weak self] readiness in
            self?.assumeIsolated { $0.ready(id, readiness) }
        }
        if tokens[id] == nil { handle(connection.end(.closedHere), of: connection) }
        rearm()
        return id
    }

    private func ready(_ id: ConnectionID, _ readiness: Readiness) {
        guard let connection = connections[id] else { return }
        handle(connection.ready(readiness, now: BootClock.now()), of: connection)
        carryOutEffects()
    }

    func handle(_ found: [ControlConnection.Event], of connection: ControlConnection) {
        for event in found {
            switch event {
            case .opened(let remote, let hello): opened(connection, remote, hello)
            case .message(let message): machine.receive(message, on: connection.id, at: moment)
            case .ticket(let open): redeem(open, from: connection)
            case .closed(let ending): closed(connection, ending)
            }
        }
        if let token = tokens[connection.id] { loop.update(token, connection.interest) }
        flow.note(connection)
    }

    private func opened(_ connection: ControlConnection, _ remote: RemotePeer, _ hello: Hello) {
        // Who does not listen is a command of the same user, which runs beside this one under the same key.
        if remote.peer.id == identity.id, hello.run != run, hello.port != 0, listener != nil {
            let text = "Another program on this network uses your own identity; give one of them another: id new NAME."
            emit(.warning(code: .sameID, peer: remote.peer, message: text))
        }
        answered(remote.peer.id)
        guard let dial = dialOf.removeValue(forKey: connection.id) else {
            // Nobody talks with themselves: it has said that it is there, and that was all.
            guard remote.peer.id != identity.id else {
                return handle(connection.closeAfterSending(), of: connection)
            }
            return machine.opened(connection.id, remote)
        }
        won(dial, by: connection, remote)
    }

    /// For a dial of the engine's own, which the machine does not hear of; it counts its own ones from the other end.
    func nextCheck() -> DialID {
        lastCheck -= 1
        return DialID(lastCheck)
    }

    private func closed(_ connection: ControlConnection, _ ending: ControlConnection.Ending) {
        unregister(connection.id)
        connection.release()
        connections[connection.id] = nil
        if let dial = dialOf.removeValue(forKey: connection.id) {
            lost(dial, connection, ending)
        } else {
            if ending != .closedHere, let id = connection.remote?.peer.id, machine.hasUse(for: connection.id) {
                broke(id)
            }
            machine.closed(connection.id, isSilent: ending == .silent, at: moment)
        }
    }

    func unregister(_ id: ConnectionID) {
        if let token = tokens.removeValue(forKey: id) { loop.unregister(token) }
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
