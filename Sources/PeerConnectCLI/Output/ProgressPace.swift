internal import PeerModel

/// When a plain line about a transfer is due: at the start, then at each quarter, at most every 30 s.
struct ProgressPace {
    private struct Key: Hashable {
        let transfer: TransferID
        let recipient: PeerID?
    }

    private var told: [Key: (quarter: UInt64, at: Int64)] = [:]

    /// The percentage to tell, `nil` when nothing is due; `now` in milliseconds.
    mutating func due(_ progress: FileProgress, now: Int64) -> UInt64? {
        let key = Key(transfer: progress.transfer, recipient: progress.recipient?.id)
        let percent = progress.percent
        let quarter = percent / 25
        guard let last = told[key] else {
            told[key] = (quarter, now)
            return percent
        }
        guard quarter > last.quarter, quarter < 4, now &- last.at >= 30_000 else { return nil }
        told[key] = (quarter, now)
        return percent
    }

    /// Forgets a transfer that is over.
    mutating func end(_ transfer: TransferID) { told = told.filter { $0.key.transfer != transfer } }
}

extension FileProgress {
    /// How much of it is there, in whole percent.
    var percent: UInt64 { size == 0 ? 100 : min(100, UInt64(Double(bytes) / Double(size) * 100)) }
}
