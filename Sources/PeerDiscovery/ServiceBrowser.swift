internal import PeerModel

/// Finds instances of the service and keeps what each says.
///
/// One browser for instances, and for each a question that lists it soon, then a browser of its TXT record, which stays and
/// tells of changes, and looks for all of its addresses.
final class ServiceBrowser {
    /// Until it is looked for those that were left out, and between two such looks.
    private static let pause = 1.0
    private static let longPause = 10.0
    /// How many more than are listed may be here, so that newcomers are asked about and none is left out by chance before.
    ///
    /// With those listed as many as avahi-daemon keeps records of an interface by default (cache-entries-max, 4,096): more names
    /// do not come from it. Each is a name and little else until it has answered.
    private static let reserve = 2096
    /// How many names are remembered of those that were dropped because nobody answered under them.
    private static let vainAtMost = 8192

    private let loop: PollLoop
    private let interfaces: Set<String>
    private let atMost: Int
    private let report: (PeerChange) -> Void
    private let failed: (String) -> Void
    private var table: AdvertTable
    private var backend: (any AvahiBackend)?
    private var browser: AvahiObject?
    /// By name, see `DNSName.folded(_:)`: a record may go in other letters than it came in.
    private var instances: [String: ServiceInstance] = [:]
    /// Whether some were left out because there were too many.
    private var isOverfull = false
    /// Until all are told once more.
    private var again: PollLoop.Timer?
    private var lastBrowsed: ContinuousClock.Instant?
    /// Names, as hashes, under which nobody answered: told again, they are not new.
    private var vain: Set<Int> = []
    let turns: TurnTaker
    let lookups: LookupQueue

    /// `failed` is called when there is nothing left that looks; only `attach` helps then.
    init(
        own: OwnRun, interfaces: [String], atMost: Int = Limits.listedPeers, on loop: PollLoop,
        report: @escaping (PeerChange) -> Void,
        failed: @escaping (String) -> Void
    ) {
        self.interfaces = Set(interfaces)
        self.atMost = atMost
        self.loop = loop
        self.report = report
        self.failed = failed
        table = AdvertTable(own: own, atMost: atMost)
        turns = TurnTaker(on: loop)
        lookups = LookupQueue(on: loop) { [turns] in turns.add($0) }
    }

    /// The user knows these, so nobody made them up: they stay listed when others have to go.
    func know(_ ids: Set<PeerID>) { table.know(ids) }

    /// This peer has proved its key, which says the same.
    func prove(_ id: PeerID) { table.prove(id) }

    /// Looks by way of this back end from now on.
    func attach(_ backend: any AvahiBackend) throws(AvahiError) {
        guard self.backend !== backend else { return }
        detach()
        browser = try browse(backend)
        self.backend = backend
    }

    private func browse(_ backend: any AvahiBackend) throws(AvahiError) -> AvahiObject {
        isOverfull = false
        return try backend.browse(Advert.serviceType + ".local", .pointer, at: .anywhere) { [weak self] event in
            switch event {
            case .found(let bytes, let sighting): self?.saw(bytes, sighting)
            case .gone(let bytes, let sighting): self?.missed(bytes, sighting)
            case .failed: self?.fails()
            case .known, .settled: break
            }
        }
    }

    /// What was left out is told once more by another browser; those listed are only told again.
    private func browseAgain() {
        guard again == nil else { return }
        let since = lastBrowsed.map { (ContinuousClock.now - $0) / .seconds(1) } ?? Self.longPause
        again = loop.after(max(Self.pause, Self.longPause - since)) { [weak self, weak backend] in
            guard let self else { return }
            again = nil
            lastBrowsed = .now
            guard let backend, backend === self.backend else { return }
            do {
                // The old one goes when the new one looks, so that no goodbye falls between them.
                let next = try browse(backend)
                browser?.free()
                browser = next
            } catch {
                failed("looking for peers failed")
            }
        }
    }

    /// Later, since the back end may be closed for it, and this is a callback of its.
    private func fails() {
        loop.after(0) { [weak self, weak backend] in
            guard let self, let backend, backend === self.backend else { return }
            failed("looking for peers failed")
        }
    }

    /// Lets go of the back end; what was found stays listed until it is missed.
    func detach() {
        browser?.free()
        again?.cancel()
        (browser, backend, again) = (nil, nil, nil)
        turns.removeAll()
        lookups.removeAll()
        for instance in instances.values {
            instance.forget()
            instance.sightings = []
        }
    }

    /// Looks up where this peer is, and calls back once every instance of it has been looked at.
    func refresh(_ id: PeerID, _ done: @escaping ([[PeerAddress]]) -> Void) {
        let all = instances.values.filter { $0.advert?.id == id && !$0.sightings.isEmpty }
        guard backend != nil, !all.isEmpty else { return done(table.places(of: id)) }
        var left = all.count
        for instance in all {
            instance.lookAgain { [weak self] in
                left -= 1
                if left == 0 { done(self?.table.places(of: id) ?? []) }
            }
        }
    }

    /// What the back end before had shown and this one has not found again.
    func dropUnseen() {
        for instance in instances.values where instance.sightings.isEmpty { drop(instance) }
    }

    private func saw(_ pointer: [UInt8], _ sighting: Sighting) {
        guard interfaces.isEmpty || interfaces.contains(sighting.interfaceName),
            let name = DNSName.instance(pointer)
        else { return }
        let key = DNSName.folded(name)
        guard let instance = instances[key] else {
            guard instances.count < atMost + Self.reserve || makeRoom() else {
                isOverfull = true
                return browseAgain()
            }
            let instance = ServiceInstance(name, on: loop, lookups: lookups) { [weak self] in self?.changed($0) }
            instances[key] = instance
            instance.sightings.insert(sighting)
            return start(instance)
        }
        let isBack = instance.sightings.isEmpty
        guard instance.sightings.insert(sighting).inserted else { return }
        if isBack { start(instance) } else { instance.placesChanged() }
    }

    /// Drops one that nobody would miss; whether there was one.
    ///
    /// Where all have said something, and have no address for instance, it is any of those that are not listed.
    private func makeRoom() -> Bool {
        let unlisted = instances.values.lazy.filter { [table] in !table.has($0.name) }
        guard let instance = turns.mostExpendable ?? lookups.mostExpendable ?? unlisted.randomElement() else {
            return false
        }
        leaveOut(instance)
        return true
    }

    /// Makes room in the list for one that is not in it, or drops that; whether it may be listed.
    private func admit(_ instance: ServiceInstance) -> Bool {
        guard let advert = instance.advert, !instance.addresses.isEmpty, table.hasNoRoom(for: instance.name, advert)
        else { return true }
        guard let name = table.victim(for: advert, instance.addresses), let victim = instances[DNSName.folded(name)]
        else {
            leaveOut(instance)
            return false
        }
        leaveOut(victim)
        return true
    }

    private func leaveOut(_ instance: ServiceInstance) {
        // Once it has said something it is not looked for in vain when it is told again.
        if instance.advert == nil {
            if vain.count >= Self.vainAtMost { vain = [] }
            vain.insert(DNSName.folded(instance.name).hashValue)
        }
        isOverfull = true
        drop(instance)
    }

    private func missed(_ pointer: [UInt8], _ sighting: Sighting) {
        guard let name = DNSName.instance(pointer), let instance = instances[DNSName.folded(name)],
            instance.sightings.remove(sighting) != nil
        else { return }
        if instance.sightings.isEmpty { drop(instance) } else { instance.placesChanged() }
    }

    private func start(_ instance: ServiceInstance) {
        guard let backend else { return }
        instance.attach(backend)
        lookups.addNew(instance, isNew: !vain.contains(DNSName.folded(instance.name).hashValue))
    }

    private func drop(_ instance: ServiceInstance) {
        instances[DNSName.folded(instance.name)] = nil
        for change in table.remove(instance.name) { report(change) }
        turns.remove(instance)
        lookups.remove(instance)
        instance.forget()
        if isOverfull { browseAgain() }
    }

    private func changed(_ instance: ServiceInstance) {
        guard instances[DNSName.folded(instance.name)] === instance else { return }
        if instance.advert != nil { turns.spoke(instance) }
        guard admit(instance) else { return }
        let changes = instance.advert.map { table.set(instance.name, $0, instance.addresses) }
        for change in changes ?? table.remove(instance.name) { report(change) }
    }
}
