package import PeerModel

/// Keeps frames apart: at once when there was a pause, else as soon as the last one is old enough; time is an argument.
package struct FramePacer: Sendable {
    package enum Decision: Equatable, Sendable {
        case drawNow
        /// Call `isDue` then; until that time further wishes are covered by it.
        case wait(until: Instant)
        /// A frame is waiting already.
        case isWaiting
    }

    /// Twenty frames a second are smooth for text, and slow enough for a line of 9,600 baud to follow.
    package static let interval = 0.05
    private var last: Instant?
    private var waitingUntil: Instant?

    package init() {}

    /// Something changed and wants to be seen.
    package mutating func request(at now: Instant) -> Decision {
        guard waitingUntil == nil else { return .isWaiting }
        guard let last, now - last < Self.interval, now >= last else {
            self.last = now
            return .drawNow
        }
        let due = last + Self.interval
        waitingUntil = due
        return .wait(until: due)
    }

    /// Whether the frame that waits is to be drawn now; says so once.
    package mutating func isDue(at now: Instant) -> Bool {
        guard let due = waitingUntil, now >= due else { return false }
        waitingUntil = nil
        last = now
        return true
    }
}
