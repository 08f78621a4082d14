internal import PeerConnect
internal import PeerModel
internal import PeerStore

/// What a user may do about a known peer; the words are those of `peerconnect peers` and of the prompt.
enum KnownChange: String, CaseIterable, Sendable {
    case trust, untrust, block, unblock, forget

    /// Changes one peer; gives whom the user knows then.
    ///
    /// The name is for one that is not on the list yet.
    func apply(
        to id: PeerID, named name: String, in records: Records
    ) async throws(PeerConnectError) -> Acquaintances {
        guard let known = records.knownPeers else { throw Self.unknown(id) }
        let after = try await onThread { () throws(StoreError) -> Acquaintances? in
            let trust = try known.peer(id)?.trust
            switch self {
            case .trust: try known.set(.trusted, for: id, name: name)
            case .block: try known.set(.blocked, for: id, name: name)
            case .untrust, .unblock, .forget:
                guard let trust else { return nil }
                // Who is no longer trusted is not unblocked by that, nor the other way round.
                if self == .forget {
                    try known.forget(id)
                } else if trust == (self == .untrust ? .trusted : .blocked) {
                    try known.set(.neutral, for: id, name: name)
                }
            }
            return Acquaintances(try known.list())
        }
        guard let after else { throw Self.unknown(id) }
        return after
    }

    private static func unknown(_ id: PeerID) -> PeerConnectError {
        PeerConnectError(.noSuchPeer, "\(id.short) is not known.", hint: "peerconnect peers shows who is.")
    }

    /// What the prompt says when it is done.
    func sentence(_ peer: String, wasBlocked: Bool) -> String {
        switch self {
        case .trust: "\(peer) is trusted\(wasBlocked ? ", and no longer blocked" : "")."
        case .untrust: "\(peer) is not trusted."
        case .block: "\(peer) is blocked; whatever it wants is declined."
        case .unblock: "\(peer) is not blocked."
        case .forget: "\(peer) is forgotten."
        }
    }
}
