package import PeerModel

/// How long the others still wait for one whose reading is behind.
///
/// It is crowded from so much that waits until most of that has gone out. Each crowd may last a while, but what it lasts
/// beyond the time that a slow link needs is remembered, so that nobody can make the others wait again and again.
package struct Crowd: Sendable {
    /// Bytes that wait.
    package static let above = Limits.crowdedAbove, below = Limits.crowdedBelow
    /// Bytes a second that no link in use is slower than: half of 1 Mbit/s.
    static let slowestLink = 64 << 10
    /// How many seconds without a crowd make up for one.
    static let recovery = 10.0

    private var since: Instant?
    private var drained = 0
    /// Seconds of the others that it has used up, when the last crowd went.
    private var used = 0.0
    private var relievedAt: Instant

    package init(at now: Instant) { relievedAt = now }

    package var isCrowded: Bool { since != nil }

    /// So many bytes wait now, and so many of them have gone out since the last time.
    package mutating func note(waiting: Int, sent: Int, at now: Instant) {
        drained += sent
        if waiting > Self.above, since == nil {
            used = max(0, used - (now - relievedAt) / Self.recovery)
            (since, drained) = (now, 0)
        } else if waiting <= Self.below, let start = since {
            used += max(0, now - start - Double(drained) / Double(Self.slowestLink))
            (since, relievedAt) = (nil, now)
        }
    }

    /// When the others have waited enough.
    package var deadline: Instant? { since.map { $0 + max(1, Limits.crowded - used) } }
}
