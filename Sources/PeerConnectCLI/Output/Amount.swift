/// Sizes and counts for people.
enum Amount {
    /// How long ago something was, from milliseconds: `4 minutes ago`.
    static func ago(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds / 1000)
        return switch seconds {
        case ..<60: "less than a minute ago"
        case ..<3600: "\(counted(Int(seconds / 60), "minute")) ago"
        default: "\(counted(Int(seconds / 3600), "hour")) ago"
        }
    }

    /// `512 bytes`, `4.2 MB`: powers of 1,000, as file managers and disks count.
    static func bytes(_ count: UInt64?) -> String {
        guard let count else { return "size unknown" }
        guard count >= 1000 else { return counted(Int(count), "byte") }
        var unit: UInt64 = 1000
        var names = ["kB", "MB", "GB", "TB", "PB", "EB"][...]
        while count / unit >= 1000, names.count > 1 {
            unit *= 1000
            names.removeFirst()
        }
        let tenths = count / (unit / 10)
        let fraction = tenths < 1000 && tenths % 10 != 0 ? ".\(tenths % 10)" : ""
        return "\(tenths / 10)\(fraction) \(names[names.startIndex])"
    }

    /// `1 file`, `3 files`.
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// `a`, `a and b`, `a, b and c`.
    static func list(_ items: [String]) -> String {
        guard let last = items.last, items.count > 1 else { return items.first ?? "" }
        return items.dropLast().joined(separator: ", ") + " and " + last
    }
}
