internal import PeerDiscovery
internal import PeerModel
internal import PeerProtocol
internal import PeerSystem

/// What discovery tells, and what is told to the network.
extension NodeEngine {
    /// How often it is looked whether the machine slept, in seconds: half of what others may take to see this peer again.
    private static let sleepCheck = 5.0

    var advert: Advert {
        Advert(
            id: identity.id, name: identity.displayName.description,
            versions: ProtocolVersion.lowest...ProtocolVersion.highest, isBusy: machine.isBusy,
            kind: settings.kind == .chat ? .chat : .inbox, run: run.description, revision: revision,
            port: listener?.port ?? 0)
    }

    func startDiscovery() {
        let mode: DiscoverySettings.Mode
        switch settings.discovery {
        case .auto: mode = .auto
        case .daemon: mode = .daemon
        case .embedded: mode = .embedded
        case .off:
            settleBackEnd("off")
            return emit(.discovery(backend: "off", state: .down, reason: "switched off"))
        }
        let discoverySettings = DiscoverySettings(
            own: OwnRun(id: identity.id, run: run.description), mode: mode, interfaces: settings.interfaces,
            localInterfaces: Self.local(NetworkInterface.current()))
        let discovery = Discovery(discoverySettings) { [weak self] event in
            self?.loop.post { self?.assumeIsolated { $0.discovered(event) } }
        }
        self.discovery = discovery
        lastAdvert = settings.isVisible ? advert : nil
        discovery.start(advert: lastAdvert)
        discovery.know(machine.settings.acquaintances.ids)
        followInterfaces()
        watchForSleep()
    }

    /// Notices that this machine, or only this process, did not run for a while.
    ///
    /// Others have hidden this peer meanwhile, and nothing else may tell them that it is back: a new number in the advert does,
    /// which makes them ask at once.
    private func watchForSleep() {
        let due = BootClock.now() + Self.sleepCheck
        loop.schedule(at: due) { [weak self] in
            self?.assumeIsolated { engine in
                guard !engine.isStopped else { return }
                if BootClock.now() > due + Self.sleepCheck { engine.changedPlace() }
                engine.watchForSleep()
            }
        }
    }

    /// What is asked and said again when the own network may be another one.
    private func changedPlace() {
        revision += 1
        refreshAdvert()
        stirAll()
    }

    /// The back end in use, `off` when there is none, or none has answered within so many seconds.
    package func backEnd(within seconds: Double) async -> String {
        if backEnd == nil {
            let alarm = loop.schedule(at: BootClock.now() + seconds) { [weak self] in
                self?.assumeIsolated { $0.settleBackEnd("off") }
            }
            await withCheckedContinuation { waitingForBackEnd.append($0) }
            loop.cancel(alarm)
        }
        return backEnd ?? "off"
    }

    /// The first word of it answers those who wait.
    func settleBackEnd(_ name: String) {
        backEnd = backEnd ?? name
        let waiting = waitingForBackEnd
        waitingForBackEnd = []
        for continuation in waiting { continuation.resume() }
    }

    /// Peers look the addresses up again when the number in the advert grows.
    private func followInterfaces() {
        interfaceMonitor = try? InterfaceMonitor(on: loop) { [weak self] interfaces in
            self?.assumeIsolated { engine in
                engine.ownInterfaces = interfaces
                engine.discovery?.set(Self.local(interfaces))
                engine.changedPlace()
            }
        }
        if interfaceMonitor == nil {
            emit(
                .failure(
                    PeerConnectError(
                        .internal, "Changes of this machine's addresses cannot be followed.",
                        hint: "Start the program again after a change of networks.")))
        }
    }

    private static func local(_ interfaces: [NetworkInterface]) -> [LocalInterface] {
        interfaces.map {
            LocalInterface(name: $0.name, isLoopback: $0.isLoopback, addresses: $0.addresses.map(\.address.ip))
        }
    }

    private func discovered(_ event: DiscoveryEvent) {
        guard !isStopped else { return }
        switch event {
        case .up(let backend, let reason):
            settleBackEnd(backend)
            emit(.discovery(backend: backend, state: .up, reason: reason))
        case .published(let backend): emit(.discovery(backend: backend, state: .published, reason: nil))
        case .down(let backend, let reason):
            settleBackEnd("off")
            emit(.discovery(backend: backend, state: .down, reason: reason))
        case .change(.found(let peer)), .change(.updated(let peer)): saw(peer)
        case .change(.lost(let id)):
            nearby[id] = nil
            reachability.forget(id)
            if let event = directory.lost(id, reason: "gone") { emit(event) }
        case .change(.ownID(let addresses)): check(own: addresses)
        }
        if case .up = event { stirAll() }
    }

    private func saw(_ peer: NearbyPeer) {
        nearby[peer.id] = peer
        reachability.stirred(peer.id, at: BootClock.now())
        if reachability.isHidden(peer.id) { rearm() } else { list(peer) }
    }

    private func list(_ peer: NearbyPeer) {
        let event = directory.found(
            id: peer.id, name: peer.name, isBusy: peer.isBusy, kind: peer.kind.rawValue, addresses: peer.addresses)
        if let event { emit(event) }
    }

    // MARK: Peers that do not answer

    /// The network or the daemon is another one: who did not answer may do so now.
    private func stirAll() {
        reachability.stirredAll(at: BootClock.now())
        rearm()
    }

    /// It proved its key on a connection, whoever made that.
    func answered(_ id: PeerID) {
        if nearby[id] != nil { discovery?.prove(id) }
        guard reachability.answered(id), let peer = nearby[id] else { return }
        list(peer)
    }

    /// It was dialled at all its addresses in vain.
    func didNotAnswer(_ id: PeerID) {
        guard nearby[id] != nil, reachability.failed(id, at: BootClock.now()) else { return }
        if let event = directory.lost(id, reason: "unreachable") { emit(event) }
    }

    /// A connection to it broke, without a goodbye.
    func broke(_ id: PeerID) {
        guard nearby[id] != nil else { return }
        reachability.broke(id, at: BootClock.now())
    }

    /// Asks those whose turn it is: a handshake and no more.
    func askDoubtful() {
        while let id = reachability.next(at: BootClock.now()) {
            guard let peer = nearby[id] else {
                reachability.forget(id)
                continue
            }
            begin(
                Dial(
                    nextCheck(), expected: id, label: peer.name, places: peer.places, isCheck: true,
                    now: BootClock.now()))
        }
    }

    /// Finds out whether a clone is there: if so, `opened` says so on both sides; what a crashed run left does not answer.
    private func check(own addresses: [PeerAddress]) {
        let label = identity.displayName.description
        begin(
            Dial(
                nextCheck(), expected: identity.id, label: label, places: [addresses], isCheck: true,
                now: BootClock.now()))
    }

    /// Keeps the advert true; called after everything that may have changed it.
    func refreshAdvert() {
        guard let discovery, let last = lastAdvert, advert != last else { return }
        // A record that was there a moment ago is still in the caches of others, which would not tell that it is back.
        if advert.revision == last.revision { revision += 1 }
        lastAdvert = advert
        discovery.update(advert)
    }
}
