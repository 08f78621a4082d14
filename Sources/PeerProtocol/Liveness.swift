package import PeerModel

/// Whether the other side of a control connection is alive: asked after a silence, given up after a longer one.
package struct Liveness: Sendable {
    package enum Action: Equatable, Sendable {
        case ping, dead
        /// Sent unasked while nothing is read here: no ping is, either.
        case pong
    }

    /// One comes every 4 s; whoever sends hundreds only keeps this side busy.
    private static let pingsAtOnce = 16.0
    private static let pingsASecond = 2.0

    private var heard: Instant
    private var pinged = false
    /// How many pings of the other side are answered before it has to wait.
    private var allowance = Liveness.pingsAtOnce
    private var asked: Instant
    /// Since when nothing is read here, and when the other side was told last that this one is there.
    private var paused: (since: Instant, told: Instant)?

    package init(now: Instant) { (heard, asked) = (now, now) }

    /// Whether a ping is to be answered; false when there are too many of them, which no honest peer sends.
    package mutating func ping(now: Instant) -> Bool {
        allowance = min(max(Self.pingsAtOnce, allowance), allowance + (now - asked) * Self.pingsASecond)
        asked = now
        allowance -= 1
        return allowance >= 0
    }

    /// Anything was received.
    package mutating func received(now: Instant) {
        heard = now
        pinged = false
    }

    /// From here on nothing is read: the other side's silence does not count.
    package mutating func pause(now: Instant) { paused = paused ?? (now, now) }

    /// Its clock goes on where it stood; the pings of the time between come all at once.
    package mutating func resume(now: Instant) {
        guard let paused else { return }
        self.paused = nil
        heard = heard + (now - paused.since)
        allowance += (now - paused.since) * Self.pingsASecond
        asked = now
    }

    /// When `timerFired` has something to do next.
    package var deadline: Instant {
        if let paused { return paused.told + Limits.pongEvery }
        return heard + (pinged ? Limits.deadAfter : Limits.pingAfter)
    }

    package mutating func timerFired(now: Instant) -> Action? {
        if let paused {
            guard now >= paused.told + Limits.pongEvery else { return nil }
            self.paused?.told = now
            return .pong
        }
        if now >= heard + Limits.deadAfter { return .dead }
        guard !pinged, now >= heard + Limits.pingAfter else { return nil }
        pinged = true
        return .ping
    }
}
