package import PeerModel
internal import PeerWire

/// What is true at the moment, for lists and for what is checked before a command.
extension NodeMachine {
    /// Everyone in the chat, the host first.
    package func everyone(in chat: ChatID) -> [Peer] { view(of: chat).map { [$0.host] + $0.members } ?? [] }

    /// Who would get an offer made now: these, or all others in the chat.
    package func recipients(_ wanted: [PeerID], in chat: ChatID) -> Result<[PeerID], PeerConnectError> {
        let present = everyone(in: chat).map(\.id).filter { $0 != me.peer.id }
        if let stranger = wanted.first(where: { !present.contains($0) }) {
            return .failure(
                PeerConnectError(.noSuchPeer, "\(stranger.short) is not in this chat.", hint: "/who lists who is."))
        }
        return .success((wanted.isEmpty ? present : wanted).sorted())
    }

    package func snapshot() -> NodeSnapshot {
        var snapshot = NodeSnapshot()
        snapshot.chats = chats.compactMap(view(of:)).map { ($0.chat, $0.isHost ? .host : .member, $0.host, $0.members) }
        snapshot.transfers = records().map(\.1).sorted { $0.offer.number < $1.offer.number }.map { record in
            TransferState(
                offer: record.offer, isOpen: record.standing(of: me.peer.id) == .open, isRunning: !record.isDone,
                results: record.results)
        }
        snapshot.invitations = questions.map { question in
            let from = question.from.peer
            return (
                question.number, from, question.invite.purpose, question.invite.offer,
                settings.acquaintances.standing(of: from)
            )
        }
        return snapshot
    }
}
