internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// The file side of the engine: which threads run, and what they report.
extension NodeEngine {
    func perform(_ order: TransferOrder) {
        switch order {
        case .receive(let transfer, let body, _, let source): receive(transfer, body, source)
        case .relay(let transfer, let body, _, let source): relay(transfer, body, source)
        case .serve(let transfer, let connection, let ticket, let piece):
            serve(transfer, to: connection, ticket: ticket, piece: piece)
        case .sourceLost(let transfer, let reason):
            hub.jobs[transfer]?.cancelPumps(reason)
        case .abandon(let transfer): abandon(transfer)
        case .finished(let transfer): finished(transfer)
        }
    }

    // MARK: Receiving

    private func receive(_ transfer: TransferID, _ body: OfferBody, _ source: RemoteSource) {
        let landing: Landing
        do throws(TransferFailure) {
            guard FreeSpace.isEnough(for: body.size, at: settings.downloads, promised: hub.promised) else {
                throw .diskFull
            }
            landing = try Landing(folder: settings.downloads, transfer: transfer, offer: body)
        } catch {
            return report(.received(transfer, .failed, error.reason), text: error.text, of: source.sender)
        }
        let queue = ArrivalQueue()
        if let job = hub.jobs[transfer], let store = job.store {
            // The bytes are being relayed already: they are taken from the spool, not sent twice.
            job.landing = landing
            start("feed", LocalFeed(store: store, source: job.ledger, queue: queue).run) {
                queue.put(.broken(.ended))
            }
            take(job, .landing(landing), queue, PieceLedger(length: job.ledger.length), source)
        } else {
            let job = TransferJob(transfer, length: body.manifestLength + body.size)
            job.landing = landing
            job.store = landing
            hub.jobs[transfer] = job
            take(job, .landing(landing), queue, job.ledger, source)
            fetch(job, queue, from: source.connection)
        }
    }

    private func relay(_ transfer: TransferID, _ body: OfferBody, _ source: RemoteSource) {
        let length = body.manifestLength + body.size
        let spool: Spool
        do throws(TransferFailure) {
            // Relaying may use half of what is free.
            guard FreeSpace.isEnough(for: length * 2, at: settings.spools, promised: hub.promised) else {
                throw .diskFull
            }
            spool = try Spool(folder: settings.spools, length: length)
        } catch {
            return report(.sourceFailed(transfer, error.reason), text: error.text, of: source.sender)
        }
        let job = TransferJob(transfer, length: length)
        job.store = spool
        hub.jobs[transfer] = job
        let queue = ArrivalQueue()
        take(job, .spool(spool), queue, job.ledger, source)
        fetch(job, queue, from: source.connection)
    }

    /// Starts the thread that checks and keeps what comes in the queue.
    private func take(
        _ job: TransferJob, _ keeping: PieceIntake.Keeping, _ queue: ArrivalQueue, _ ledger: PieceLedger,
        _ source: RemoteSource
    ) {
        guard let key = PublicKey(spki: source.key) else { return }
        let transfer = job.transfer, wanted = job.wanted
        let neighbour = connections[source.connection]?.remote?.peer ?? source.sender
        let isRelay = if case .spool = keeping { true } else { false }
        let meter = ProgressMeter()
        let intake = PieceIntake(
            keeping: keeping, queue: queue, ledger: ledger, transfer: transfer, key: key,
            progress: { [weak self] bytes in
                guard !isRelay, meter.isDue() else { return }
                self?.loop.post { self?.assumeIsolated { $0.report(.progress(transfer, bytes)) } }
            },
            mayFinish: { wanted.read { $0 } })
        start("intake") { [weak self] in
            let outcome = intake.run()
            self?.loop.post { self?.assumeIsolated { $0.ended(transfer, outcome, source.sender, neighbour) } }
        } onFailure: {
            let outcome = PieceIntake.Outcome.failed(.lost, "there was no thread for it")
            self.ended(transfer, outcome, source.sender, neighbour)
        }
    }

    private func ended(
        _ transfer: TransferID, _ outcome: PieceIntake.Outcome, _ sender: Peer, _ neighbour: Peer
    ) {
        switch outcome {
        case .landed(let landed, let isPartial):
            let size = hub.jobs[transfer]?.ledger.length ?? 0
            report(.stored(transfer))
            report(.progress(transfer, size))
            emit(
                .fileReceived(
                    ReceivedFiles(
                        transfer: transfer, from: sender, paths: landed.paths, size: size,
                        mended: landed.mended, skipped: landed.skipped)))
            report(.received(transfer, isPartial ? .partial : .verified, isPartial ? .changed : nil))
        case .spooled: report(.stored(transfer))
        case .failed(let reason, let text):
            guard let job = hub.jobs[transfer] else { return }
            let isOwn = job.landing != nil
            job.landing?.abandon()
            if reason == .corrupt, neighbour.id != sender.id {
                let text = "What \(sender.name) sends was altered by \(neighbour.name), who passes it on: \(text)"
                emit(.warning(code: .badSignature, peer: neighbour, message: text))
            }
            if isOwn { report(.received(transfer, .failed, reason), text: text, of: sender) }
            if job.store == nil || job.ledger.state.read({ $0.failure != nil }) {
                report(.sourceFailed(transfer, reason))
            }
        }
    }

    /// Asks a neighbour for the bytes, and dials if this side dialled the control connection.
    private func fetch(_ job: TransferJob, _ queue: ArrivalQueue, from id: ConnectionID) {
        guard let connection = connections[id], let remote = connection.remote else {
            return queue.put(.broken(.ended))
        }
        let ticket = randomBytes(16)
        let get = Get(transfer: job.transfer, ticket: ticket, piece: 0)
        if connection.isDialled {
            let route = self.route(connection, remote, Open(transfer: job.transfer, ticket: ticket))
            handle(connection.send(.get(get)), of: connection)
            receiving(job, queue) { () throws(StreamError) in try route.connect() }
        } else {
            hub.tickets[ticket] = Ticket(
                transfer: job.transfer, peer: remote.peer.id, use: .receive(job, queue),
                deadline: BootClock.now() + Limits.ticketLifetime)
            handle(connection.send(.get(get)), of: connection)
            rearm()
        }
    }

    private func receiving(
        _ job: TransferJob, _ queue: ArrivalQueue, _ stream: @escaping @Sendable () throws(StreamError) -> TLSStream
    ) {
        let pump = Pump(), receiver = PieceReceiver(queue: queue, ledger: job.ledger)
        job.pumps.append(pump)
        start("receive") {
            do throws(StreamError) {
                try pump.run(try stream()) { (stream) throws(StreamError) in receiver.run(&stream, from: 0) }
            } catch {
                queue.put(.broken(error))
            }
        } onFailure: {
            queue.put(.broken(.ended))
        }
    }

    // MARK: Sending

    /// Takes an own transfer, before it is offered.
    func prepare(_ transfer: TransferID, _ source: TransferSource) {
        hub.jobs[transfer] = TransferJob(transfer, length: source.length, source: source)
    }

    private func serve(_ transfer: TransferID, to id: ConnectionID, ticket: [UInt8], piece: UInt64) {
        guard let connection = connections[id], let remote = connection.remote, let job = hub.jobs[transfer],
            piece <= job.ledger.pieces
        else { return }
        hash(job)
        if connection.isDialled {
            let route = self.route(connection, remote, Open(transfer: transfer, ticket: ticket))
            sending(job, from: piece) { () throws(StreamError) in try route.connect() }
        } else {
            hub.tickets[ticket] = Ticket(
                transfer: transfer, peer: remote.peer.id, use: .send(job, from: piece),
                deadline: BootClock.now() + Limits.ticketLifetime)
            rearm()
        }
    }

    /// Own files are hashed from the first request on, not before.
    private func hash(_ job: TransferJob) {
        guard let source = job.source, !job.isHashing else { return }
        job.isHashing = true
        let ledger = job.ledger, transfer = job.transfer, key = identity.key
        start("hash") { [weak self] in
            PieceHasher.run(source, ledger, transfer, key)
            guard let reason = ledger.state.read({ $0.failure }) else { return }
            self?.loop.post { self?.assumeIsolated { $0.report(.sourceFailed(transfer, reason)) } }
        } onFailure: {
            ledger.fail(.lost)
        }
    }

    private func sending(
        _ job: TransferJob, from piece: UInt64, _ stream: @escaping @Sendable () throws(StreamError) -> TLSStream
    ) {
        guard let store = job.store else { return }
        let pump = Pump(), sender = PieceSender(store: store, ledger: job.ledger)
        job.pumps.append(pump)
        // How it went for the neighbour is the neighbour's to say, on its control connection.
        start("send") {
            try? pump.run(try stream()) { (stream) throws(StreamError) in try sender.run(&stream, from: piece) }
        } onFailure: {
            // The neighbour waits for this connection no longer than its ticket lives.
        }
    }

    private func route(_ connection: ControlConnection, _ remote: RemotePeer, _ open: Open) -> DataRoute {
        DataRoute(address: connection.address, expected: remote.peer.id, open: open, hello: hello, context: context)
    }

    /// A data connection showed its ticket: it goes to the thread that waits for it.
    func redeem(_ open: Open, from connection: ControlConnection) {
        guard let peer = connection.remote?.peer.id, let ticket = hub.redeem(open, by: peer) else {
            return handle(connection.end(.closedHere), of: connection)
        }
        unregister(connection.id)
        connections[connection.id] = nil
        guard let stream = connection.takeStream() else { return }
        let box = StreamBox(stream)
        let take: @Sendable () throws(StreamError) -> TLSStream = { () throws(StreamError) in
            guard let stream = box.take() else { throw .ended }
            return stream
        }
        switch ticket.use {
        case .send(let job, let piece): sending(job, from: piece, take)
        case .receive(let job, let queue): receiving(job, queue, take)
        }
    }

    // MARK: Ends

    private func abandon(_ transfer: TransferID) {
        guard let job = hub.jobs[transfer] else { return }
        job.wanted.update { $0 = false }
        guard job.store as? Landing != nil else { return }
        // Others may still be served from it: it goes when the transfer is finished.
        if machine.isRelaying(transfer) { return }
        job.cancelPumps(.left)
        job.landing?.abandon()
    }

    private func finished(_ transfer: TransferID) {
        guard let job = hub.jobs.removeValue(forKey: transfer) else { return }
        job.cancelPumps(.left)
        if !job.wanted.read({ $0 }) { job.landing?.abandon() }
        hub.tickets = hub.tickets.filter { $0.value.transfer != transfer }
    }

    func report(_ news: TransferNews, text: String? = nil, of sender: Peer? = nil) {
        if let text, let sender {
            emit(.failure(PeerConnectError(.internal, "A transfer of \(sender.name) failed here: \(text).")))
        }
        machine.transfer(news, at: moment)
        obey()
    }

    /// Runs `body` on a thread of its own; without one, `fail` ends what waits for it.
    private func start(_ name: String, _ body: @escaping @Sendable () -> Void, onFailure fail: () -> Void) {
        do throws(SystemError) {
            try BlockingThread.spawn(name, body)
        } catch {
            fail()
            emit(.failure(PeerConnectError(.internal, "A thread could not be started: \(error.reason).", cause: error)))
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
