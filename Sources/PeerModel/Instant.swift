/// A point on a clock that counts through sleep (CLOCK_BOOTTIME); only differences mean anything.
package struct Instant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later by so many seconds.
    package static func + (instant: Instant, seconds: Double) -> Instant {
        Instant(nanoseconds: instant.nanoseconds &+ Int64(seconds * 1e9))
    }

    /// Seconds from the second to the first.
    package static func - (left: Instant, right: Instant) -> Double {
        Double(left.nanoseconds &- right.nanoseconds) / 1e9
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}
