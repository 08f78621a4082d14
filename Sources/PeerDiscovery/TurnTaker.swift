/// Whose TXT record is followed: all of them, and when there are too many for that, they take turns.
final class TurnTaker {
    /// With those of `LookupQueue` below 1,000: avahi-daemon allows one client 1,024 objects.
    static let atOnce = 640
    /// How many change places each second.
    private static let each = 100

    private let loop: PollLoop
    private var following: [ServiceInstance] = []
    private var waiting: [ServiceInstance] = []
    private var timer: PollLoop.Timer?

    init(on loop: PollLoop) { self.loop = loop }

    func add(_ instance: ServiceInstance) {
        if following.count < Self.atOnce {
            following.append(instance)
            instance.watch()
        } else {
            waiting.append(instance)
            if timer == nil { schedule() }
        }
    }

    private func schedule() { timer = loop.after(1) { [weak self] in self?.change() } }

    private func change() {
        timer = nil
        let count = min(Self.each, waiting.count, following.count)
        let leaving = Array(following.prefix(count)), coming = Array(waiting.prefix(count))
        following = following.dropFirst(count) + coming
        waiting = waiting.dropFirst(count) + leaving
        for instance in leaving { instance.unwatch() }
        for instance in coming { instance.watch() }
        if !waiting.isEmpty { schedule() }
    }

    func remove(_ instance: ServiceInstance) {
        waiting.removeAll { $0 === instance }
        guard let index = following.firstIndex(where: { $0 === instance }) else { return }
        following.remove(at: index)
        if !waiting.isEmpty { add(waiting.removeFirst()) }
    }

    func removeAll() {
        timer?.cancel()
        (timer, following, waiting) = (nil, [], [])
    }
}
