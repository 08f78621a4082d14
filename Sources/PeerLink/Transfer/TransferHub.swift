internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// One transfer as far as its bytes are concerned: where they are kept, what is known of them, which threads move them.
final class TransferJob {
    let transfer: TransferID
    /// Where pieces are read from to serve them; `nil` until something is kept.
    var store: (any PieceReading)?
    var ledger: PieceLedger
    /// For an own transfer: hashed from the first request on.
    let source: TransferSource?
    var isHashing = false
    var landing: Landing?
    /// Whether this peer still wants the files for itself.
    let wanted = Monitor(true)
    var pumps: [Pump] = []

    init(_ transfer: TransferID, length: UInt64, source: TransferSource? = nil) {
        self.transfer = transfer
        self.source = source
        store = source
        ledger = PieceLedger(length: length)
    }

    /// Bytes that will still be written for it.
    var promised: UInt64 {
        let landing = landing.map { $0.length - min($0.received, $0.length) } ?? 0
        guard store is Spool else { return landing }
        let spooled = ledger.state.read { $0.count } &* UInt64(Limits.pieceSize)
        return landing &+ ledger.length - min(spooled, ledger.length)
    }

    func cancelPumps(_ reason: TransferReason) {
        ledger.fail(reason)
        for pump in pumps { pump.cancel() }
        pumps = []
    }
}

/// What a ticket is good for: one data connection, from one peer, for 30 s.
struct Ticket {
    enum Use {
        case send(TransferJob, from: UInt64)
        case receive(TransferJob, ArrivalQueue)
    }

    let transfer: TransferID
    let peer: PeerID
    let use: Use
    let deadline: Instant
}

/// All transfers of this run and the tickets that are out.
struct TransferHub {
    var jobs: [TransferID: TransferJob] = [:]
    var tickets: [[UInt8]: Ticket] = [:]

    /// Bytes that running transfers will still write here.
    var promised: UInt64 {
        jobs.values.reduce(0) { $0 &+ $1.promised }
    }

    var deadline: Instant? { tickets.values.map(\.deadline).min() }

    mutating func redeem(_ open: Open, by peer: PeerID) -> Ticket? {
        guard let ticket = tickets[open.ticket], ticket.transfer == open.transfer, ticket.peer == peer else {
            return nil
        }
        tickets[open.ticket] = nil
        return ticket
    }

    mutating func forgetTickets(now: Instant) {
        for (key, ticket) in tickets where now >= ticket.deadline {
            tickets[key] = nil
            // Nobody came for it, so nothing will ever arrive in its queue.
            if case .receive(_, let queue) = ticket.use { queue.put(.broken(.stalled)) }
        }
    }

    mutating func cancelAll() {
        for job in jobs.values {
            job.wanted.update { $0 = false }
            job.cancelPumps(.left)
            job.landing?.abandon()
        }
        for ticket in tickets.values {
            if case .receive(_, let queue) = ticket.use { queue.put(.broken(.ended)) }
        }
        jobs = [:]
        tickets = [:]
    }
}
