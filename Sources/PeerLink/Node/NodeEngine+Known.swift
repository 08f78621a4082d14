internal import PeerDiscovery
package import PeerModel
internal import PeerProtocol

/// Whom the user knows.
extension NodeEngine {
    /// Takes what the user knows and thinks of others now; the list of peers says so at once.
    package func know(_ acquaintances: Acquaintances) {
        guard !isStopped else { return }
        machine.know(acquaintances, at: moment)
        for event in directory.know(acquaintances) { emit(event) }
        discovery?.know(acquaintances.ids)
        carryOutEffects()
    }
}
