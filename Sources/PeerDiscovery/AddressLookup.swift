internal import PeerModel

/// One look at where an instance is: its SRV record, then all addresses of the host which that names.
///
/// Three objects inside Avahi while it lasts; a resolver would be one, but gives only one address.
final class AddressLookup {
    /// When Avahi does not end it.
    private static let limit = 3.0
    /// A host's addresses come in one packet, or nearly so.
    private static let gathering = 0.05

    /// Anyone may invent addresses; a dial tries 16.
    static let atMost = 64

    /// What it has found.
    enum Result {
        /// All there is, as far as the network has answered.
        case all([PeerAddress])
        /// Some, and there may be more.
        case some([PeerAddress])
    }

    private let backend: any AvahiBackend
    private let place: Sighting
    private let loop: PollLoop
    /// Whether others wait, so that it has to be content with what comes first.
    private let isHurried: () -> Bool
    private let progress: (Result) -> Void
    private let done: (Result) -> Void
    private var service: ServiceRecord?
    private var serviceBrowser: AvahiObject?
    private var addressBrowsers: [RecordType: AvahiObject] = [:]
    private var found: [PeerAddress.IP: Set<Sighting>] = [:]
    private var settled: Set<RecordType> = []
    private var gather: PollLoop.Timer?
    private var end: PollLoop.Timer?

    init(
        _ backend: any AvahiBackend, at place: Sighting, on loop: PollLoop, isHurried: @escaping () -> Bool,
        progress: @escaping (Result) -> Void, done: @escaping (Result) -> Void
    ) {
        self.backend = backend
        self.place = place
        self.loop = loop
        self.isHurried = isHurried
        self.progress = progress
        self.done = done
    }

    func start(_ name: String) throws(AvahiError) {
        serviceBrowser = try backend.browse(name, .service, at: place) { [weak self] in self?.took($0) }
        end = loop.after(Self.limit) { [weak self] in self?.finish() }
    }

    /// Ends without a result.
    func cancel() {
        end?.cancel()
        gather?.cancel()
        serviceBrowser?.free()
        for browser in addressBrowsers.values { browser.free() }
        (end, gather, serviceBrowser, addressBrowsers) = (nil, nil, nil, [:])
    }

    private var addresses: [PeerAddress] {
        guard let port = service?.port else { return [] }
        return found.keys.map { PeerAddress($0, port: port) }
    }

    private func finish() {
        guard end != nil else { return }
        cancel()
        done(.all(addresses))
    }

    /// A change may come while it lasts, so the record is followed to the end.
    private func took(_ event: RecordEvent) {
        switch event {
        case .found(let bytes, _):
            guard let service = ServiceRecord(bytes), service != self.service else { return }
            let isOtherHost = service.host != self.service?.host
            self.service = service
            if isOtherHost { browse(service.host) }
        case .settled, .failed: if service == nil { finish() }
        case .gone, .known: break
        }
    }

    private func browse(_ host: String) {
        for browser in addressBrowsers.values { browser.free() }
        (addressBrowsers, found, settled) = ([:], [:], [])
        for type in [RecordType.ipv4, .ipv6] {
            let browser = try? backend.browse(host, type, at: place) { [weak self] in self?.took($0, type) }
            if let browser { addressBrowsers[type] = browser } else { settled.insert(type) }
        }
        if addressBrowsers.isEmpty { finish() }
    }

    private func took(_ event: RecordEvent, _ type: RecordType) {
        switch event {
        case .found(let bytes, let sighting):
            guard let ip = Self.ip(bytes, type, sighting), found[ip] != nil || found.count < Self.atMost else { return }
            found[ip, default: []].insert(sighting)
            if gather == nil { gather = loop.after(Self.gathering) { [weak self] in self?.gathered() } }
        case .gone(let bytes, let sighting):
            guard let ip = Self.ip(bytes, type, sighting) else { return }
            found[ip]?.remove(sighting)
            if found[ip]?.isEmpty == true { found[ip] = nil }
        case .known: break
        case .settled, .failed:
            settled.insert(type)
            if settled.count == 2 { finish() }
        }
    }

    private func gathered() {
        gather = nil
        guard end != nil, !found.isEmpty else { return }
        guard isHurried() else { return progress(.some(addresses)) }
        cancel()
        done(.some(addresses))
    }

    private static func ip(_ bytes: [UInt8], _ type: RecordType, _ sighting: Sighting) -> PeerAddress.IP? {
        switch (type, bytes.count) {
        case (.ipv4, 4): return .v4(bytes)
        case (.ipv6, 16): return sighting.ip(v6: bytes)
        default: return nil
        }
    }
}
