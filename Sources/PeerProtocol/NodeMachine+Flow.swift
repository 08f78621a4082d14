package import PeerModel

/// Which connections depend on each other, for whoever has to slow them down.
extension NodeMachine {
    /// The connections of a chat this peer is in.
    package func connections(of chat: ChatID) -> [ConnectionID] {
        switch slots[chat] {
        case .hosting(let chat, _): Array(chat.connections.values)
        case .member(let chat): [chat.connection]
        case .inviting, .joining, nil: []
        }
    }

    /// Whether an own line may be said in this chat before others have arrived.
    package func hasRoom(in chat: ChatID) -> Bool {
        switch slots[chat] {
        case .hosting(let chat, _): chat.hasRoom
        case .member(let chat): chat.hasRoom
        case .inviting, .joining, nil: true
        }
    }

    /// Those of all chats.
    package var chatConnections: [ConnectionID] { slots.keys.flatMap(connections(of:)) }

    /// The connections of the chat that is hosted on this one: what any of them says is passed on to it.
    package func audience(around connection: ConnectionID) -> [ConnectionID] {
        for case .hosting(let chat, _) in slots.values where chat.connections.values.contains(connection) {
            return Array(chat.connections.values)
        }
        return []
    }
}
