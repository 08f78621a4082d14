/// The protocol versions this build speaks; the hello's form never changes.
package enum ProtocolVersion {
    package static let lowest = 1
    package static let highest = 1

    /// The highest version common to both ranges, or `nil`.
    package static func common(min: Int, max: Int) -> Int? {
        let version = Swift.min(max, highest)
        return version >= Swift.max(min, lowest) ? version : nil
    }
}
