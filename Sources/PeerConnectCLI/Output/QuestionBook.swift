internal import PeerModel

/// The open invitations, and who takes back one after the other, which would fill the screen; pure.
struct QuestionBook {
    /// What is gone.
    struct Gone {
        /// `nil` for one that is forgotten.
        var from: Peer?
        var isFile = false
        /// What this peer asks next is not told for a while.
        var isLastTold = false
    }

    private struct Question {
        let from: Peer
        let isFile: Bool
        let isTold: Bool
    }

    /// How many are told of one peer within the pause for refusals: people change their mind, too.
    private static let toldAtMost = 3
    /// In milliseconds.
    private static let pause = Int64(Limits.refusalPause * 1000)

    /// By number; the oldest are forgotten, since answered ones stay.
    private var open: [Int: Question] = [:]
    /// When those that were told were taken back.
    private var withdrawals: [PeerID: [Int64]] = [:]

    /// Whether a new one is to be told.
    mutating func note(_ number: Int, _ from: Peer, isFile: Bool, now: Int64) -> Bool {
        let isTold = recent(from.id, now).count < Self.toldAtMost
        open[number] = Question(from: from, isFile: isFile, isTold: isTold)
        if open.count > Limits.listedPeers, let oldest = open.keys.min() { open[oldest] = nil }
        return isTold
    }

    /// One was taken back; `nil` when nobody was told of it.
    mutating func withdraw(_ number: Int, now: Int64) -> Gone? {
        guard let question = open.removeValue(forKey: number) else { return Gone() }
        guard question.isTold else { return nil }
        withdrawals = withdrawals.filter { !recent($0.key, now).isEmpty }
        let times = recent(question.from.id, now) + [now]
        // More peers than are listed cannot all be kept in mind.
        if withdrawals.count < Limits.listedPeers { withdrawals[question.from.id] = times }
        return Gone(from: question.from, isFile: question.isFile, isLastTold: times.count == Self.toldAtMost)
    }

    /// The clock may be set back.
    private func recent(_ peer: PeerID, _ now: Int64) -> [Int64] {
        (withdrawals[peer] ?? []).filter { $0 <= now && now &- $0 < Self.pause }
    }
}
