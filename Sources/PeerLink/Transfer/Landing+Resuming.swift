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
    func note(_ hash: Digest) {
        log.withLock { $0.add(hash, manifest: wholeManifest) }
        syncIfDue()
    }

    /// The sender has signed the pieces so far.
    func note(signature: [UInt8]) {
        log.withLock { $0.sign(signature, manifest: wholeManifest) }
        syncIfDue()
    }

    /// From here on nothing can be continued: a file changed while it was sent.
    func stopNoting() { log.withLock { $0.stop() } }

    private var wholeManifest: [UInt8]? { shared.withLock { $0.manifest == nil ? nil : $0.manifestBytes } }

    /// What is not on the disk is lost with the power, and is looked at again before a transfer continues.
    private func syncIfDue() {
        guard log.withLock({ $0.isDue }) else { return }
        let isSynced = writer.withLock { $0.sync() }
        log.withLock { log in
            if isSynced { log.wasSynced() } else { log.stop() }
        }
    }

    // MARK: Continuing

    /// Whether it goes on where the record says; else the folder is as it was found, or has lost what was not to be kept.
    func resume(_ transfer: TransferID, _ offer: OfferBody, signedBy key: PublicKey) -> Bool {
        let name = Self.recordName(partialName)
        guard
            let record = ResumeRecord.read(name, in: partials, transfer, ledger, manifestLength: manifestLength),
            take(record.manifest)
        else { return false }
        let signed = KeptPieces(record, atMost: record.count, of: ledger, signedBy: key)
        // On the disk and signed: these pieces are what they were.
        let certain = min(record.synced, signed.proof?.index ?? 0)
        // More than that is only there when the record is spoiled.
        var count = min(signed.count, certain + Limits.piecesUnsynced + 2 * Limits.checkpointEvery)
        if !retrace(to: count) {
            guard certain < count, retrace(to: certain) else { return false }
            count = certain
        }
        var whole = certain
        while whole < count, isWhole(whole + 1, record) { whole += 1 }
        let kept = KeptPieces(record, atMost: whole, of: ledger, signedBy: key)
        guard kept.count > 0, retrace(to: kept.count, cuttingOff: true) else { return false }
        shared.withLock { $0.kept = kept }
        log.withLock { $0.resume(kept.count, synced: certain) }
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

    private func retrace(to pieces: UInt64, cuttingOff: Bool = false) -> Bool {
        guard pieces > 0 else { return false }
        return writer.withLock { writer in
            do {
                let trace = try writer.retrace(to: ledger.range(of: pieces).upperBound)
                if cuttingOff { try writer.cutOff(trace) }
            } catch {
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
        let stays = stage.update { stage in
            switch stage {
            case .writing, .landing, .givenUp(isContinuable: true):
                stage = isContinuable && hasPieces ? .left : .removed
            case .unwanted, .kept, .givenUp, .left, .removed: stage = .removed
            }
            return if case .left = stage { true } else { false }
        }
        shared.withLock { $0.last = nil }
        if !stays { removePartial() }
        writer.withLock { $0.places.partial }.unlock()
    }

    /// Waits until nobody writes any more, so many seconds at most.
    func waitUntilLeft(seconds: Double) {
        _ = stage.wait(seconds: seconds) { stage in
            switch stage {
            case .left, .removed, .kept: true
            default: nil
            }
        }
    }

    /// Removes what has arrived and has no final name yet; only when nothing is written any more.
    package func remove() {
        shared.withLock { $0.last = nil }
        removePartial()
    }

    func removePartial() {
        // First: without it nobody takes the rest for something to continue.
        try? partials.removeTree(Self.recordName(partialName))
        try? partials.removeTree(partialName)
        try? into.removeFolder(Self.partialFolder)  // stays when other transfers use it
    }
}
