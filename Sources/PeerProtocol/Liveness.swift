package import PeerModel

/// Whether the other side of a control connection is alive: asked after a silence, given up after a longer one.
package struct Liveness: Sendable {
    package enum Action: Equatable, Sendable {
        case ping, dead
    }

    private var heard: Instant
    private var pinged = false

    package init(now: Instant) { heard = now }

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
