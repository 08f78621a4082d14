package import PeerModel

/// What the machine makes of whom its user knows.
extension NodeMachine {
    /// Takes what the user knows and thinks of others now; who is blocked is no longer asked about.
    package mutating func know(_ acquaintances: Acquaintances, at moment: Moment) {
        settings.acquaintances = acquaintances
        for question in questions + held where acquaintances.isBlocked(question.from.peer.id) {
            held.removeAll { $0.connection == question.connection }
            answer(question, .declined, at: moment)
            if question.number != 0 {
                effects.append(.emit(.inviteWithdrawn(number: question.number, reason: "withdrawn")))
            }
        }
    }

    /// A name that somebody known holds is called out where another key proves itself under it.
    func namesakeWarnings(after event: NodeEvent) -> [Effect] {
        let arrived: [Peer] =
            switch event {
            case .inviteReceived(_, let from, _, _, _): [from]
            case .chatStarted(_, _, let host, let members, _): [host] + members
            case .memberJoined(_, let member): [member]
            default: []
            }
        return arrived.compactMap { peer in
            guard peer.id != me.peer.id, settings.acquaintances.standing(of: peer) == .otherKey else { return nil }
            let known = settings.acquaintances.namesakes(of: peer).map(\.id.short).joined(separator: ", ")
            let text = "It bears the name of a peer you know, \(known), but it has another key."
            return .emit(.warning(code: .otherKey, peer: peer, message: text))
        }
    }
}
