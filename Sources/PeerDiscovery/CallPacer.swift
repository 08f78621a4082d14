/// Decides when many calls of Avahi's are made: for a moment at a time, and then the network is listened to.
///
/// avahi-daemon answers each after a millisecond, and after many when it is busy, and as long the thread hears nothing. With
/// calls alone it would learn of a newcomer only when all others have been asked.
final class CallPacer {
    /// A part of the work, done until then but one step at least; whether there is more that can be done now.
    typealias Work = (ContinuousClock.Instant) -> Bool

    /// At least so long from one moment to the next, in seconds, and so many times as long as the calls took.
    private static let pause = 0.02
    private static let rest = 0.5

    private let loop: PollLoop
    /// What comes first, and how long it may take at a time, in seconds.
    var work: [(seconds: Double, do: Work)] = []
    private var timer: PollLoop.Timer?
    private var earliest = ContinuousClock.now
    private var timeInCalls = Duration.zero

    init(on loop: PollLoop) { self.loop = loop }

    /// There is something to do.
    func wake() {
        guard timer == nil else { return }
        timer = loop.after((earliest - .now) / .seconds(1)) { [weak self] in self?.turn() }
    }

    private func turn() {
        timer = nil
        let clock = ContinuousClock()
        var hasMore = false
        for part in work where part.do(clock.now + .seconds(part.seconds)) { hasMore = true }
        // Those that were made since the last time count too, such as to let go of what has answered.
        let spent = (loop.timeInCalls - timeInCalls) / .seconds(1)
        timeInCalls = loop.timeInCalls
        earliest = clock.now + .seconds(max(Self.pause, spent * Self.rest))
        if hasMore { wake() }
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }
}
