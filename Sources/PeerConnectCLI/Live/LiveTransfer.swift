internal import PeerModel
internal import PeerTerminal

/// A transfer of the chat as its progress line shows it.
struct LiveTransfer: Sendable {
    enum Progress: Sendable {
        /// Has not answered yet.
        case asked
        case accepted
        case moving(FileProgress)
        case ended(TransferStatus)
    }

    let offer: FileOffer
    /// It waits for this peer's answer.
    var isOpen: Bool
    /// How far each recipient is; of a foreign offer only this peer.
    var progress: [PeerID: Progress] = [:]
    /// A rate was measured; the first reports have none.
    var hasRate = false

    /// How many recipients are told one by one.
    private static let listedAtMost = 3
    /// Names in more columns are counted instead.
    private static let namesAtMost = 24

    /// The slowest recipient that still takes it decides how far it is.
    func line(names: NameBook) -> ProgressLine {
        let moving = progress.values.compactMap { if case .moving(let progress) = $0 { progress } else { nil } }
        let slowest = moving.min { $0.bytes < $1.bytes }
        let size = slowest?.size ?? offer.summary.size
        let name = SafeText.path(offer.summary.name)
        if let missing = missing(names) {
            // It neither moves nor is it done: there is nothing to measure.
            return ProgressLine(
                label: "#\(offer.number)", name: name, done: size ?? 0, total: nil, note: "waits for \(missing)")
        }
        let hasAll = !progress.isEmpty && progress.values.allSatisfy(Self.isEnd)
        return ProgressLine(
            label: "#\(offer.number)", name: name, done: hasAll ? size ?? 0 : slowest?.bytes ?? 0, total: size,
            rate: hasRate ? slowest.map { Double($0.rate) } : nil, marks: marks(names))
    }

    /// Who has not answered yet, when the others are done.
    private func missing(_ names: NameBook) -> String? {
        let silent = offer.to.filter { peer in
            if case .asked = progress[peer.id] ?? .asked { true } else { false }
        }
        let isOverForOthers = progress.values.allSatisfy { if case .asked = $0 { true } else { Self.isEnd($0) } }
        guard offer.isMine, !silent.isEmpty, silent.count < offer.to.count, isOverForOthers else { return nil }
        let list = Amount.list(silent.map { names.shown($0) })
        return ColumnWidth.columns(of: list) <= Self.namesAtMost ? list : Amount.counted(silent.count, "answer")
    }

    private static func isEnd(_ progress: Progress) -> Bool { if case .ended = progress { true } else { false } }

    private func marks(_ names: NameBook) -> String {
        guard offer.isMine else { return "from \(names.shown(offer.from))" }
        if offer.to.count == 1, let only = offer.to.first {
            switch progress[only.id] {
            case .asked?, nil: return "\(names.shown(only)) is asked"
            default: return "to \(names.shown(only))"
            }
        }
        guard offer.to.count <= Self.listedAtMost else {
            let done = progress.values.count { if case .ended(.verified) = $0 { true } else { false } }
            return "\(done) of \(offer.to.count) have it"
        }
        return offer.to.map { "\(names.shown($0)) \(mark(progress[$0.id]))" }.joined(separator: ", ")
    }

    private func mark(_ progress: Progress?) -> String {
        switch progress {
        case .asked?, nil: return "asked"
        case .accepted?: return "0 %"
        case .moving(let progress)?:
            let part = progress.size == 0 ? 1 : min(1, Double(progress.bytes) / Double(progress.size))
            return "\(min(99, Int(part * 100))) %"
        case .ended(.verified)?: return "done"
        case .ended(let status)?: return status.rawValue
        }
    }
}
