/// Decides when many calls of Avahi's are made: for a moment at a time, and then the network is listened to.
///
/// avahi-daemon answers each after a millisecond, and after many when it is busy; until then the thread hears nothing. With
/// calls alone it would learn of a newcomer only when all others have been asked.
final class CallPacer {
    /// One kind of calls.
    struct Part {
        /// How long it may take at a time, in seconds.
        let seconds: Double
        /// Makes calls until then, one at least if there is one to make; whether there are more to make now.
        let work: (ContinuousClock.Instant) -> Bool
    }

    /// The shortest rest, in seconds.
    private static let pause = 0.02
    /// So many times as long as the calls took, those that others have made meanwhile too, but no longer than this.
    private static let share = 1.0
    private static let longest = 0.25

    private let loop: PollLoop
    private var parts: [Part] = []
    private var timer: PollLoop.Timer?
    private var earliest = ContinuousClock.now
    private var counted = Duration.zero

    init(on loop: PollLoop) { self.loop = loop }

    /// What is to be done, the first part first.
    func does(_ parts: [Part]) { self.parts = parts }

    /// There is something to do.
    func wake() {
        guard timer == nil else { return }
        let rest = (earliest - .now) / .seconds(1)
        // Calls from a time in which there was nothing to do here do not count.
        if rest <= 0 { counted = loop.timeInCalls }
        timer = loop.after(rest) { [weak self] in self?.turn() }
    }

    private func turn() {
        let clock = ContinuousClock()
        var hasMore = false
        for part in parts {
            if part.work(clock.now + .seconds(part.seconds)) { hasMore = true }
        }
        let spent = (loop.timeInCalls - counted) / .seconds(1)
        counted = loop.timeInCalls
        earliest = clock.now + .seconds(min(max(Self.pause, spent * Self.share), Self.longest))
        timer = nil
        if hasMore { wake() }
    }

    /// Does nothing more until it is woken again.
    func stop() {
        timer?.cancel()
        timer = nil
        earliest = .now
    }
}
