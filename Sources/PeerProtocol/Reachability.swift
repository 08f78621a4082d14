package import PeerModel

/// Which of the peers that discovery shows do not answer: those are hidden, and asked again from time to time.
///
/// A machine that is switched off says no goodbye, and its advert may stay for 75 minutes (RFC 6762, section 10). Asking is a
/// handshake and nothing more.
package struct Reachability: Sendable {
    /// After each failure, in turn; the last one for all that follow.
    private static let pauses: [Double] = [5, 15, 30, 60]
    /// Ten a second, so that a network that comes back is not flooded.
    private static let spacing = 0.1

    private struct Doubt: Sendable {
        var failures = 0
        /// `nil` while it is being asked.
        var askAt: Instant?
        var isHidden = false
        /// Something happened while it was being asked, perhaps at where it was before.
        var isStirred = false
    }

    private var doubts: [PeerID: Doubt] = [:]
    private var nextAsk = Instant(nanoseconds: 0)

    package init() {}

    package func isHidden(_ id: PeerID) -> Bool { doubts[id]?.isHidden ?? false }

    /// A connection to it broke: it is asked at once, and listed until it does not answer.
    package mutating func broke(_ id: PeerID, at now: Instant) {
        if doubts[id] == nil { doubts[id] = Doubt(askAt: now) }
    }

    /// It was dialled in vain; true when it is to be hidden now.
    package mutating func failed(_ id: PeerID, at now: Instant) -> Bool {
        var doubt = doubts[id] ?? Doubt()
        let wasHidden = doubt.isHidden
        doubt.isHidden = true
        if doubt.isStirred {
            (doubt.askAt, doubt.failures, doubt.isStirred) = (now, 0, false)
        } else {
            doubt.askAt = now + Self.pauses[min(doubt.failures, Self.pauses.count - 1)]
            doubt.failures += 1
        }
        doubts[id] = doubt
        return !wasHidden
    }

    /// It has proved its key; true when it is to be listed again.
    package mutating func answered(_ id: PeerID) -> Bool { doubts.removeValue(forKey: id)?.isHidden ?? false }

    /// Something about it changed: worth asking at once, or again when it is being asked.
    package mutating func stirred(_ id: PeerID, at now: Instant) {
        guard var doubt = doubts[id] else { return }
        if doubt.askAt == nil {
            doubt.isStirred = true
        } else {
            (doubt.askAt, doubt.failures) = (now, 0)
        }
        doubts[id] = doubt
    }

    /// The own network changed.
    package mutating func stirredAll(at now: Instant) {
        for id in doubts.keys { stirred(id, at: now) }
    }

    /// Its advert is gone.
    package mutating func forget(_ id: PeerID) { doubts[id] = nil }

    /// When the next one is to be asked.
    package var deadline: Instant? { doubts.values.compactMap(\.askAt).min().map { max($0, nextAsk) } }

    /// The next one to be asked, if it is time for one.
    package mutating func next(at now: Instant) -> PeerID? {
        guard now >= nextAsk,
            let (id, doubt) = doubts.filter({ $0.value.askAt != nil }).min(by: {
                ($0.value.askAt ?? now) < ($1.value.askAt ?? now)
            }),
            let askAt = doubt.askAt, now >= askAt
        else { return nil }
        doubts[id]?.askAt = nil
        doubts[id]?.isStirred = false
        nextAsk = now + Self.spacing
        return id
    }
}
