/// Which instances are looked up, and which wait for that: new ones first, so that they are listed soon.
final class LookupQueue {
    /// How many are looked up at a time, with three objects inside Avahi each.
    static let atOnce = 64
    /// How many new ones are asked about at a time, with one object each.
    static let newAtOnce = 128

    /// Peers that answer the first question come in one burst, with all their records: questions in the midst of it would only
    /// lose packets of it.
    private static let gathering = 0.15
    /// Between one batch and the next, so that the calls for all of them do not keep the thread for a second.
    private static let pause = 0.05

    private typealias Key = ObjectIdentifier

    private let loop: PollLoop
    private var gather: PollLoop.Timer?
    private var introduction: PollLoop.Timer?
    private var newcomers: [(ServiceInstance, (ServiceInstance) -> Void)] = []
    private var greeted: Set<Key> = []
    /// What is to be done with those that are no longer new, when there are no others.
    private var known: [(ServiceInstance, (ServiceInstance) -> Void)] = []
    private var active: Set<Key> = []
    private var waiting: [ServiceInstance] = []
    /// In `waiting`, or to be looked up again.
    private var queued: Set<Key> = []
    /// Those whose look was cut short, for when nobody waits.
    private var unfinished: [ServiceInstance] = []

    init(on loop: PollLoop) { self.loop = loop }

    /// Whether somebody waits, so that looks are to be short.
    var isCrowded: Bool { !waiting.isEmpty || !newcomers.isEmpty }

    func hasQueued(_ instance: ServiceInstance) -> Bool { queued.contains(Key(instance)) }

    /// Asks about an instance for the first time; `next` is done with it afterwards, and a whole look follows.
    func addNew(_ instance: ServiceInstance, _ next: @escaping (ServiceInstance) -> Void) {
        newcomers.append((instance, next))
        guard gather == nil, greeted.isEmpty else { return }
        gather = loop.after(Self.gathering) { [weak self] in
            self?.gather = nil
            self?.start()
        }
    }

    /// Looks it up when it is its turn; once more if that is going on.
    func add(_ instance: ServiceInstance) {
        guard queued.insert(Key(instance)).inserted else { return }
        if !active.contains(Key(instance)) { waiting.append(instance) }
        start()
    }

    func finished(_ instance: ServiceInstance, isWhole: Bool) {
        guard active.remove(Key(instance)) != nil else { return }
        if queued.contains(Key(instance)) {
            waiting.append(instance)
        } else if !isWhole {
            unfinished.append(instance)
        }
        start()
    }

    private func start() {
        while gather == nil, greeted.count < Self.newAtOnce, !newcomers.isEmpty {
            let (instance, next) = newcomers.removeFirst()
            greeted.insert(Key(instance))
            instance.lookFirst { [weak self, unowned instance] in
                guard let self, greeted.remove(Key(instance)) != nil else { return }
                known.append((instance, next))
                if !instance.addresses.isEmpty { unfinished.append(instance) }
                start()
            }
        }
        introduce()
        while active.count < Self.atOnce, let instance = nextToLookUp() {
            queued.remove(Key(instance))
            if active.insert(Key(instance)).inserted { instance.lookUp() }
        }
    }

    private func introduce() {
        guard newcomers.isEmpty, greeted.count <= Self.newAtOnce / 8, introduction == nil, !known.isEmpty else {
            return
        }
        let some = known.prefix(Self.atOnce)
        known.removeFirst(some.count)
        introduction = loop.after(Self.pause) { [weak self] in
            self?.introduction = nil
            self?.start()
        }
        for (instance, next) in some { next(instance) }
    }

    private func nextToLookUp() -> ServiceInstance? {
        if !waiting.isEmpty { return waiting.removeFirst() }
        return newcomers.isEmpty && !unfinished.isEmpty ? unfinished.removeFirst() : nil
    }

    func remove(_ instance: ServiceInstance) {
        let key = Key(instance)
        newcomers.removeAll { $0.0 === instance }
        known.removeAll { $0.0 === instance }
        greeted.remove(key)
        active.remove(key)
        if queued.remove(key) != nil { waiting.removeAll { $0 === instance } }
        unfinished.removeAll { $0 === instance }
        start()
    }

    func removeAll() {
        (newcomers, known, waiting, unfinished) = ([], [], [], [])
        (greeted, active, queued) = ([], [], [])
        gather?.cancel()
        introduction?.cancel()
        (gather, introduction) = (nil, nil)
    }
}
