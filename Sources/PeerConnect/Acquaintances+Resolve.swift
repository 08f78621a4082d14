package import PeerModel
internal import PeerProtocol

extension Acquaintances {
    /// The peer meant: a full ID, also of one that is not known; the start of the ID or the name of one that is.
    ///
    /// - Throws: `ambiguous` with the candidates, `no-such-peer`.
    package func resolve(_ reference: PeerReference) throws(PeerConnectError) -> PeerID {
        var directory = PeerDirectory()
        _ = directory.know(self)
        let found: ResolvedPeer?
        do throws(PeerConnectError) {
            found = try directory.resolve(reference, allowNumbers: false)
        } catch {
            guard error.code == .noSuchPeer else { throw error }
            found = nil
        }
        guard case .peer(let id, _)? = found else {
            throw PeerConnectError(
                .noSuchPeer, "No peer “\(reference.text)” is known.", hint: "peerconnect peers shows who is.")
        }
        return id
    }
}
