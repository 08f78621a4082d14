internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// The file side of the engine: which threads run, and what they report.
extension NodeEngine {
    func carryOut(_ order: TransferOrder) {
        switch order {
        case .receive(let transfer, let body, _, let source): receive(transfer, body, source)
        case .relay(let transfer, let body, _, let source): relay(transfer, body, source)
        case .serve(let get, let connection): serve(get, to: connection)
        case .sourceLost(let transfer, let reason): sourceLost(transfer, reason)
        // In a later chat the same transfer may be under way again.
        case .abandon(let transfer, let isContinuable):
            if !machine.isAwaited(transfer, onlyHere: true) { abandon(transfer, isContinuable: isContinuable) }
        case .finished(let transfer): if !machine.isAwaited(transfer, onlyHere: false) { finished(transfer) }
        }
    }

    // MARK: Sending

    /// Takes an own transfer, before it is offered.
    func prepare(_ transfer: TransferID, _ source: TransferSource) {
        hub.add(TransferJob(transfer, source: source))
    }

    private func serve(_ get: Get, to id: ConnectionID) {
        guard let connection = connections[id], let remote = connection.remote else { return }
        let transfer = get.transfer
        guard let job = hub.jobs[transfer], get.piece <= job.ledger.pieces else {
            return handle(connection.send(.failed(transfer: transfer, reason: .lost)), of: connection)
        }
        let ledger = ledger(of: job, for: get)
        if connection.isDialled {
            let open = Open(transfer: transfer, ticket: get.ticket)
            sending(job, ledger, to: remote.peer.id, from: get.piece, .dial(route(connection, remote, open)))
        } else {
            job.stopSending(to: remote.peer.id)
            let deadline = BootClock.now() + Limits.ticketLifetime
            let use = Ticket.Use.send(job, ledger, from: get.piece)
            hub.issue(
                get.ticket, Ticket(transfer: transfer, peer: remote.peer.id, use: use, deadline: deadline))
            rearm()
        }
    }

    /// Own files are hashed from the first request on, not before, and from where that one continues.
    private func ledger(of job: TransferJob, for get: Get) -> PieceLedger {
        guard let source = job.source else { return job.ledger }
        let transfer = job.transfer, key = identity.key
        let start = OwnLedgers.start(get, of: job.ledger.pieces, signedBy: key.publicKey)
        let (ledger, begin) = job.own.ledger(for: get.piece, behind: start)
        guard let begin else { return ledger }
        self.start("hash") { [weak self] in
            PieceHasher.run(source, ledger, from: begin, key)
            guard let reason = ledger.state.read({ $0.failure }) else { return }
            self?.loop.post { self?.assumeIsolated { $0.sourceFailed(transfer, reason) } }
        } onFailure: {
            ledger.fail(.lost)
        }
        return ledger
    }

    private func sending(
        _ job: TransferJob, _ ledger: PieceLedger, to peer: PeerID, from piece: UInt64, _ origin: DataOrigin
    ) {
        let transfer = job.transfer
        let own = job.source.map { OwnFiles(source: $0, key: identity.key) }
        let sender = PieceSender(store: job.store, ledger: ledger, own: own) { [weak self] reason in
            self?.loop.post { self?.assumeIsolated { $0.sourceFailed(transfer, reason) } }
        }
        job.send(to: peer) { [weak self] pump in
            self?.assumeIsolated { $0.start(sender, pump, transfer, to: peer, from: piece, origin) }
        }
    }

    private func start(
        _ sender: PieceSender, _ pump: Pump, _ transfer: TransferID, to peer: PeerID, from piece: UInt64,
        _ origin: DataOrigin
    ) {
        // How it went for the neighbour is the neighbour's to say, on its control connection.
        start("send") { [weak self] in
            try? pump.run(origin) { (stream) throws(StreamError) in try sender.run(&stream, from: piece) }
            self?.loop.post { self?.assumeIsolated { $0.hub.jobs[transfer]?.sent(to: peer, by: pump) } }
        } onFailure: {
            // The neighbour waits for this connection no longer than its ticket lives.
            hub.jobs[transfer]?.sent(to: peer, by: pump)
        }
    }

    /// Whoever still waits for the bytes hears why they do not come.
    private func sourceFailed(_ transfer: TransferID, _ reason: TransferReason) {
        guard hub.jobs[transfer] != nil else { return }
        report(.sourceFailed(transfer, reason))
    }

    func route(_ connection: ControlConnection, _ remote: RemotePeer, _ open: Open) -> DataRoute {
        DataRoute(address: connection.address, expected: remote.peer.id, open: open, hello: hello, context: context)
    }

    /// A data connection showed its ticket: it goes to the thread that waits for it.
    func redeem(_ open: Open, from connection: ControlConnection) {
        guard let peer = connection.remote?.peer.id, let ticket = hub.redeem(open, by: peer) else {
            return handle(connection.end(.closedHere), of: connection)
        }
        unregister(connection.id)
        connections[connection.id] = nil
        guard let stream = connection.takeStream() else { return ticket.expire(.ended) }
        let origin = DataOrigin.accepted(StreamBox(stream))
        switch ticket.use {
        case .send(let job, let ledger, let piece): sending(job, ledger, to: peer, from: piece, origin)
        case .receive(let job, let queue, let piece): receiving(job, queue, from: piece, origin)
        }
    }

    // MARK: Ends

    private func sourceLost(_ transfer: TransferID, _ reason: TransferReason) {
        hub.dropTickets(.ended) { $0.transfer == transfer }
        guard let job = hub.jobs[transfer] else { return }
        if !reason.isContinuable, job.isWanted { give(up: job, keeping: false, isContinuable: false) }
        job.end(reason)
    }

    /// This peer gives its own files up; others may still be served from them until the transfer is finished.
    private func abandon(_ transfer: TransferID, isContinuable: Bool) {
        guard let job = hub.jobs[transfer], job.isWanted else { return }
        job.isWanted = false
        let isServing = !job.isSpooled && machine.isRelaying(transfer)
        give(up: job, keeping: isServing, isContinuable: isContinuable)
        if !job.isSpooled, !isServing { job.end(.left) }
    }

    private func finished(_ transfer: TransferID) {
        guard let job = hub.remove(transfer) else { return }
        job.end(.left)
        give(up: job, keeping: false, isContinuable: true)
    }

    /// The same transfer is offered anew, before its former chat has noticed that it was interrupted.
    func supersede(_ job: TransferJob) {
        _ = hub.remove(job.transfer)
        job.end(.lost)
        give(up: job, keeping: false, isContinuable: true)
    }

    /// The program stops.
    func endTransfers() {
        for transfer in hub.jobs.keys { finished(transfer) }
    }

    /// Removing takes as long as the disk does, so it is not done here.
    private func give(up job: TransferJob, keeping: Bool, isContinuable: Bool) {
        if !isContinuable { job.attempt.forbidContinuing() }
        guard let landing = job.landing,
            landing.giveUp(keeping: keeping, isContinuable: job.attempt.isContinuable) == .mustBeRemoved
        else { return }
        hub.writers += 1
        start("remove") { [weak self] in
            landing.remove()
            self?.loop.post { self?.assumeIsolated { $0.hub.writers -= 1 } }
        } onFailure: {
            hub.writers -= 1
        }
    }

    func report(_ news: TransferNews, text: String? = nil, of sender: Peer? = nil) {
        if let text, let sender {
            let sender = SafeText.name(sender.name)
            emit(
                .failure(
                    PeerConnectError(
                        .internal, "A transfer of \(sender) failed here: \(text)",
                        hint: "Once that is mended, ask \(sender) to send it again.")))
        }
        machine.transfer(news, at: moment)
        carryOutEffects()
    }

    /// Runs `body` on a thread of its own; without one, `fail` ends what waits for it.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void, onFailure fail: () -> Void) {
        do throws(SystemError) {
            try BlockingThread.spawn(name, body)
        } catch {
            fail()
            emit(.failure(.noThread(error.reason, cause: error)))
        }
    }
}

/// Says once a second that there is progress to tell.
final class ProgressMeter: Sendable {
    private let last = Monitor(Instant(nanoseconds: 0))

    func isDue() -> Bool {
        let now = BootClock.now()
        return last.update { last in
            guard now - last >= 1 else { return false }
            last = now
            return true
        }
    }
}
