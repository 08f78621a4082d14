/// Which instances are looked up, and which wait for that.
final class LookupQueue {
    /// How many are looked up at a time, with three objects inside Avahi each.
    static let atOnce = 64
    /// How many may be when one that was never found anywhere is next: such a look takes seconds.
    private static let doubtfulAtOnce = 32
    /// How long new ones may be asked about at a time, in seconds, and how long the others are looked up.
    private static let batch = 0.05
    private static let shortBatch = 0.015

    private typealias Key = ObjectIdentifier

    private var active: Set<Key> = []
    private var waiting: [ServiceInstance] = []
    /// In `waiting` or `doubtful`, or to be looked up again.
    private var queued: Set<Key> = []
    /// Those that have never been found anywhere.
    private var doubtful: [ServiceInstance] = []
    /// Those whose look was cut short, for when nobody waits.
    private var unfinished: [ServiceInstance] = []
    private var isUnfinished: Set<Key> = []

    private let newcomers: Newcomers
    private let pacer: CallPacer

    /// `introduced` is called for each that is no longer new.
    init(on loop: PollLoop, introduced: @escaping (ServiceInstance) -> Void) {
        pacer = CallPacer(on: loop)
        newcomers = Newcomers(on: loop, wake: { [weak pacer] in pacer?.wake() }, introduced: introduced)
        newcomers.found = { [weak self] in self?.finishLater($0) }
        pacer.does([
            CallPacer.Part(seconds: Self.batch, work: newcomers.greet),
            CallPacer.Part(seconds: Self.shortBatch, work: newcomers.introduce),
            CallPacer.Part(seconds: Self.shortBatch) { [weak self] in self?.lookUp(until: $0) ?? false },
        ])
    }

    /// Whether somebody waits, so that looks are to be short.
    var isCrowded: Bool { !waiting.isEmpty || newcomers.hasUnasked }

    func hasQueued(_ instance: ServiceInstance) -> Bool { queued.contains(Key(instance)) }

    /// Asks about an instance for the first time, as `Newcomers` do; a whole look follows.
    func addNew(_ instance: ServiceInstance, isNew: Bool) { newcomers.add(instance, isNew: isNew) }

    /// A new one that may go when there are too many.
    var mostExpendable: ServiceInstance? { newcomers.mostExpendable }

    /// Looks it up when it is its turn; once more if that is going on.
    func add(_ instance: ServiceInstance, isAwaited: Bool = false) {
        let key = Key(instance)
        defer { pacer.wake() }
        if isAwaited, queued.contains(key), !active.contains(key) {
            waiting.removeAll { $0 === instance }
            doubtful.removeAll { $0 === instance }
            waiting.insert(instance, at: 0)
        }
        guard queued.insert(key).inserted else { return }
        if !active.contains(key) { line(up: instance, first: isAwaited) }
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
            line(up: instance, first: instance.isAwaited)
        } else if !isWhole {
            finishLater(instance)
        }
        pacer.wake()
    }

    private func finishLater(_ instance: ServiceInstance) {
        if isUnfinished.insert(Key(instance)).inserted { unfinished.append(instance) }
    }

    private func lookUp(until limit: ContinuousClock.Instant) -> Bool {
        repeat {
            guard active.count < Self.atOnce, let instance = nextToLookUp() else { return false }
            let key = Key(instance)
            // One that was looked at in the meantime, and is again after that.
            guard active.insert(key).inserted else { continue }
            queued.remove(key)
            instance.lookUp()
        } while .now < limit
        return true
    }

    /// Who waits for an answer comes first; of the others few at a time while many do not answer.
    private func nextToLookUp() -> ServiceInstance? {
        if !waiting.isEmpty { return waiting.removeFirst() }
        guard !newcomers.pace.isDistrustful || active.count < newcomers.pace.step else { return nil }
        if !newcomers.hasUnasked, !unfinished.isEmpty {
            let instance = unfinished.removeFirst()
            isUnfinished.remove(Key(instance))
            return instance
        }
        return doubtful.isEmpty || active.count >= Self.doubtfulAtOnce ? nil : doubtful.removeFirst()
    }

    // MARK: The end

    func remove(_ instance: ServiceInstance) {
        let key = Key(instance)
        newcomers.remove(instance)
        active.remove(key)
        if queued.remove(key) != nil {
            waiting.removeAll { $0 === instance }
            doubtful.removeAll { $0 === instance }
        }
        if isUnfinished.remove(key) != nil { unfinished.removeAll { $0 === instance } }
        pacer.wake()
    }

    func removeAll() {
        (waiting, doubtful, unfinished) = ([], [], [])
        (active, queued, isUnfinished) = ([], [], [])
        newcomers.removeAll()
        pacer.stop()
    }
}
