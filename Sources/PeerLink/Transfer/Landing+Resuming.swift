internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire
internal import Synchronization

/// Going on where an earlier landing of the same transfer was interrupted.
extension Landing {
    /// What was here at the beginning.
    var kept: KeptPieces { shared.withLock { $0.kept } }

    /// A piece is written, and its bytes have this hash.
    func note(_ hash: Digest) throws(TransferFailure) {
        log.withLock { $0.add(hash, manifest: wholeManifest) }
        try syncIfDue()
    }

    /// The sender has signed the pieces so far.
    func note(signature: [UInt8]) throws(TransferFailure) {
        log.withLock { $0.sign(signature, manifest: wholeManifest) }
        try syncIfDue()
    }

    /// From here on nothing can be continued: a file changed while it was sent.
    func stopNoting() { log.withLock { $0.stop() } }

    private var wholeManifest: [UInt8]? { shared.withLock { $0.manifest == nil ? nil : $0.manifestBytes } }

    /// What is not on the disk is lost with the power, and is looked at again before a transfer continues.
    private func syncIfDue() throws(TransferFailure) {
        guard log.withLock({ $0.isDue }) else { return }
        do throws(SystemError) {
            try writer.withLock { (writer) throws(SystemError) in try writer.sync(syncing) }
        } catch {
            // Whatever is read of the rest until then, the disk may never get it.
            log.withLock { $0.cut(to: $0.synced) }
            throw TransferFailure(writing: path, error)
        }
        log.withLock { $0.wasSynced() }
    }

    /// Keeps only what the sender has signed: what came behind that is not what it should be.
    func keepSigned() { log.withLock { $0.cut(to: $0.signed) } }

    // MARK: Continuing

    /// Whether it goes on where the record says; else the folder is as it was found, or has lost what was not to be kept.
    ///
    /// Throws when it cannot be told, as with too many open files: then the folder stays as it is.
    func resume(_ transfer: TransferID, _ offer: OfferBody, signedBy key: PublicKey) throws(TransferFailure) -> Bool {
        let name = Self.recordName(partialName), found: ResumeRecord?
        do throws(SystemError) {
            found = try ResumeRecord.read(name, in: partials, transfer, ledger, manifestLength: manifestLength)
        } catch {
            throw TransferFailure(writing: path, error)
        }
        guard let record = found, take(record.manifest) else { return false }
        let signed = KeptPieces(record, atMost: record.count, of: ledger, signedBy: key)
        // On the disk and signed: these pieces are what they were.
        let certain = min(record.synced, signed.proof?.index ?? 0)
        // More than that is only there when the record is spoiled.
        var count = min(signed.count, certain + Limits.piecesUnsynced + 2 * Limits.checkpointEvery)
        if try !retrace(to: count) {
            count = certain
            guard try retrace(to: count) else { return false }
        }
        var whole = certain
        while whole < count, isWhole(whole + 1, record) { whole += 1 }
        let kept = KeptPieces(record, atMost: whole, of: ledger, signedBy: key)
        guard try retrace(to: kept.count, cuttingOff: true) else { return false }
        shared.withLock { $0.kept = kept }
        log.withLock { $0.resume(kept.count, synced: certain, signed: kept.proof?.index ?? 0) }
        return true
    }

    private func take(_ manifest: [UInt8]) -> Bool {
        writer.withLock { writer in
            let isTaken = manifest.withUnsafeBytes { bytes in
                do throws(TransferFailure) {
                    try writer.appendManifest(bytes)
                    return true
                } catch {
                    return false
                }
            }
            return isTaken && writer.manifest != nil
        }
    }

    private func retrace(to pieces: UInt64, cuttingOff: Bool = false) throws(TransferFailure) -> Bool {
        guard pieces > 0 else { return false }
        return try writer.withLock { (writer) throws(TransferFailure) in
            do throws(LandingWriter.Odd) {
                let trace = try writer.retrace(to: ledger.range(of: pieces).upperBound)
                if cuttingOff { try writer.cutOff(trace) }
            } catch {
                if case .trouble(let error) = error { throw TransferFailure(writing: path, error) }
                return false
            }
            shared.withLock { $0.last = nil }
            publish(&writer)
            return true
        }
    }

    private func isWhole(_ piece: UInt64, _ record: ResumeRecord) -> Bool {
        let range = ledger.range(of: piece)
        var bytes = [UInt8](repeating: 0, count: range.count)
        let isRead = bytes.withUnsafeMutableBytes { buffer in
            do throws(TransferFailure) {
                try read(at: range.lowerBound, into: buffer)
                return true
            } catch {
                return false
            }
        }
        return isRead && SHA256.hash(bytes).bytes == record.hash(of: piece)
    }

    /// Removes what cannot be continued.
    func startOver(_ offer: OfferBody) throws(SystemError) {
        try? partials.removeTree(Self.recordName(partialName))
        try writer.withLock { (writer) throws(SystemError) in
            try writer.places.partial.removeContent()
            writer = LandingWriter(offer, LandingPlaces(into: into, partial: writer.places.partial))
            let places = writer.places, kept = kept
            shared.withLock { $0 = Shared(places: places, kept: kept) }
        }
    }
}

/// Giving up, for good or until the sender comes back.
extension Landing {
    /// Says that the files are not wanted; with `keeping` they are kept for others until that is called again without.
    ///
    /// Where it `isContinuable` what has arrived stays for another attempt; that may still be taken back.
    package func giveUp(keeping: Bool, isContinuable: Bool = false) -> Removal {
        stage.update { stage in
            switch stage {
            case .writing, .unwanted:
                let isUnwanted = if case .unwanted = stage { true } else { false }
                stage = keeping ? .unwanted : .givenUp(isContinuable: isContinuable && !isUnwanted)
                return .notNeeded
            case .givenUp where !isContinuable:
                stage = .givenUp(isContinuable: false)
                return .notNeeded
            case .kept where !keeping, .left where !isContinuable && !keeping:
                stage = .removed
                return .mustBeRemoved
            case .kept, .landing, .givenUp, .left, .removed: return .notNeeded
            }
        }
    }

    /// Whether the files may get their names now; if not, they are kept for others.
    func mayLand() throws(TransferFailure) -> Bool {
        let isLanding: Bool? = stage.update { stage in
            switch stage {
            case .writing, .landing: stage = .landing
            case .unwanted, .kept: stage = .kept
            case .givenUp, .left, .removed: return nil
            }
            return if case .landing = stage { true } else { false }
        }
        guard let isLanding else { throw .givenUp }
        return isLanding
    }

    /// The writing has ended before all had landed: removes what has arrived, unless it may be continued.
    func leave(isContinuable: Bool) {
        let hasPieces = log.withLock { $0.written > 0 }
        shared.withLock { $0.last = nil }
        writer.withLock { writer in
            if !stays(isContinuable && hasPieces) { removePartial() }
            writer.places.partial.unlock()
        }
    }

    private func stays(_ isContinuable: Bool) -> Bool {
        stage.update { stage in
            switch stage {
            case .writing, .landing, .givenUp(isContinuable: true):
                stage = isContinuable ? .left : .removed
            case .unwanted, .kept, .givenUp, .left, .removed: stage = .removed
            }
            return if case .left = stage { true } else { false }
        }
    }

    /// Removes what has arrived and has no final name yet, unless another landing goes on with it.
    ///
    /// Only when nothing is written any more.
    package func remove() {
        shared.withLock { $0.last = nil }
        writer.withLock { writer in
            let partial = writer.places.partial
            guard (try? partial.lock()) == true else { return }
            if Self.isStill(partial, partialName, in: partials) { removePartial() }
            partial.unlock()
        }
    }

    func removePartial() {
        // First: without it nobody takes the rest for something to continue.
        try? partials.removeTree(Self.recordName(partialName))
        try? partials.removeTree(partialName)
        try? into.removeFolder(Self.partialFolder)  // stays when other transfers use it
    }
}
