/// Whose TXT record is followed: all of them, and when there are too many for that, they take turns.
///
/// Those that have never said anything have a few places of their own: behind thousands of names there may be nobody.
final class TurnTaker {
    /// With those of `LookupQueue` and `Newcomers` below 1,000: avahi-daemon allows one client 1,024 objects.
    static let atOnce = 640
    /// Of those, for the silent ones.
    static let silentAtOnce = 64
    /// How many change places at a time, and how often.
    private static let each = 25
    private static let interval = 0.25
    /// How long a change of one kind may take, in seconds, so that newcomers do not wait for it.
    private static let atMost = 0.025
    /// A slow daemon is left in peace for so many times as long as a change took.
    private static let rest = 10.0

    private let loop: PollLoop
    private var speaking: Circle
    private var silent: Circle
    private var timer: PollLoop.Timer?

    /// Those of one kind: who is followed, and who waits for that.
    private struct Circle {
        let places: Int
        var following: [ServiceInstance] = []
        var waiting: [ServiceInstance] = []

        init(places: Int) { self.places = places }

        mutating func add(_ instance: ServiceInstance) {
            if following.count < places {
                following.append(instance)
                instance.watch()
            } else {
                instance.unwatch()
                waiting.append(instance)
            }
        }

        /// Takes it out; whether it was there.
        mutating func remove(_ instance: ServiceInstance) -> Bool {
            if let index = waiting.firstIndex(where: { $0 === instance }) {
                waiting.remove(at: index)
                return true
            }
            guard let index = following.firstIndex(where: { $0 === instance }) else { return false }
            following.remove(at: index)
            if !waiting.isEmpty { add(waiting.removeFirst()) }
            return true
        }

        /// Lets so many change places, or as many as can until then.
        mutating func change(_ atMost: Int, until limit: ContinuousClock.Instant) {
            for _ in 0..<min(atMost, waiting.count, following.count) where ContinuousClock.now < limit {
                let leaving = following.removeFirst(), coming = waiting.removeFirst()
                following.append(coming)
                waiting.append(leaving)
                leaving.unwatch()
                coming.watch()
            }
        }
    }

    init(on loop: PollLoop) {
        self.loop = loop
        speaking = Circle(places: Self.atOnce - Self.silentAtOnce)
        silent = Circle(places: Self.silentAtOnce)
    }

    func add(_ instance: ServiceInstance) {
        if instance.advert == nil { silent.add(instance) } else { speaking.add(instance) }
        schedule(after: Self.interval)
    }

    /// It has said something for the first time.
    func spoke(_ instance: ServiceInstance) {
        guard silent.remove(instance) else { return }
        speaking.add(instance)
        schedule(after: Self.interval)
    }

    /// One that may go when there are too many: it has been asked, and has not answered.
    var mostExpendable: ServiceInstance? { silent.waiting.first ?? silent.following.first }

    private func schedule(after seconds: Double) {
        guard timer == nil, !speaking.waiting.isEmpty || !silent.waiting.isEmpty else { return }
        timer = loop.after(seconds) { [weak self] in self?.change() }
    }

    private func change() {
        timer = nil
        let clock = ContinuousClock(), start = clock.now
        speaking.change(Self.each, until: start + .seconds(Self.atMost))
        silent.change(Self.each / 4, until: clock.now + .seconds(Self.atMost))
        let seconds = (clock.now - start) / .seconds(1)
        schedule(after: max(Self.interval, seconds * Self.rest))
    }

    func remove(_ instance: ServiceInstance) { _ = speaking.remove(instance) || silent.remove(instance) }

    func removeAll() {
        timer?.cancel()
        timer = nil
        (speaking.following, speaking.waiting, silent.following, silent.waiting) = ([], [], [], [])
    }
}
