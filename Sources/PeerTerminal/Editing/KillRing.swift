/// What was cut, newest last; cuts in a row are one entry.
struct KillRing: Sendable {
    enum Direction { case forward, backward }

    /// Each is at most one input long, so this is small.
    private static let entriesAtMost = 16
    private var entries: [String] = []
    /// How far `rotate` has gone back.
    private var age = 0

    /// What `yank` would insert.
    var current: String? { entries.isEmpty ? nil : entries[entries.count - 1 - age] }

    /// Adds a cut; `continues` when the key before cut too.
    mutating func add(_ text: String, _ direction: Direction, continues: Bool) {
        age = 0
        guard !text.isEmpty else { return }
        if continues, let last = entries.popLast() {
            entries.append(direction == .forward ? last + text : text + last)
        } else {
            entries.append(text)
        }
        if entries.count > Self.entriesAtMost { entries.removeFirst() }
    }

    /// Makes the next older entry the current one; round to the newest behind the oldest.
    mutating func rotate() {
        guard !entries.isEmpty else { return }
        age = (age + 1) % entries.count
    }
}
