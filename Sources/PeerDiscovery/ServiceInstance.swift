internal import PeerModel

/// One instance of the service: what its TXT record says, and where it is, which is looked up when something changed.
final class ServiceInstance {
    /// After the number in the advert has grown: new addresses may be on the network only seconds later.
    private static let followUps = [3.0, 7.0]
    /// After a look that found nothing.
    private static let retries = [2.0, 4, 8, 16, 32, 60]

    /// Who has not answered by then is followed like the others, and listed when it answers.
    private static let firstLimit = 1.0
    /// Time for one question and its answer, which may wait for 120 ms to be sent with others (RFC 6762, section 6).
    private static let hurriedLimit = 0.25
    /// When Avahi does not say that it has told all it knows.
    private static let peekLimit = 2.0

    let name: String
    private let loop: PollLoop
    private let lookups: LookupQueue
    private let changed: (ServiceInstance) -> Void
    private var backend: (any AvahiBackend)?
    var sightings: Set<Sighting> = []
    private(set) var advert: Advert?
    private(set) var addresses: [PeerAddress] = []
    private var firstLook: AvahiObject?
    private var firstTimer: PollLoop.Timer?
    private var watcher: AvahiObject?
    private var watchedPlace = Sighting.anywhere
    private var records = SeenRecords()
    private var watchTimer: PollLoop.Timer?
    private var lookup: AddressLookup?
    private var timers: [PollLoop.Timer] = []
    private var failures = 0
    /// Who wants to know when the next look is over.
    private var waiting: [() -> Void] = []

    init(
        _ name: String, on loop: PollLoop, lookups: LookupQueue, changed: @escaping (ServiceInstance) -> Void
    ) {
        self.name = name
        self.loop = loop
        self.lookups = lookups
        self.changed = changed
    }

    func attach(_ backend: any AvahiBackend) { self.backend = backend }

    private var fullName: String { DNSName.text([Array(name.utf8)]) + "." + Advert.serviceType + ".local" }

    /// Where to look: its interface if it is seen on one alone, since every look costs questions on each.
    private var place: Sighting {
        guard let first = sightings.first, sightings.allSatisfy({ $0.interface == first.interface }) else {
            return .anywhere
        }
        return first.byAnyProtocol
    }

    /// It is seen elsewhere too, or no longer.
    func placesChanged() {
        if watcher != nil, watchedPlace != place {
            unwatch()
            watch()
        }
        lookAgain()
    }

    // MARK: The first look

    /// Looks, without asking, whether the network has told on which host it is, and gives that.
    func peek(_ done: @escaping (String?) -> Void) {
        let end = { [weak self] (host: String?) in
            if let self, endFirstLook() { done(host) }
        }
        firstLook = try? backend?.browse(fullName, .service, at: place) { event in
            switch event {
            case .found(let bytes, _): end(ServiceRecord(bytes)?.host)
            case .known, .settled, .failed: end(nil)
            case .gone: break
            }
        }
        firstTimer = loop.after(firstLook == nil ? 0 : Self.peekLimit) { end(nil) }
    }

    /// Asks for everything at once, so that it is listed soon; `done` when that is over, however it went.
    ///
    /// Where its host is known `isHurried` may be said: then its address came with that and is told at once, or is not there.
    func lookFirst(isHurried: Bool, _ done: @escaping () -> Void) {
        let end = { [weak self] in
            if let self, endFirstLook() { done() }
        }
        firstLook = try? backend?.resolve(name, at: sightings.min { $0.rank < $1.rank } ?? .anywhere) {
            [weak self] service in
            if let self, let service { read(service) }
            end()
        }
        let limit = isHurried ? Self.hurriedLimit : Self.firstLimit
        firstTimer = loop.after(firstLook == nil ? 0 : limit) { end() }
    }

    /// Whether there was one.
    private func endFirstLook() -> Bool {
        guard let timer = firstTimer else { return false }
        timer.cancel()
        firstLook?.free()
        (firstLook, firstTimer) = (nil, nil)
        return true
    }

    private func read(_ service: ResolvedService) {
        let old = advert
        advert = TXTRecord.advert(from: service.txt)
        if let address = service.address, !addresses.contains(address) {
            addresses.append(address)
        } else if old == advert {
            return
        }
        changed(self)
    }

    // MARK: What it says

    /// Follows the TXT record; the first answer starts the first look.
    func watch() {
        guard let backend, watcher == nil else { return }
        watchedPlace = place
        watcher = try? backend.browse(fullName, .text, at: place) { [weak self] in self?.took($0) }
        if watcher == nil { watchLater() }
    }

    private func took(_ event: RecordEvent) {
        switch event {
        case .found(let bytes, let sighting): records.add(bytes, sighting)
        case .gone(let bytes, let sighting): records.remove(bytes, sighting)
        case .failed: return watchLater()
        case .known, .settled: return
        }
        readRecords()
    }

    func unwatch() {
        records = SeenRecords()
        watcher?.free()
        watcher = nil
        watchTimer?.cancel()
    }

    private func watchLater() {
        unwatch()
        watchTimer = loop.after(Self.retries[0]) { [weak self] in self?.watch() }
    }

    /// The record that came last counts, and of the same run the one with the highest number: a cache shows old and new ones in
    /// any order.
    private func readRecords() {
        let all = records.all.map { TXTRecord.split($0).flatMap(TXTRecord.advert) }
        guard let last = all.last else { return }
        let old = advert
        // Of equal ones `max` gives the first.
        advert = all.reversed().compactMap(\.self).filter { $0.run == last?.run }.max { $0.revision < $1.revision }
        if let advert {
            let isMoved = old.map { $0.run != advert.run || $0.revision != advert.revision } ?? false
            if isMoved { followUp() }
            if isMoved || addresses.isEmpty && !isLookingUp { lookups.add(self) }
        }
        if old != advert { changed(self) }
    }

    /// Those of an earlier move are not needed any more.
    private func followUp() {
        for timer in timers { timer.cancel() }
        for seconds in Self.followUps { lookAgain(after: seconds) }
    }

    private func lookAgain(after seconds: Double) {
        timers.removeAll { !$0.isPending }
        timers.append(loop.after(seconds) { [weak self] in self?.lookAgain() })
    }

    // MARK: Where it is

    private var isLookingUp: Bool { lookup != nil }
    /// Whether somebody waits for the next look.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Looks again if it is worth it, and calls back when that is over.
    func lookAgain(_ done: (() -> Void)? = nil) {
        guard advert != nil, backend != nil else {
            done?()
            return
        }
        if let done { waiting.append(done) }
        lookups.add(self, isAwaited: done != nil)
    }

    /// Looks once; called by the queue, which is told when it is over.
    func lookUp() {
        guard let backend else { return }
        let lookup = AddressLookup(
            backend, at: place, on: loop, isHurried: { [lookups] in lookups.isCrowded },
            progress: { [weak self] in self?.found($0) }, done: { [weak self] in self?.finish($0) })
        self.lookup = lookup
        do {
            try lookup.start(fullName)
        } catch {
            loop.after(0) { [weak self, weak lookup] in
                if let self, let lookup, lookup === self.lookup { finish(.all([])) }
            }
        }
    }

    private func found(_ result: AddressLookup.Result) {
        let old = addresses
        switch result {
        case .all(let all): if !all.isEmpty { addresses = all }
        // The old ones stay until a whole look did not find them.
        case .some(let some):
            addresses = Array((some + old.filter { !some.contains($0) }).prefix(AddressLookup.atMost))
        }
        if Set(old) != Set(addresses) { changed(self) }
    }

    private func finish(_ result: AddressLookup.Result) {
        guard lookup != nil else { return }
        lookup = nil
        found(result)
        var isWhole = true
        switch result {
        case .all(let all) where all.isEmpty:
            let time = Self.retries[min(failures, Self.retries.count - 1)]
            failures += 1
            lookAgain(after: time)
        case .all: failures = 0
        case .some:
            failures = 0
            isWhole = false
        }
        lookups.finished(self, isWhole: isWhole)
        // Asked while a look was on: the next one answers.
        if !lookups.hasQueued(self) { tellWaiting() }
    }

    private func tellWaiting() {
        let waiting = self.waiting
        self.waiting = []
        for body in waiting { body() }
    }

    /// Lets go of everything inside Avahi and of what was to happen.
    func forget() {
        unwatch()
        _ = endFirstLook()
        lookup?.cancel()
        lookup = nil
        for timer in timers { timer.cancel() }
        timers = []
        (failures, backend) = (0, nil)
        tellWaiting()
    }
}
