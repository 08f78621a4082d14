internal import CSystem
internal import Glibc
package import PeerModel

/// The clock for limits: it goes on while the machine sleeps (CLOCK_BOOTTIME, clock_gettime(2)).
package enum BootClock {
    package static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The clock people read; only displayed.
package enum WallClock {
    /// Milliseconds since 1970.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// By how many milliseconds the clocks on the wall are ahead of UTC at a point in time, as TZ or /etc/localtime say
    /// (tzset(3)); 0 for times that no calendar knows.
    package static func offset(at milliseconds: Int64) -> Int64 {
        var seconds = time_t(milliseconds / 1000), parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff) * 1000
    }
}

/// So many bytes of the kernel's randomness (getrandom(2)).
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
        let got = bytes.withUnsafeMutableBytes { buffer in
            getrandom(buffer.baseAddress.map { $0 + filled }, count - filled, 0)
        }
        if got > 0 { filled += got }  // only a signal interrupts it
    }
    return bytes
}
