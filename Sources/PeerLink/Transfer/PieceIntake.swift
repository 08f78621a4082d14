internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// Takes pieces out of the queue, checks them and keeps them: as the files they are, or in a spool to be passed on.
struct PieceIntake {
    enum Keeping {
        /// The files themselves; every piece and signature is checked.
        case landing(Landing)
        /// Only to be relayed: lengths and signatures are checked, hashes of pieces are passed on.
        case spool(Spool)
    }

    enum Outcome {
        /// With the reason why some are missing.
        case landed(Landing.Landed, partial: TransferReason?)
        /// All of it is here, for others only.
        case kept
        case failed(TransferReason, String, by: Culprit?)
        /// It had not begun; the ledger is as it was.
        case dismissed
    }

    /// Who can have caused that files did not arrive as they were offered.
    enum Culprit {
        /// Who hands them over, and checks itself what was found wrong here.
        case neighbour
        /// Who hands them over or who sends them: a relay does not hash what it passes on, and knows nothing of pieces that
        /// were here before and were not signed then.
        case neighbourOrSender
        case sender
    }

    let keeping: Keeping
    let queue: ArrivalQueue
    let ledger: PieceLedger
    let transfer: TransferID
    /// The sender's key.
    let key: PublicKey
    /// Called after each piece with the bytes kept so far.
    let progress: @Sendable (UInt64) -> Void

    /// Half of the smallest second-level cache in common use (256 KiB) would do; less costs more calls.
    private static let slice = 64 << 10

    /// Runs until the transfer has ended here, well or not; what has not landed then is removed, unless others need it or it
    /// may be continued.
    func run() -> Outcome {
        defer { queue.close() }
        let outcome = take()
        switch outcome {
        case .landed, .kept: return outcome
        case .failed(let reason, _, _):
            ledger.fail(reason)
            guard case .landing(let landing) = keeping else { break }
            if reason == .corrupt { landing.keepSigned() }
            landing.leave(isContinuable: reason.isContinuable)
        case .dismissed:
            if case .landing(let landing) = keeping { landing.leave(isContinuable: true) }
        }
        return outcome
    }

    private func take() -> Outcome {
        var chain = PieceChain(transfer), misfits: [UInt64] = []
        // Behind the last signature there may be pieces that whoever hands over the rest has never seen.
        var isShared = true
        if case .landing(let landing) = keeping {
            chain = landing.kept.chain
            isShared = landing.kept.count == landing.kept.proof?.index ?? 0
        }
        while true {
            let arrival: Arrival
            do throws(StreamError) { arrival = try queue.next() } catch { return broken(error) }
            do throws(TransferFailure) {
                switch arrival {
                case .piece(let buffer):
                    try keep(buffer, &chain, &misfits)
                    queue.giveBack(buffer)
                case .checkpoint(let checkpoint):
                    try check(checkpoint, chain)
                    isShared = true
                case .end(let end): return try finish(end, chain, misfits)
                }
            } catch {
                return .failed(error.reason, error.text, by: Self.culprit(error, isShared: isShared))
            }
        }
    }

    private func keep(
        _ buffer: PieceBuffer, _ chain: inout PieceChain, _ misfits: inout [UInt64]
    ) throws(TransferFailure) {
        guard let told = Digest(buffer.hash) else { throw .corrupt("piece \(buffer.index) has no hash") }
        chain.append(told, length: buffer.count)
        switch keeping {
        case .landing(let landing):
            if try write(buffer.bytes, to: landing) != told {
                // One of several files may have changed while it was sent: then the signed end names it.
                guard landing.hasSeveralFiles else { throw Self.altered(buffer.index) }
                misfits.append(buffer.index)
                landing.stopNoting()
            }
            try landing.note(told)
        case .spool(let spool):
            try spool.write(buffer.bytes, at: ledger.range(of: buffer.index).lowerBound)
        }
        ledger.state.update { $0.hashes += buffer.hash }
        progress(ledger.range(of: buffer.index).upperBound)
    }

    /// Hashes and writes a piece slice by slice, so that a slice is still in the core's own cache when it is written.
    ///
    /// What turns out to be altered is in the partial files by then: of a single file it is not served, of several it
    /// stands until the signed end, and it never lands.
    private func write(_ bytes: UnsafeRawBufferPointer, to landing: Landing) throws(TransferFailure) -> Digest {
        var hash = SHA256()
        var rest = bytes[...]
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.slice))
            hash.update(slice)
            try landing.append(slice)
            rest = rest.dropFirst(Self.slice)
        }
        return hash.finish()
    }

    private static func altered(_ piece: UInt64) -> TransferFailure {
        .corrupt("piece \(piece) is not what it was when it was signed")
    }

    private func check(_ checkpoint: Checkpoint, _ chain: PieceChain) throws(TransferFailure) {
        guard checkpoint.index == chain.index, key.isValid(signature: checkpoint.signature, for: chain.checkpoint)
        else { throw .unchecked("the pieces up to \(checkpoint.index) are not those the sender signed") }
        if case .landing(let landing) = keeping { try landing.note(signature: checkpoint.signature) }
        ledger.state.update { $0.checkpoints[checkpoint.index] = checkpoint.signature }
    }

    private func finish(
        _ end: StreamEnd, _ chain: PieceChain, _ misfits: [UInt64]
    ) throws(TransferFailure) -> Outcome {
        guard end.index == ledger.pieces, ledger.state.read({ $0.count }) == ledger.pieces else {
            throw .unchecked("the stream ended before its last piece")
        }
        guard key.isValid(signature: end.signature, for: chain.end(changed: end.changed)) else {
            throw .unchecked("the end is not what the sender signed")
        }
        guard case .landing(let landing) = keeping else {
            ledger.state.update { $0.end = end }
            return .kept
        }
        let changed = Set(end.changed.map { Int($0) })
        guard changed.allSatisfy({ landing.isFile($0) }) else { throw .corrupt("the end names what is no file of it") }
        for piece in misfits {
            let files = landing.files(in: ledger.range(of: piece))
            guard !files.isEmpty, changed.isSuperset(of: files) else { throw Self.altered(piece) }
        }
        ledger.state.update { $0.end = end }
        guard let landed = try landing.finish(dropping: end.changed) else { return .kept }
        if !end.changed.isEmpty { return .landed(landed, partial: .changed) }
        // What else is left out could not be made here, as links on some file systems.
        return .landed(landed, partial: landed.skipped.isEmpty ? nil : .unwritable)
    }

    private static func culprit(_ failure: TransferFailure, isShared: Bool) -> Culprit? {
        switch failure {
        case .corrupt: .neighbourOrSender
        case .unchecked: isShared ? .neighbour : .neighbourOrSender
        case .misleading: .sender
        default: nil
        }
    }

    private func broken(_ error: StreamError) -> Outcome {
        if queue.isDismissed { return .dismissed }
        return switch error {
        case .stalled: .failed(.stalled, "nothing has come for 30 s", by: nil)
        case .violation(let text): .failed(.corrupt, text, by: .neighbour)
        default: .failed(.lost, "the connection broke", by: nil)
        }
    }
}

/// Feeds the queue from bytes that are already kept here, as the host does when it takes files that it has been relaying.
struct LocalFeed {
    let store: any PieceReading
    let source: PieceLedger
    let queue: ArrivalQueue
    /// The last piece that is in the files already.
    let start: UInt64

    func run() {
        let pieces = source.pieces
        var piece = start
        while piece < pieces {
            piece += 1
            guard case .piece(let hash) = wait({ source.hash(of: piece, seconds: $0) }) else { return fail() }
            guard let buffer = queue.buffer() else { return }
            let range = source.range(of: piece)
            buffer.index = piece
            buffer.hash = hash
            buffer.count = Int(range.count)
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.memory[..<buffer.count])
            do throws(TransferFailure) { try store.read(at: range.lowerBound, into: bytes) } catch { return fail() }
            guard queue.put(.piece(buffer)) else { return }
            guard PieceLedger.isCheckpoint(piece, of: pieces) else { continue }
            guard case .checkpoint(let signature) = wait({ source.checkpoint(behind: piece, seconds: $0) }) else {
                return fail()
            }
            guard queue.put(.checkpoint(Checkpoint(index: piece, signature: signature))) else { return }
        }
        guard case .end(let end) = wait({ source.end(seconds: $0) }) else { return fail() }
        _ = queue.put(.end(end))
    }

    private func wait(_ next: (Double) -> PieceLedger.Next?) -> PieceLedger.Next {
        while true { if let ready = next(60) { return ready } }
    }

    private func fail() { queue.fail(.ended) }
}
