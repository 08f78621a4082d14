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

    /// How many recipients are told one by one.
    private static let listedAtMost = 3

    /// The slowest recipient that still takes it decides how far it is.
    func line(names: NameBook) -> ProgressLine {
        let moving = progress.values.compactMap { if case .moving(let progress) = $0 { progress } else { nil } }
        let slowest = moving.min { $0.bytes < $1.bytes }
        let size = slowest?.size ?? offer.summary.size
        let hasAll = !progress.isEmpty && progress.values.allSatisfy { if case .ended = $0 { true } else { false } }
        return ProgressLine(
            label: "#\(offer.number)", name: offer.summary.name, done: hasAll ? size ?? 0 : slowest?.bytes ?? 0,
            total: size, rate: slowest.map { Double($0.rate) }, marks: marks(names))
    }

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
