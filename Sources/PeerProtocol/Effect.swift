package import PeerModel
package import PeerWire

/// What the caller of a machine has to do, in this order.
package enum Effect: Sendable {
    /// Reach a peer; answered by `opened` or `dialFailed` of the node machine.
    case dial(DialID, DialTarget)
    /// Stop trying; a connection that opens all the same is closed.
    case abandon(DialID)
    case send(ConnectionID, ControlMessage)
    /// Close once everything sent before has gone out.
    case close(ConnectionID)
    case emit(NodeEvent)
    case transfer(TransferOrder)
}

/// Whom to reach.
package enum DialTarget: Hashable, Sendable {
    /// A peer by its ID, at these addresses or where discovery sees it.
    case peer(PeerID, addresses: [PeerAddress])
    /// An address as typed; the peer there is whoever proves a key, or must be the expected one.
    case address(TypedAddress, expected: PeerID?)
}

/// Why a peer was not reached.
package struct DialFailure: Hashable, Sendable {
    package let answer: Answer
    /// One sentence: what was tried and why each failed.
    package let reason: String

    package init(_ answer: Answer, _ reason: String) {
        self.answer = answer
        self.reason = reason
    }
}

/// What the file side has to do; it reports back with `TransferNews`.
package enum TransferOrder: Sendable {
    /// Receive for this peer: land the files.
    case receive(TransferID, OfferBody, chat: ChatID, from: RemoteSource)
    /// Keep the bytes only to pass them on.
    case relay(TransferID, OfferBody, chat: ChatID, from: RemoteSource)
    /// A neighbour asks for bytes.
    case serve(Get, to: ConnectionID)
    /// The host cannot give the bytes any more: the own receiving fails.
    case sourceLost(TransferID, TransferReason)
    /// This peer's own receiving is over without success: remove what has arrived, unless it may be continued another time.
    case abandon(TransferID, isContinuable: Bool)
    /// No recipient is left: close everything and remove the spool.
    case finished(TransferID)
}

/// Where the bytes of a transfer come from.
package struct RemoteSource: Sendable {
    /// The neighbour: the host for a member, the sender for a host; `nil` when it has gone and all is here already.
    package let connection: ConnectionID?
    /// The key that must have signed the pieces, SubjectPublicKeyInfo.
    package let key: [UInt8]
    /// Who sends, for paths and messages.
    package let sender: Peer
}

/// What the file side reports.
package enum TransferNews: Sendable {
    /// The own receiving ended, well or not.
    case received(TransferID, TransferStatus, TransferReason?)
    /// The own receiving failed before it began: nothing is kept here.
    case notBegun(TransferID, TransferReason)
    /// The host now keeps all bytes: the sender is no longer needed.
    case stored(TransferID)
    /// The bytes cannot be had or served any more.
    case sourceFailed(TransferID, TransferReason)
    /// So many bytes have arrived and were checked here.
    case progress(TransferID, UInt64)
    /// So many bytes are here from an earlier attempt; those behind them are asked for.
    case continues(TransferID, UInt64)
}
