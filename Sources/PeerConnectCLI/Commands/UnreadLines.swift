internal import PeerModel

/// What was told of a chat while another one was current; the oldest goes when it is too much.
struct UnreadLines {
    /// Nobody reads more of it at once, and the history has the rest.
    private static let atMost = 1000
    private static let bytesAtMost = 4 << 20

    private(set) var lines: [(event: NodeEvent, told: PlainNarrator.Lines)] = []
    private(set) var dropped = 0
    /// It was told that this peer is named in them.
    var hasToldMention = false
    private var bytes = 0

    mutating func add(_ event: NodeEvent, _ told: PlainNarrator.Lines) {
        lines.append((event, told))
        bytes += Self.size(of: told)
        let half = lines.count / 2
        guard lines.count > Self.atMost || bytes > Self.bytesAtMost, half > 0 else { return }
        // Half at a time, so that the rest is not moved for every line.
        bytes -= lines.prefix(half).reduce(0) { $0 + Self.size(of: $1.told) }
        dropped += half
        lines.removeFirst(half)
    }

    private static func size(of told: PlainNarrator.Lines) -> Int {
        (told.results + told.notes).reduce(0) { $0 + $1.utf8.count }
    }
}
