internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import Synchronization

/// One transfer as far as its bytes are concerned: where they are kept, what is known of them, which threads move them.
///
/// For the event loop alone.
final class TransferJob {
    let transfer: TransferID
    /// What it shares with the thread that receives it; another one each time that the hub is given it.
    var attempt = Attempt()
    /// What is known of its pieces; of own ones, as far as they are hashed from the start.
    let ledger: PieceLedger
    /// Of own files: everywhere that they are hashed from.
    var own: OwnLedgers
    /// Where pieces are read from to serve them.
    let store: KeptStream
    /// For an own transfer.
    let source: TransferSource?
    /// Whether the bytes are kept in a spool, to be passed on.
    private(set) var isSpooled: Bool
    /// This peer's own files, once they have a place.
    var landing: Landing?
    /// Whether this peer wants the files for itself.
    var isWanted: Bool
    /// Bytes of the manifest that is held in memory for them.
    var manifestLength: UInt64 = 0
    /// The connection the bytes come from.
    var receiving: Pump?
    /// Those they go to, one for each neighbour.
    private(set) var sending: [PeerID: Pump] = [:]
    /// What neighbours asked for while their former thread had not ended yet: the newest of each.
    private var waiting: [PeerID: (Pump) -> Void] = [:]

    private init(
        _ transfer: TransferID, _ store: KeptStream, source: TransferSource?, isSpooled: Bool, isWanted: Bool
    ) {
        self.transfer = transfer
        self.store = store
        self.source = source
        self.isSpooled = isSpooled
        self.isWanted = isWanted
        ledger = PieceLedger(length: store.length)
        own = OwnLedgers(first: ledger)
    }

    /// An own transfer.
    convenience init(_ transfer: TransferID, source: TransferSource) {
        self.init(
            transfer, KeptStream(length: source.length, source), source: source, isSpooled: false, isWanted: false)
    }

    /// One of somebody else, received to be kept or to be passed on.
    convenience init(_ transfer: TransferID, length: UInt64, isSpooled: Bool) {
        self.init(transfer, KeptStream(length: length), source: nil, isSpooled: isSpooled, isWanted: !isSpooled)
    }

    /// What was to be kept as files is only passed on now; false when something has come already.
    ///
    /// Who waits for pieces goes on waiting for the same ones.
    func passOnOnly() -> Bool {
        guard source == nil, !isSpooled, landing == nil, receiving == nil,
            ledger.state.read({ $0.hashes.isEmpty && $0.failure == nil })
        else { return false }
        isSpooled = true
        isWanted = false
        return true
    }

    /// Bytes that will still be written for it.
    var promised: UInt64 {
        let landing: UInt64 =
            switch (landing, isWanted) {
            case (let landing?, _): landing.length - min(landing.received, landing.length)
            case (nil, true): ledger.length
            case (nil, false): 0
            }
        guard isSpooled else { return landing }
        let spooled = ledger.state.read { $0.count } &* UInt64(Limits.pieceSize)
        return landing &+ ledger.length - min(spooled, ledger.length)
    }

    /// A neighbour asks anew: what it asked for before is not served any more.
    func stopSending(to peer: PeerID) {
        sending[peer]?.cancel()
        waiting[peer] = nil
    }

    /// Starts a thread for a neighbour, or has it wait until the former one has ended: one that asks again and again has one.
    func send(to peer: PeerID, _ start: @escaping (Pump) -> Void) {
        stopSending(to: peer)
        guard sending[peer] == nil else { return waiting[peer] = start }
        let pump = Pump()
        sending[peer] = pump
        start(pump)
    }

    /// A thread has ended.
    func sent(to peer: PeerID, by pump: Pump) {
        guard sending[peer] === pump else { return }
        sending[peer] = nil
        if let start = waiting.removeValue(forKey: peer) { send(to: peer, start) }
    }

    /// Nothing more is received or served; who waits for a piece hears why.
    func end(_ reason: TransferReason) {
        for ledger in [ledger] + own.all { ledger.fail(reason) }
        receiving?.cancel()
        for pump in sending.values { pump.cancel() }
        sending = [:]
        waiting = [:]
    }
}

/// One try to receive a transfer.
final class Attempt: Sendable {
    private let state = Monitor((isContinuable: true, isOver: false))

    /// Whether what has arrived may be continued another time, should this attempt end.
    var isContinuable: Bool { state.read { $0.isContinuable } }

    func forbidContinuing() { state.update { $0.isContinuable = false } }

    /// Nothing more is written or removed.
    func end() { state.update { $0.isOver = true } }

    func waitForEnd(seconds: Double) { _ = state.wait(seconds: seconds) { $0.isOver ? true : nil } }
}

/// The bytes of a transfer from wherever they are kept, which is known a moment after the transfer is.
final class KeptStream: PieceReading {
    let length: UInt64
    private let place: Mutex<(any PieceReading)?>

    init(length: UInt64, _ place: (any PieceReading)? = nil) {
        self.length = length
        self.place = Mutex(place)
    }

    var current: (any PieceReading)? { place.withLock { $0 } }

    func keep(in place: any PieceReading) { self.place.withLock { $0 = place } }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        guard let place = current else { throw .unreadable("Nothing has arrived yet.") }
        try place.read(at: offset, into: buffer)
    }
}
