/// Which instances are looked up, and which wait for that: new ones first, so that they are listed soon.
///
/// Anyone may announce thousands of names with nothing behind them. What tells a real peer from those is that it answers at
/// once, and that its host is its own. So the newest and the oldest take turns; when many have not answered, a newcomer is
/// asked only if the network has already told where it is, which a real one's announcement does; and the instances of one host
/// share a few places.
final class LookupQueue {
    /// How many are looked up at a time, with three objects inside Avahi each.
    static let atOnce = 64
    /// How many may be when one that was never found anywhere is next: such a look takes seconds.
    private static let doubtfulAtOnce = 32
    /// How many new ones are asked about at a time, with one object each.
    static let newAtOnce = 128
    /// Of those, how many that have told nothing yet; the other places are for newcomers.
    private static let silentAtOnce = 32

    /// Peers that answer the first question come in one burst, with all their records: questions in the midst of it would only
    /// lose packets of it.
    private static let gathering = 0.15
    /// Between one batch and the next, so that the calls for all of them do not keep the thread for a second.
    private static let pause = 0.05
    /// The same for questions to newcomers, and how long a batch of those may take.
    private static let shortPause = 0.02
    private static let batch = 0.05
    /// One that has told nothing is looked at so often, and after so long: its announcement may come in parts, while it makes sure
    /// that nobody has its name (RFC 6762, section 8.1: 750 ms).
    private static let peeks = 2
    private static let betweenPeeks = 1.5
    private static let tick = 0.25

    private typealias Key = ObjectIdentifier

    private let loop: PollLoop
    /// What is to be done with one that is no longer new.
    private let introduced: (ServiceInstance) -> Void
    private var gather: PollLoop.Timer?
    private var breath: PollLoop.Timer?
    private var introduction: PollLoop.Timer?
    private var newcomers: [ServiceInstance] = []
    private var turn = 0
    /// Those that are looked at again, and how often they were, in the order of when that is to be.
    private var later: [(instance: ServiceInstance, peeks: Int, at: ContinuousClock.Instant)] = []
    private var ticker: PollLoop.Timer?
    /// Those whose host is known, for when that has a place free.
    private var hosts = HostQueue()
    /// Those that had told nothing when they were looked at.
    private var silent: [ServiceInstance] = []
    /// Those being asked, and on which host they are, if that is known.
    private var greeted: [Key: String?] = [:]
    private var silentGreeted: Set<Key> = []
    private var pace = Pace()
    /// Those that are no longer new and are to be introduced: who has answered comes first.
    private var answered: [ServiceInstance] = []
    private var unanswered: [ServiceInstance] = []
    private var active: Set<Key> = []
    private var waiting: [ServiceInstance] = []
    /// In `waiting` or `doubtful`, or to be looked up again.
    private var queued: Set<Key> = []
    /// Those that have never been found anywhere.
    private var doubtful: [ServiceInstance] = []
    /// Those whose look was cut short, for when nobody waits.
    private var unfinished: [ServiceInstance] = []

    init(on loop: PollLoop, introduced: @escaping (ServiceInstance) -> Void) {
        self.loop = loop
        self.introduced = introduced
    }

    /// Whether somebody waits, so that looks are to be short.
    var isCrowded: Bool { !waiting.isEmpty || !newcomers.isEmpty }

    func hasQueued(_ instance: ServiceInstance) -> Bool { queued.contains(Key(instance)) }

    // MARK: New ones

    /// Asks about an instance for the first time; it is introduced afterwards, and a whole look follows.
    ///
    /// One that has been asked about before in vain, and was dropped, is not new.
    func addNew(_ instance: ServiceInstance, isNew: Bool) {
        if isNew { newcomers.append(instance) } else { silent.append(instance) }
        guard gather == nil, greeted.isEmpty else { return }
        gather = loop.after(Self.gathering) { [weak self] in
            self?.gather = nil
            self?.start()
        }
    }

    /// One that may go when there are too many: the one that has been silent for longest, else one in the middle, since both ends
    /// are served.
    var mostExpendable: ServiceInstance? {
        silent.first ?? (newcomers.isEmpty ? nil : newcomers[newcomers.count / 2])
    }

    private func start() {
        greet()
        introduce()
        lookUp()
        tickOn()
    }

    private func greet() {
        guard gather == nil, breath == nil else { return }
        let clock = ContinuousClock(), start = clock.now
        var count = 0
        while clock.now - start < .seconds(Self.batch) {
            guard greeted.count < pace.places, greetNext() else { return pace.note(clock.now - start, for: count) }
            count += 1
        }
        pace.note(clock.now - start, for: count)
        breath = loop.after(Self.shortPause) { [weak self] in
            self?.breath = nil
            self?.start()
        }
    }

    /// Begins with one; whether there was one.
    ///
    /// The newest has every other turn. A real peer is asked as soon as it comes, however many have come before it.
    private func greetNext() -> Bool {
        turn += 1
        if turn % 2 == 0 || !pace.isDistrustful, greetNewcomer(isNewest: turn % 2 == 0) { return true }
        switch turn / 2 % 3 {
        case 0: return greetOnHost() || greetLater() || greetNewcomer(isNewest: false) || greetSilent()
        case 1: return greetLater() || greetOnHost() || greetNewcomer(isNewest: false) || greetSilent()
        default: return greetNewcomer(isNewest: false) || greetOnHost() || greetLater() || greetSilent()
        }
    }

    private func greetNewcomer(isNewest: Bool) -> Bool {
        guard !newcomers.isEmpty else { return false }
        let instance = isNewest ? newcomers.removeLast() : newcomers.removeFirst()
        if pace.isDistrustful { peek(at: instance) } else { ask(instance) }
        return true
    }

    private func greetOnHost() -> Bool {
        // The rest of the places is for a glance at newcomers, which takes no time.
        guard hosts.asked < pace.places * 3 / 4, let (instance, host) = hosts.next() else { return false }
        ask(instance, on: host)
        return true
    }

    private func greetLater() -> Bool {
        guard let next = later.first, next.at <= .now else { return false }
        later.removeFirst()
        peek(at: next.instance, before: next.peeks)
        return true
    }

    private func greetSilent() -> Bool {
        guard !silent.isEmpty, silentGreeted.count < min(Self.silentAtOnce, pace.places / 8) else { return false }
        let instance = silent.removeFirst()
        silentGreeted.insert(Key(instance))
        ask(instance)
        return true
    }

    /// Looks whether the network has told already on which host it is.
    private func peek(at instance: ServiceInstance, before peeks: Int = 0) {
        let key = Key(instance)
        greeted.updateValue(nil, forKey: key)
        instance.peek { [weak self, unowned instance] host in
            guard let self, greeted.removeValue(forKey: key) != nil else { return }
            if let host {
                hosts.add(instance, on: host)
            } else if peeks + 1 < Self.peeks {
                later.append((instance, peeks + 1, .now + .seconds(Self.betweenPeeks)))
            } else {
                pace.judge(isSilent: true)
                silent.append(instance)
            }
            start()
        }
    }

    private func tickOn() {
        guard ticker == nil, !later.isEmpty else { return }
        ticker = loop.after(Self.tick) { [weak self] in
            self?.ticker = nil
            self?.start()
        }
    }

    private func ask(_ instance: ServiceInstance, on host: String? = nil) {
        let key = Key(instance)
        greeted.updateValue(host, forKey: key)
        instance.lookFirst(isHurried: host != nil && pace.isDistrustful) { [weak self, unowned instance] in
            guard let self, leave(key) else { return }
            pace.judge(isSilent: instance.addresses.isEmpty)
            if instance.addresses.isEmpty { unanswered.append(instance) } else { answered.append(instance) }
            if !instance.addresses.isEmpty { unfinished.append(instance) }
            start()
        }
    }

    /// Gives up its place; whether it had one.
    private func leave(_ key: Key) -> Bool {
        silentGreeted.remove(key)
        guard let host = greeted.removeValue(forKey: key) else { return false }
        if let host { hosts.leave(host) }
        return true
    }

    private func introduce() {
        guard introduction == nil, !answered.isEmpty || !unanswered.isEmpty,
            pace.isDistrustful || newcomers.isEmpty && greeted.count <= Self.newAtOnce / 2
        else { return }
        let count = pace.isDistrustful ? pace.step : Self.atOnce
        let some = answered.prefix(count) + unanswered.prefix(max(0, count - answered.count))
        unanswered.removeFirst(max(0, some.count - answered.count))
        answered.removeFirst(min(some.count, answered.count))
        introduction = loop.after(Self.pause) { [weak self] in
            self?.introduction = nil
            self?.start()
        }
        for instance in some { introduced(instance) }
    }

    // MARK: Looks

    /// Looks it up when it is its turn; once more if that is going on.
    func add(_ instance: ServiceInstance, isAwaited: Bool = false) {
        let key = Key(instance)
        if isAwaited, queued.contains(key), !active.contains(key) {
            waiting.removeAll { $0 === instance }
            doubtful.removeAll { $0 === instance }
            waiting.insert(instance, at: 0)
        }
        guard queued.insert(key).inserted else { return start() }
        if !active.contains(key) { line(up: instance, first: isAwaited) }
        start()
    }

    private func line(up instance: ServiceInstance, first: Bool = false) {
        if first {
            waiting.insert(instance, at: 0)
        } else if instance.addresses.isEmpty {
            doubtful.append(instance)
        } else {
            waiting.append(instance)
        }
    }

    func finished(_ instance: ServiceInstance, isWhole: Bool) {
        guard active.remove(Key(instance)) != nil else { return }
        if queued.contains(Key(instance)) {
            line(up: instance)
        } else if !isWhole {
            unfinished.append(instance)
        }
        start()
    }

    private func lookUp() {
        while active.count < Self.atOnce, let instance = nextToLookUp() {
            queued.remove(Key(instance))
            if active.insert(Key(instance)).inserted { instance.lookUp() }
        }
    }

    /// Who waits for an answer comes first; of the others few at a time while many do not answer.
    private func nextToLookUp() -> ServiceInstance? {
        if !waiting.isEmpty { return waiting.removeFirst() }
        guard !pace.isDistrustful || active.count < pace.step else { return nil }
        if newcomers.isEmpty, !unfinished.isEmpty { return unfinished.removeFirst() }
        return doubtful.isEmpty || active.count >= Self.doubtfulAtOnce ? nil : doubtful.removeFirst()
    }

    // MARK: The end

    func remove(_ instance: ServiceInstance) {
        let key = Key(instance)
        newcomers.removeAll { $0 === instance }
        later.removeAll { $0.instance === instance }
        silent.removeAll { $0 === instance }
        answered.removeAll { $0 === instance }
        unanswered.removeAll { $0 === instance }
        hosts.remove(instance)
        _ = leave(key)
        active.remove(key)
        if queued.remove(key) != nil {
            waiting.removeAll { $0 === instance }
            doubtful.removeAll { $0 === instance }
        }
        unfinished.removeAll { $0 === instance }
        start()
    }

    func removeAll() {
        (newcomers, later, silent, answered, unanswered) = ([], [], [], [], [])
        (waiting, doubtful, unfinished, greeted, hosts) = ([], [], [], [:], HostQueue())
        (silentGreeted, active, queued) = ([], [], [])
        gather?.cancel()
        breath?.cancel()
        ticker?.cancel()
        introduction?.cancel()
        (gather, breath, ticker, introduction, pace) = (nil, nil, nil, nil, Pace())
    }
}
