/// A point on a clock that counts through sleep (CLOCK_BOOTTIME); only differences mean anything.
package struct Instant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later by so many seconds.
    package static func + (instant: Instant, seconds: Double) -> Instant {
        // A century is for ever, and fits.
        let nanoseconds = Int64(max(-3e18, min(seconds * 1e9, 3e18)))
        let (sum, isTooLate) = instant.nanoseconds.addingReportingOverflow(nanoseconds)
        return Instant(nanoseconds: isTooLate ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Seconds from the second to the first.
    package static func - (left: Instant, right: Instant) -> Double {
        Double(left.nanoseconds &- right.nanoseconds) / 1e9
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}
