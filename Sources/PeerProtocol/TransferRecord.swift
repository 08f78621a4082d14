package import PeerModel
package import PeerWire

/// One offer and what became of it for each recipient; the same at everyone in the chat.
package struct TransferRecord: Sendable {
    package enum Standing: Equatable, Sendable {
        case open
        case accepted
        case ended(TransferStatus, TransferReason?)
    }

    package let offer: FileOffer
    package let body: OfferBody
    /// SubjectPublicKeyInfo of the sender, who signed the offer and signs the pieces.
    package let senderKey: [UInt8]
    /// Whether it refers to an event before this peer was in: it may be an old offer, shown again.
    let isEarlier: Bool
    package private(set) var standings: [PeerID: Standing]
    /// At the host: all bytes are kept here, the sender may go.
    package var isStored = false
    /// At the host: bytes have been asked for.
    package var isFetched = false
    /// At a recipient: what it has answered, which the host shows to all.
    var answer: Bool?
    /// At a recipient: how its receiving went, as it has told the host.
    var reported: TransferStatus?
    /// For each recipient whose progress is told here.
    private var meters: [PeerID: RateMeter] = [:]

    package init(offer: FileOffer, body: OfferBody, senderKey: [UInt8], isEarlier: Bool = false) {
        self.offer = offer
        self.body = body
        self.senderKey = senderKey
        self.isEarlier = isEarlier
        standings = Dictionary(uniqueKeysWithValues: offer.to.map { ($0.id, .open) })
    }

    package var isDone: Bool {
        standings.values.allSatisfy { if case .ended = $0 { true } else { false } }
    }

    package var unfinished: [PeerID] {
        offer.to.map(\.id).filter { if case .ended = standings[$0] { false } else { true } }
    }

    package func standing(of id: PeerID) -> Standing? { standings[id] }

    func isFor(_ id: PeerID) -> Bool { standings[id] != nil }

    package mutating func set(_ id: PeerID, _ standing: Standing) {
        guard standings[id] != nil else { return }
        standings[id] = standing
    }

    /// Whether this answer, as the host shows it, follows on what is known of this recipient.
    func isUndecided(for id: PeerID, _ accepted: Bool) -> Bool {
        switch standings[id] {
        case .open: true
        case .ended(.declined, _): accepted && !isDone
        default: false
        }
    }

    /// Whether an answer of this recipient would change anything: a declined offer can still be accepted until it is done.
    func mayAnswer(_ accepted: Bool, of id: PeerID) -> Bool {
        guard !isDone else { return false }
        return switch standings[id] {
        case .open: answer == nil
        case .ended(.declined, _): accepted && answer != true
        default: false
        }
    }

    package var results: [TransferResult] {
        offer.to.compactMap { peer in
            guard case .ended(let status, let reason) = standings[peer.id] else { return nil }
            return TransferResult(peer: peer, status: status, reason: reason)
        }
    }

    /// Bytes of the stream: the manifest and all files.
    package var streamLength: UInt64 { body.manifestLength &+ body.size }

    /// The event that `id` has so many bytes, when it is time for one; `peer` is named when it is somebody else.
    ///
    /// Where an earlier attempt `continues`, these bytes were there before.
    mutating func progress(
        _ bytes: UInt64, of id: PeerID, named peer: Peer?, continues: Bool = false, at now: Instant
    ) -> [Effect] {
        // Of the stream's bytes the list of files, which comes first, is nobody's business.
        let bytes = min(bytes, streamLength), payload = bytes - min(bytes, body.manifestLength)
        guard standings[id] != nil, payload > 0,
            let rate = meters[id, default: RateMeter()].note(payload, of: body.size, at: now)
        else { return [] }
        let progress = FileProgress(
            transfer: offer.transfer, recipient: peer, bytes: payload, size: body.size, rate: rate,
            from: continues ? payload : nil)
        return [.emit(.fileProgress(progress))]
    }
}
