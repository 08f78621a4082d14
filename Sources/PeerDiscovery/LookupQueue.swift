/// Which instances are looked up, and which wait for that.
final class LookupQueue {
    /// How many are looked up at a time, with three objects inside Avahi each.
    static let atOnce = 64

    private var active: [ObjectIdentifier: ServiceInstance] = [:]
    private var waiting: [ServiceInstance] = []
    /// In `waiting`, or to be looked up again.
    private var queued: Set<ObjectIdentifier> = []
    /// Those whose look was cut short, for when nobody waits.
    private var unfinished: [ServiceInstance] = []

    /// Whether somebody waits, so that looks are to be short.
    var isCrowded: Bool { !waiting.isEmpty }

    func hasQueued(_ instance: ServiceInstance) -> Bool { queued.contains(ObjectIdentifier(instance)) }

    /// Looks it up when it is its turn; once more if that is going on.
    func add(_ instance: ServiceInstance) {
        guard queued.insert(ObjectIdentifier(instance)).inserted else { return }
        if active[ObjectIdentifier(instance)] == nil { waiting.append(instance) }
        start()
    }

    func finished(_ instance: ServiceInstance, isWhole: Bool) {
        guard active.removeValue(forKey: ObjectIdentifier(instance)) != nil else { return }
        if queued.contains(ObjectIdentifier(instance)) {
            waiting.append(instance)
        } else if !isWhole {
            unfinished.append(instance)
        }
        start()
    }

    private func start() {
        while active.count < Self.atOnce, !waiting.isEmpty || !unfinished.isEmpty {
            let instance = waiting.isEmpty ? unfinished.removeFirst() : waiting.removeFirst()
            let key = ObjectIdentifier(instance)
            queued.remove(key)
            guard active.updateValue(instance, forKey: key) == nil else { continue }
            instance.lookUp()
        }
    }

    func remove(_ instance: ServiceInstance) {
        let key = ObjectIdentifier(instance)
        active[key] = nil
        if queued.remove(key) != nil { waiting.removeAll { $0 === instance } }
        unfinished.removeAll { $0 === instance }
        start()
    }

    func removeAll() {
        active = [:]
        (waiting, queued, unfinished) = ([], [], [])
    }
}
