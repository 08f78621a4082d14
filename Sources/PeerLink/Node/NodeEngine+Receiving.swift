internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

typealias LandingOpener = @Sendable (String, TransferID, OfferBody, PublicKey) throws(TransferFailure) -> Landing

/// Bytes that come in: asked for from a neighbour, kept by a thread of their own.
extension NodeEngine {
    /// Where the bytes come from.
    private enum Feed: Sendable {
        case neighbour(ConnectionID)
        /// They are here already, to be passed on.
        case spool
    }

    /// What a thread that keeps bytes is there for.
    private struct Keeper: Sendable {
        let transfer: TransferID
        let attempt: Attempt
        let isSpool: Bool
        let feed: Feed
        /// Bytes of all files.
        let size: UInt64
        let sender: Peer
        /// Who hands the bytes over: the sender, or the host that passes them on.
        let neighbour: Peer
    }

    /// Manifests are held in memory while their files are received.
    private static let manifestsAtOnce = UInt64(Limits.manifest)

    /// Receives for this peer.
    func receive(_ transfer: TransferID, _ body: OfferBody, _ source: RemoteSource) {
        if let job = hub.jobs[transfer], job.source == nil, !job.isSpooled { supersede(job) }
        guard let key = PublicKey(spki: source.key) else { return }
        let downloads = settings.downloads, promised = hub.promised, openLanding = openLanding
        let isTooMuch = hub.manifests + body.manifestLength > Self.manifestsAtOnce
        let open: @Sendable () throws(TransferFailure) -> PieceIntake.Keeping = {
            () throws(TransferFailure) in
            guard !isTooMuch else { throw .tooLarge }
            let missing = body.size - Landing.bytesHere(of: transfer, size: body.size, in: downloads)
            guard FreeSpace.isEnough(for: missing, at: downloads, promised: promised) else { throw .diskFull }
            return .landing(try openLanding(downloads, transfer, body, key))
        }
        if let job = hub.jobs[transfer] {
            // The bytes are being relayed already: they are taken from the spool, not sent twice.
            job.isWanted = true
            job.manifestLength = body.manifestLength
            keep(job, body.size, source, PieceLedger(length: job.ledger.length), from: .spool, open: open)
        } else {
            let job = TransferJob(transfer, length: body.manifestLength + body.size, isSpooled: false)
            job.manifestLength = body.manifestLength
            fetch(job, body.size, source, open: open)
        }
    }

    /// Receives only to pass on.
    func relay(_ transfer: TransferID, _ body: OfferBody, _ source: RemoteSource) {
        let length = body.manifestLength + body.size, spools = settings.spools, promised = hub.promised
        let job: TransferJob
        if let begun = hub.jobs[transfer], begun.passOnOnly() {
            // This peer has given its own files up before any came; others may be waiting for them already.
            job = begun
        } else {
            hub.jobs[transfer]?.end(.lost)
            job = TransferJob(transfer, length: length, isSpooled: true)
        }
        fetch(job, body.size, source) { () throws(TransferFailure) in
            // Relaying may use half of what is free.
            guard FreeSpace.isEnough(for: length * 2, at: spools, promised: promised) else { throw .diskFull }
            return .spool(try Spool(folder: spools, length: length))
        }
    }

    private func fetch(
        _ job: TransferJob, _ size: UInt64, _ source: RemoteSource,
        open: @escaping @Sendable () throws(TransferFailure) -> PieceIntake.Keeping
    ) {
        guard let connection = source.connection else { return report(.notBegun(job.transfer, .lost)) }
        hub.add(job)
        keep(job, size, source, job.ledger, from: .neighbour(connection), open: open)
    }

    /// Starts the thread that makes a place for the bytes, then checks and keeps what comes in the queue.
    private func keep(
        _ job: TransferJob, _ size: UInt64, _ source: RemoteSource, _ ledger: PieceLedger, from feed: Feed,
        open: @escaping @Sendable () throws(TransferFailure) -> PieceIntake.Keeping
    ) {
        let isSpool = if case .neighbour = feed { job.isSpooled } else { false }
        let neighbour = source.connection.flatMap { connections[$0]?.remote?.peer } ?? source.sender
        let keeper = Keeper(
            transfer: job.transfer, attempt: job.attempt, isSpool: isSpool, feed: feed, size: size,
            sender: source.sender, neighbour: neighbour)
        guard let key = PublicKey(spki: source.key) else { return }
        let queue = ArrivalQueue()
        hub.writers += 1
        let former = isSpool ? nil : hub.begin(keeper.attempt, job.transfer)
        let transfer = job.transfer, length = ledger.length, meter = ProgressMeter()
        start("intake") { [weak self] in
            defer { if !isSpool { keeper.attempt.end() } }
            former?.waitForEnd(seconds: Limits.formerAttempt)
            let keeping: PieceIntake.Keeping
            do throws(TransferFailure) { keeping = try open() } catch {
                self?.loop.post { self?.assumeIsolated { $0.notBegun(keeper, error) } }
                return
            }
            self?.loop.post { self?.assumeIsolated { $0.begun(keeper, keeping, queue, ledger) } }
            let intake = PieceIntake(
                keeping: keeping, queue: queue, ledger: ledger, transfer: transfer, key: key,
                progress: { bytes in
                    // All of it always: the host then waits longer, until it is on the disk.
                    guard !isSpool, meter.isDue() || bytes == length else { return }
                    self?.loop.post { self?.assumeIsolated { $0.progressed(keeper, bytes) } }
                })
            let outcome = intake.run()
            self?.loop.post { self?.assumeIsolated { $0.ended(keeper, outcome) } }
        } onFailure: {
            notBegun(keeper, .unwritable("There is no thread for it."))
        }
    }

    private func progressed(_ keeper: Keeper, _ bytes: UInt64) {
        guard !hub.isSuperseded(keeper.transfer, keeper.attempt) else { return }
        report(.progress(keeper.transfer, bytes))
    }

    private func notBegun(_ keeper: Keeper, _ error: TransferFailure) {
        hub.writers -= 1
        if !keeper.isSpool { hub.end(keeper.attempt, keeper.transfer) }
        guard !hub.isSuperseded(keeper.transfer, keeper.attempt) else { return }
        let job = hub.jobs[keeper.transfer]
        job?.isWanted = false
        if keeper.isSpool {
            job?.end(error.reason)
            report(.sourceFailed(keeper.transfer, error.reason), text: error.text, of: keeper.sender)
        } else if job?.isSpooled == true {
            report(.received(keeper.transfer, .failed, error.reason), text: error.text, of: keeper.sender)
        } else {
            report(.notBegun(keeper.transfer, error.reason), text: error.text, of: keeper.sender)
        }
    }

    /// There is a place: now the bytes may come.
    private func begun(
        _ keeper: Keeper, _ keeping: PieceIntake.Keeping, _ queue: ArrivalQueue, _ ledger: PieceLedger
    ) {
        let isSuperseded = hub.isSuperseded(keeper.transfer, keeper.attempt)
        guard !isSuperseded, let job = hub.jobs[keeper.transfer], keeper.isSpool || job.isWanted, !isStopped else {
            if case .landing(let landing) = keeping, !keeper.attempt.isContinuable {
                _ = landing.giveUp(keeping: false)
            }
            queue.dismiss()
            // Given up meanwhile, and nothing was asked for yet: others may still want it passed on.
            guard !isSuperseded, case .neighbour = keeper.feed, hub.jobs[keeper.transfer] != nil else { return }
            return report(.notBegun(keeper.transfer, .left))
        }
        var kept = KeptPieces(keeper.transfer)
        switch keeping {
        case .landing(let landing):
            job.landing = landing
            kept = landing.kept
            // First: whoever waits for a piece reads it as soon as the ledger has it.
            if !job.isSpooled { job.store.keep(in: landing) }
            ledger.take(kept)
        case .spool(let spool): job.store.keep(in: spool)
        }
        switch keeper.feed {
        case .neighbour(let connection): fetch(job, queue, behind: kept, from: connection)
        case .spool:
            let feed = LocalFeed(store: job.store, source: job.ledger, queue: queue, start: kept.count)
            start("feed", feed.run) { queue.fail(.ended) }
        }
        guard kept.count > 0 else { return }
        report(.continues(keeper.transfer, ledger.range(of: kept.count).upperBound))
    }

    private func ended(_ keeper: Keeper, _ outcome: PieceIntake.Outcome) {
        hub.writers -= 1
        if !keeper.isSpool { hub.end(keeper.attempt, keeper.transfer) }
        let transfer = keeper.transfer, isSuperseded = hub.isSuperseded(keeper.transfer, keeper.attempt)
        switch outcome {
        case .landed(let landed, let partial):
            if !isSuperseded { report(.stored(transfer)) }
            if let length = hub.jobs[transfer]?.ledger.length, !isSuperseded { report(.progress(transfer, length)) }
            emit(
                .fileReceived(
                    ReceivedFiles(
                        transfer: transfer, from: keeper.sender, paths: landed.paths, size: keeper.size,
                        mended: landed.mended, skipped: landed.skipped)))
            if !isSuperseded { report(.received(transfer, partial == nil ? .verified : .partial, partial)) }
        case .kept where isSuperseded, .failed where isSuperseded: break
        case .kept: report(.stored(transfer))
        case .dismissed: break
        case .failed(let reason, let text, let culprit): failed(keeper, reason, text, by: culprit)
        }
    }

    private func failed(_ keeper: Keeper, _ reason: TransferReason, _ text: String, by culprit: PieceIntake.Culprit?) {
        guard let job = hub.jobs[keeper.transfer] else { return }
        if let culprit, let text = blame(culprit, keeper, text) {
            emit(.warning(code: .badSignature, peer: keeper.neighbour, message: text))
        }
        if !keeper.isSpool, job.isWanted {
            report(.received(keeper.transfer, .failed, reason), text: text, of: keeper.sender)
        }
        // What comes into a spool goes on, for those it is passed on to.
        if case .neighbour = keeper.feed { job.receiving?.cancel() }
        // Whoever is served from these bytes cannot get the rest of them.
        guard keeper.isSpool || !job.isSpooled else { return }
        job.end(reason)
        report(.sourceFailed(keeper.transfer, reason))
    }

    /// Names who passes the files on, and as the one who altered them only if nobody else can have done it.
    private func blame(_ culprit: PieceIntake.Culprit, _ keeper: Keeper, _ text: String) -> String? {
        guard keeper.neighbour.id != keeper.sender.id else { return nil }
        let sender = SafeText.name(keeper.sender.name), neighbour = SafeText.name(keeper.neighbour.name)
        let start = "What \(sender) sends was altered by \(neighbour), who passes it on"
        return switch culprit {
        case .neighbour: "\(start): \(text)"
        case .neighbourOrSender: "\(start), or by \(sender): \(text)"
        case .sender: nil
        }
    }

    // MARK: The connection

    /// Asks a neighbour for the bytes, and dials if this side dialled the control connection.
    private func fetch(_ job: TransferJob, _ queue: ArrivalQueue, behind kept: KeptPieces, from id: ConnectionID) {
        guard let connection = connections[id], let remote = connection.remote else { return queue.fail(.ended) }
        let ticket = randomBytes(16)
        let get = Get(transfer: job.transfer, ticket: ticket, piece: kept.count, proof: kept.proof)
        if connection.isDialled {
            let open = Open(transfer: job.transfer, ticket: ticket)
            receiving(job, queue, from: kept.count, .dial(route(connection, remote, open)))
        } else {
            let deadline = BootClock.now() + Limits.ticketLifetime
            hub.issue(
                ticket,
                Ticket(
                    transfer: job.transfer, peer: remote.peer.id, use: .receive(job, queue, from: kept.count),
                    deadline: deadline))
            rearm()
        }
        handle(connection.send(.get(get)), of: connection)
    }

    func receiving(_ job: TransferJob, _ queue: ArrivalQueue, from piece: UInt64, _ origin: DataOrigin) {
        let pump = Pump(), receiver = PieceReceiver(queue: queue, ledger: job.ledger)
        job.receiving = pump
        start("receive") {
            do throws(StreamError) {
                try pump.run(origin) { (stream) throws(StreamError) in receiver.run(&stream, from: piece) }
            } catch {
                queue.fail(error)
            }
        } onFailure: {
            queue.fail(.ended)
        }
    }
}
