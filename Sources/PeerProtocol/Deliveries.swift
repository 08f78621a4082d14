internal import PeerModel

/// Lines whose author waits to hear that all others have them.
struct Deliveries: Sendable {
    struct Delivery: Sendable {
        let n: UInt64
        let author: PeerID
        /// For the host's own lines.
        let own: ChatView.Pending?
        var missing: Set<PeerID>
        /// Those whose connection was lost before they had it.
        var lost: Set<PeerID> = []
        let deadline: Instant
    }

    /// A member that never acknowledges may not make this grow without end; what is older is told as it is.
    private static let atMost = 4096

    /// By n, and so by deadline.
    private var waiting: [Delivery] = []
    /// How many at the start were told late already.
    private var toldLate = 0

    /// When the next one is late.
    var deadline: Instant? { toldLate < waiting.count ? waiting[toldLate].deadline : nil }

    /// Own lines of which nothing was told yet.
    var untoldOwn: Int { waiting[toldLate...].count { $0.own != nil } }

    /// A line was shown to these; gives it back at once when there are none, and what there is no room for any more.
    mutating func add(_ delivery: Delivery) -> [Delivery] {
        guard !delivery.missing.isEmpty else { return [delivery] }
        var untold: [Delivery] = []
        if waiting.count >= Self.atMost {
            untold = Array(waiting[..<(Self.atMost / 4)].dropFirst(toldLate))
            waiting.removeFirst(Self.atMost / 4)
            toldLate = max(0, toldLate - Self.atMost / 4)
        }
        waiting.append(delivery)
        return untold
    }

    /// A member has everything after one event up to another; gives what all have now.
    mutating func seen(after first: UInt64, upTo last: UInt64, by id: PeerID) -> [Delivery] {
        let start = index(after: first), end = index(after: last)
        for index in start..<end { waiting[index].missing.remove(id) }
        return takeDone(in: start..<end)
    }

    /// A member is gone: nobody waits for it any more; if it was lost, the authors are told.
    mutating func remove(_ id: PeerID, isLost: Bool) -> [Delivery] {
        for index in waiting.indices where waiting[index].missing.remove(id) != nil {
            if isLost { waiting[index].lost.insert(id) }
        }
        return takeDone(in: waiting.indices)
    }

    /// What is late for the first time.
    mutating func late(at now: Instant) -> [Delivery] {
        let start = toldLate
        while toldLate < waiting.count, now >= waiting[toldLate].deadline { toldLate += 1 }
        return Array(waiting[start..<toldLate])
    }

    private mutating func takeDone(in range: Range<Int>) -> [Delivery] {
        let done = waiting[range].filter(\.missing.isEmpty)
        guard !done.isEmpty else { return [] }
        toldLate -= waiting[..<min(toldLate, range.upperBound)].suffix(from: min(toldLate, range.lowerBound))
            .count(where: \.missing.isEmpty)
        waiting.replaceSubrange(range, with: waiting[range].filter { !$0.missing.isEmpty })
        return done
    }

    /// The first one behind event n.
    private func index(after n: UInt64) -> Int {
        var low = 0, high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].n <= n { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
