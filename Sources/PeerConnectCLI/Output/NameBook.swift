internal import PeerModel

/// Tells peers apart when they are shown: by name, and by short ID too where two have borne the name in this run.
struct NameBook {
    private var holders: [String: Set<PeerID>] = [:]

    mutating func note(_ peer: Peer) {
        // A stranger may come under ever new names: the book is as long as the list of peers.
        let key = peer.name.lowercased()
        guard holders.count < Limits.listedPeers || holders[key] != nil else { return }
        holders[key, default: []].insert(peer.id)
    }

    /// The name, with the short ID when it alone does not say who.
    func shown(_ peer: Peer) -> String {
        let key = peer.name.lowercased(), holders = holders[key] ?? []
        return holders.subtracting([peer.id]).isEmpty && key != "you" ? Self.clean(peer.name) : Self.withID(peer)
    }

    /// The name with the short ID, where a person decides about someone.
    static func withID(_ peer: Peer) -> String { "\(clean(peer.name)) (\(peer.id.short))" }

    /// The name as it stands in a sentence.
    static func clean(_ name: String) -> String { SafeText.name(name) }
}
