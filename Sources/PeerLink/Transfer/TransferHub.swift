internal import PeerModel
internal import PeerSystem
internal import PeerWire

/// What a ticket is good for: one data connection, from one peer, for 30 s.
struct Ticket {
    enum Use {
        case send(TransferJob, PieceLedger, from: UInt64)
        case receive(TransferJob, ArrivalQueue, from: UInt64)
    }

    let transfer: TransferID
    let peer: PeerID
    let use: Use
    let deadline: Instant

    /// Nobody came for it, so nothing will ever arrive in its queue.
    func expire(_ error: StreamError) {
        if case .receive(_, let queue, _) = use { queue.fail(error) }
    }
}

/// All transfers of this run and the tickets that are out.
struct TransferHub {
    private(set) var jobs: [TransferID: TransferJob] = [:]
    /// The threads that receive files of these, or have just been told to stop.
    private(set) var attempts: [TransferID: Attempt] = [:]
    private var tickets: [[UInt8]: Ticket] = [:]
    /// Threads that still write or tidy up here.
    var writers = 0

    var deadline: Instant? { tickets.values.map(\.deadline).min() }

    /// Bytes that running transfers will still write here.
    var promised: UInt64 { jobs.values.reduce(0) { $0 &+ $1.promised } }

    /// Bytes of the manifests that are held in memory.
    var manifests: UInt64 { jobs.values.reduce(0) { $0 &+ ($1.isWanted ? $1.manifestLength : 0) } }

    mutating func add(_ job: TransferJob) {
        job.attempt = Attempt()
        jobs[job.transfer] = job
    }

    /// Whether the same transfer is received anew since: what is told of this attempt concerns nobody any more.
    func isSuperseded(_ transfer: TransferID, _ attempt: Attempt) -> Bool {
        jobs[transfer].map { $0.attempt !== attempt } ?? false
    }

    /// A thread is about to receive files; gives the former one of the same, which may not have ended.
    mutating func begin(_ attempt: Attempt, _ transfer: TransferID) -> Attempt? {
        defer { attempts[transfer] = attempt }
        return attempts[transfer]
    }

    /// It has ended.
    mutating func end(_ attempt: Attempt, _ transfer: TransferID) {
        if attempts[transfer] === attempt { attempts[transfer] = nil }
    }

    mutating func remove(_ transfer: TransferID) -> TransferJob? {
        dropTickets(.ended) { $0.transfer == transfer }
        return jobs.removeValue(forKey: transfer)
    }

    /// Hands out a ticket; an earlier one of the same peer for the same transfer is worth nothing any more.
    mutating func issue(_ ticket: [UInt8], _ value: Ticket) {
        dropTickets(.ended) { $0.transfer == value.transfer && $0.peer == value.peer }
        // Who asks chooses its ticket, and may choose one it knows from us; ours are random.
        guard tickets[ticket] == nil else { return value.expire(.ended) }
        tickets[ticket] = value
    }

    mutating func redeem(_ open: Open, by peer: PeerID) -> Ticket? {
        guard let ticket = tickets[open.ticket], ticket.transfer == open.transfer, ticket.peer == peer else {
            return nil
        }
        tickets[open.ticket] = nil
        return ticket
    }

    mutating func forgetTickets(now: Instant) { dropTickets(.stalled) { now >= $0.deadline } }

    mutating func dropTickets(_ error: StreamError, where isOver: (Ticket) -> Bool) {
        for (key, ticket) in tickets where isOver(ticket) {
            tickets[key] = nil
            ticket.expire(error)
        }
    }
}
