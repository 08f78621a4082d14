internal import PeerDiscovery
internal import PeerModel
internal import PeerProtocol
internal import PeerSystem

/// What discovery tells, and what is told to the network.
extension NodeEngine {
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
        case .off: return emit(.discovery(backend: "off", state: .down, reason: "switched off"))
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
        followInterfaces()
    }

    /// Peers look the addresses up again when the number in the advert grows.
    private func followInterfaces() {
        interfaceMonitor = try? InterfaceMonitor(on: loop) { [weak self] interfaces in
            self?.assumeIsolated { engine in
                engine.ownNetworks = interfaces.flatMap(\.addresses)
                engine.discovery?.set(Self.local(interfaces))
                engine.revision += 1
                engine.refreshAdvert()
            }
        }
        if interfaceMonitor == nil {
            emit(.failure(PeerConnectError(.internal, "Changes of this machine's addresses cannot be followed.")))
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
        case .up(let backend, let reason): emit(.discovery(backend: backend, state: .up, reason: reason))
        case .published(let backend): emit(.discovery(backend: backend, state: .published, reason: nil))
        case .down(let backend, let reason): emit(.discovery(backend: backend, state: .down, reason: reason))
        case .change(.found(let peer)), .change(.updated(let peer)):
            let event = directory.found(
                id: peer.id, name: peer.name, isBusy: peer.isBusy, kind: peer.kind.rawValue, addresses: peer.addresses)
            if let event { emit(event) }
        case .change(.lost(let id)):
            if let event = directory.lost(id, reason: "gone") { emit(event) }
        case .change(.ownID(let addresses)): check(own: addresses)
        }
    }

    /// Finds out whether a clone is there: if so, `opened` says so on both sides; what a crashed run left does not answer.
    private func check(own addresses: [PeerAddress]) {
        let label = identity.displayName.description
        begin(
            Dial(
                nextCheck(), expected: identity.id, label: label, addresses: addresses, isCheck: true,
                now: BootClock.now()))
    }

    /// Keeps the advert true; called after everything that may have changed it.
    func refreshAdvert() {
        guard let discovery, lastAdvert != nil else { return }
        let advert = advert
        guard advert != lastAdvert else { return }
        lastAdvert = advert
        discovery.update(advert)
    }
}
