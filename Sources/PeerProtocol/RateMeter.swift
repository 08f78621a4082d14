internal import PeerModel

/// Tells progress at most once a second, and how fast it goes.
struct RateMeter: Sendable {
    /// Someone's clock may run a little ahead of ours.
    private static let interval = 0.9
    /// How much the last second counts: jumps are smoothed, a change shows within three seconds.
    private static let weight = 0.5

    private var last: (at: Instant, bytes: UInt64)?
    private var rate: Double?

    /// Bytes a second when it is time to tell that `bytes` have come, else `nil`; the end is always told.
    mutating func note(_ bytes: UInt64, of size: UInt64, at now: Instant) -> UInt64? {
        guard let last else {
            self.last = (now, bytes)
            return 0
        }
        let seconds = now - last.at
        guard bytes > last.bytes, seconds >= Self.interval || bytes >= size else { return nil }
        self.last = (now, bytes)
        // The end may come at any time behind the last news: too short a time says nothing about the speed.
        if seconds >= Self.interval / 2 || rate == nil {
            let current = Double(bytes - last.bytes) / max(seconds, 0.001)
            rate = rate.map { $0 * (1 - Self.weight) + current * Self.weight } ?? current
        }
        return UInt64(rate ?? 0)
    }
}
