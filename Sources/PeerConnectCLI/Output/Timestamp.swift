/// Points in time as text.
enum Timestamp {
    /// RFC 3339, UTC, with milliseconds: for programs.
    ///
    /// `milliseconds` since 1970, from anyone: what lies outside the years 0 to 9999 is shown as the nearest inside.
    static func rfc3339(_ milliseconds: Int64) -> String {
        let clamped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let days = floorDivide(clamped, by: 86_400_000)
        let rest = clamped - days * 86_400_000
        let (year, month, day) = civil(fromDays: days)
        let date = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
        let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60)
        return date + "T" + padded(hour, 2) + ":" + padded(minute, 2) + ":" + padded(rest / 1000 % 60, 2) + "."
            + padded(rest % 1000, 3) + "Z"
    }

    /// `2026-11-30 16:20` by the clock on the wall: for people.
    static func local(_ milliseconds: Int64, _ offset: (Int64) -> Int64) -> String {
        let (sum, overflow) = milliseconds.addingReportingOverflow(offset(milliseconds))
        return String(rfc3339(overflow ? milliseconds : sum).prefix(16)).replacing("T", with: " ")
    }

    /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years begin in March, so that
    /// the leap day is the last one.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
