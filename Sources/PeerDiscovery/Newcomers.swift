/// Instances that are asked about for the first time, new ones first, so that they are listed soon.
///
/// Anyone may announce thousands of names with nothing behind them. What tells a real peer from those is that it answers at
/// once, and that its host is its own. So the newest and the oldest take turns; when many have not answered, a newcomer is
/// asked only if the network has already told where it is, which a real one's announcement does; and the instances of one host
/// share a few places.
final class Newcomers {
    /// How many are asked about at a time, with one object inside Avahi each.
    static let atOnce = 128
    /// Of those, how many that have told nothing yet; the other places are for newcomers.
    private static let silentAtOnce = 32

    /// Peers that answer the first question come in one burst, with all their records: questions in the midst of it would only
    /// lose packets of it.
    private static let gathering = 0.15
    /// One that has told nothing is looked at so often, and after so long: its announcement may come in parts, while it makes sure
    /// that nobody has its name (RFC 6762, section 8.1: 750 ms).
    private static let peeks = 2
    private static let betweenPeeks = 1.5
    private static let tick = 0.25

    private typealias Key = ObjectIdentifier

    private let loop: PollLoop
    /// Called when there is something to do.
    private let wake: () -> Void
    /// What is to be done with one that has answered, which has more to tell than it was asked.
    var found: (ServiceInstance) -> Void = { _ in }
    /// What is to be done with one that is no longer new.
    private let introduced: (ServiceInstance) -> Void
    private var gather: PollLoop.Timer?
    private var queue: [ServiceInstance] = []
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
    private(set) var pace = Pace()
    /// Those that are no longer new and are to be introduced: who has answered comes first.
    private var answered: [ServiceInstance] = []
    private var unanswered: [ServiceInstance] = []

    init(on loop: PollLoop, wake: @escaping () -> Void, introduced: @escaping (ServiceInstance) -> Void) {
        self.loop = loop
        self.wake = wake
        self.introduced = introduced
    }

    /// Whether there are some that nobody has looked at yet.
    var hasUnasked: Bool { !queue.isEmpty }

    /// Asks about an instance for the first time; it is introduced afterwards.
    ///
    /// One that has been asked about before in vain, and was dropped, is not new.
    func add(_ instance: ServiceInstance, isNew: Bool) {
        if isNew { queue.append(instance) } else { silent.append(instance) }
        guard gather == nil else { return }
        guard greeted.isEmpty else { return wake() }
        gather = loop.after(Self.gathering) { [weak self] in
            self?.gather = nil
            self?.wake()
        }
    }

    /// One that may go when there are too many: the one that has been silent for longest, else one in the middle, since both ends
    /// are served.
    var mostExpendable: ServiceInstance? { silent.first ?? (queue.isEmpty ? nil : queue[queue.count / 2]) }

    // MARK: Who is asked

    /// Begins to ask, for one part of the work at a time; see `CallPacer`.
    func greet(until limit: ContinuousClock.Instant) -> Bool {
        guard gather == nil else { return false }
        let clock = ContinuousClock(), start = clock.now
        var count = 0
        defer { pace.note(clock.now - start, for: count) }
        repeat {
            guard greeted.count < pace.places, greetNext() else {
                tickOn()
                return false
            }
            count += 1
        } while clock.now < limit
        return true
    }

    /// Begins with one; whether there was one.
    ///
    /// The newest has every other turn. A real peer is asked as soon as it comes, however many have come before it.
    private func greetNext() -> Bool {
        turn += 1
        if turn % 2 == 0 || !pace.isDistrustful, greetNew(isNewest: turn % 2 == 0) { return true }
        switch turn / 2 % 3 {
        case 0: return greetOnHost() || greetLater() || greetNew(isNewest: false) || greetSilent()
        case 1: return greetLater() || greetOnHost() || greetNew(isNewest: false) || greetSilent()
        default: return greetNew(isNewest: false) || greetOnHost() || greetLater() || greetSilent()
        }
    }

    private func greetNew(isNewest: Bool) -> Bool {
        guard !queue.isEmpty else { return false }
        let instance = isNewest ? queue.removeLast() : queue.removeFirst()
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

    private func tickOn() {
        guard ticker == nil, !later.isEmpty else { return }
        ticker = loop.after(Self.tick) { [weak self] in
            self?.ticker = nil
            self?.wake()
        }
    }

    // MARK: Asking

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
            wake()
        }
    }

    private func ask(_ instance: ServiceInstance, on host: String? = nil) {
        let key = Key(instance)
        greeted.updateValue(host, forKey: key)
        instance.lookFirst(isHurried: host != nil && pace.isDistrustful) { [weak self, unowned instance] in
            guard let self, leave(key) else { return }
            let isSilent = instance.addresses.isEmpty
            pace.judge(isSilent: isSilent)
            if isSilent {
                unanswered.append(instance)
            } else {
                answered.append(instance)
                found(instance)
            }
            wake()
        }
    }

    /// Gives up its place; whether it had one.
    private func leave(_ key: Key) -> Bool {
        silentGreeted.remove(key)
        guard let host = greeted.removeValue(forKey: key) else { return false }
        if let host { hosts.leave(host) }
        return true
    }

    // MARK: Who is no longer new

    /// Introduces those that have been asked, for one part of the work at a time: few while there are others to ask, or while
    /// many do not answer.
    func introduce(until limit: ContinuousClock.Instant) -> Bool {
        let isCalm = !pace.isDistrustful && queue.isEmpty && greeted.count <= Self.atOnce / 2
        var left = isCalm ? Int.max : pace.step
        while left > 0, !answered.isEmpty || !unanswered.isEmpty {
            introduced(answered.isEmpty ? unanswered.removeFirst() : answered.removeFirst())
            left -= 1
            if .now >= limit { break }
        }
        return !answered.isEmpty || !unanswered.isEmpty
    }

    // MARK: The end

    func remove(_ instance: ServiceInstance) {
        queue.removeAll { $0 === instance }
        later.removeAll { $0.instance === instance }
        silent.removeAll { $0 === instance }
        answered.removeAll { $0 === instance }
        unanswered.removeAll { $0 === instance }
        hosts.remove(instance)
        _ = leave(Key(instance))
    }

    func removeAll() {
        (queue, later, silent, answered, unanswered) = ([], [], [], [], [])
        (greeted, silentGreeted, hosts, pace) = ([:], [], HostQueue(), Pace())
        gather?.cancel()
        ticker?.cancel()
        (gather, ticker) = (nil, nil)
    }
}
