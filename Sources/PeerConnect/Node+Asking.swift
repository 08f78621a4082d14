/// The commands as calls: each does what `perform` does with the command of its name, and throws what its reply names.
///
/// A chat need be named only in a node that may be in several (`NodeSettings.maximumChats`); `ambiguous` says so.
extension Node {
    /// Invites all of these into the named chat, if this peer hosts it, else into a new one.
    ///
    /// A new one starts when all have answered; until then more can be invited into it. A node that may be in one chat
    /// only (`NodeSettings.maximumChats`) invites into that one.
    ///
    /// - Throws: `no-such-peer`, `ambiguous`, `too-many`, or `busy` in somebody else's chat.
    public func invite(_ peers: [PeerReference], into chat: ChatID? = nil) async throws(PeerConnectError) {
        try await ask(.invite(peers), in: chat)
    }

    /// Starts the chat now, with those who have accepted.
    public func startChat() async throws(PeerConnectError) { try await ask(.start) }

    /// Accepts an open invitation or offer; without a name the only one there is.
    public func accept(_ item: ItemReference? = nil) async throws(PeerConnectError) { try await ask(.accept(item)) }

    /// Declines an open invitation or offer; without a name the only one there is.
    public func decline(_ item: ItemReference? = nil) async throws(PeerConnectError) { try await ask(.decline(item)) }

    /// Says something to everyone in the chat: 1 byte to 16 KiB.
    ///
    /// - Returns: The number that comes back as `ref` in the line's own events.
    /// - Throws: `no-chat`, `ambiguous`, `too-long`.
    @discardableResult
    public func say(_ text: String, in chat: ChatID? = nil) async throws(PeerConnectError) -> Int {
        guard case .message(let ref) = try await ask(.say(text), in: chat) else { return 0 }
        return ref
    }

    /// Offers files and folders to these members of the chat, or to all.
    ///
    /// - Returns: The transfer that its events name.
    /// - Throws: `no-chat`, `ambiguous`, `no-such-file`, `unreadable`, `too-many`, `too-long`.
    @discardableResult
    public func send(
        _ paths: [String], to peers: [PeerReference] = [], in chat: ChatID? = nil
    ) async throws(PeerConnectError) -> TransferID? {
        guard case .offered(let transfer) = try await ask(.send(paths: paths, to: peers), in: chat) else { return nil }
        return transfer
    }

    /// Stops a transfer: for all if it is an own one, else for this peer.
    public func cancel(_ item: ItemReference? = nil) async throws(PeerConnectError) { try await ask(.cancel(item)) }

    /// Leaves the chat as a member; `usage` for its host, who can only end it.
    ///
    /// Without a named chat it takes back an acceptance, if one waits for its chat.
    public func leave(_ chat: ChatID? = nil) async throws(PeerConnectError) { try await ask(.leave, in: chat) }

    /// Ends the chat for all as its host; as a member, or without a named chat, it takes back open invitations.
    public func endChat(_ chat: ChatID? = nil) async throws(PeerConnectError) { try await ask(.end, in: chat) }

    /// Takes back invitations and acceptances of chats that have not started.
    public func giveUp() async throws(PeerConnectError) { try await ask(.giveUp) }

    @discardableResult
    private func ask(_ command: NodeCommand, in chat: ChatID? = nil) async throws(PeerConnectError) -> Reply {
        let reply = await perform(command, in: chat)
        if case .failed(let error) = reply { throw error }
        return reply
    }
}
