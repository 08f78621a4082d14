package import PeerModel

/// Whether the other side of a control connection is alive: asked after a silence, given up after a longer one.
package struct Liveness: Sendable {
    package enum Action: Equatable, Sendable {
        case ping, dead
    }

    /// One comes every 4 s; whoever sends hundreds only keeps this side busy.
    private static let pingsAtOnce = 16.0
    private static let pingsASecond = 2.0

    private var heard: Instant
    private var pinged = false
    /// How many pings of the other side are answered before it has to wait.
    private var allowance = Liveness.pingsAtOnce
    private var asked: Instant

    package init(now: Instant) { (heard, asked) = (now, now) }

    /// Whether a ping is to be answered; false when there are too many of them, which no honest peer sends.
    package mutating func ping(now: Instant) -> Bool {
        allowance = min(Self.pingsAtOnce, allowance + (now - asked) * Self.pingsASecond)
        asked = now
        allowance -= 1
        return allowance >= 0
    }

    /// Anything was received.
    package mutating func received(now: Instant) {
        heard = now
        pinged = false
    }

    /// When `timerFired` has something to do next.
    package var deadline: Instant { heard + (pinged ? Limits.deadAfter : Limits.pingAfter) }

    package mutating func timerFired(now: Instant) -> Action? {
        if now >= heard + Limits.deadAfter { return .dead }
        guard !pinged, now >= heard + Limits.pingAfter else { return nil }
        pinged = true
        return .ping
    }
}
