/// The commands as calls: each does what `perform` does with the command of its name, and throws what its reply names.
extension Node {
    /// Invites all of these into a new chat, or into the one this peer hosts; the chat starts when all have answered.
    ///
    /// - Throws: `no-such-peer`, `ambiguous`, `too-many`, or `busy` in somebody else's chat.
    public func invite(_ peers: [PeerReference]) async throws(PeerConnectError) { try await ask(.invite(peers)) }

    /// Starts the chat now, with those who have accepted.
    public func startChat() async throws(PeerConnectError) { try await ask(.start) }

    /// Accepts an open invitation or offer; without a name the only one there is.
    public func accept(_ item: ItemReference? = nil) async throws(PeerConnectError) { try await ask(.accept(item)) }

    /// Declines an open invitation or offer; without a name the only one there is.
    public func decline(_ item: ItemReference? = nil) async throws(PeerConnectError) { try await ask(.decline(item)) }

    /// Says something to everyone in the chat: 1 byte to 16 KiB.
    ///
    /// - Returns: The number that comes back as `ref` in the line's own events.
    /// - Throws: `no-chat`, `too-long`.
    @discardableResult
    public func say(_ text: String) async throws(PeerConnectError) -> Int {
        guard case .message(let ref) = try await ask(.say(text)) else { return 0 }
        return ref
    }

    /// Offers files and folders to these members of the chat, or to all.
    ///
    /// - Returns: The transfer that its events name.
    /// - Throws: `no-chat`, `no-such-file`, `unreadable`, `too-many`, `too-long`.
    @discardableResult
    public func send(_ paths: [String], to peers: [PeerReference] = []) async throws(PeerConnectError) -> TransferID? {
        guard case .offered(let transfer) = try await ask(.send(paths: paths, to: peers)) else { return nil }
        return transfer
    }

    /// Stops a transfer: for all if it is an own one, else for this peer.
    public func cancel(_ item: ItemReference? = nil) async throws(PeerConnectError) { try await ask(.cancel(item)) }

    /// Leaves the chat as a member; `usage` for its host, who can only end it.
    public func leave() async throws(PeerConnectError) { try await ask(.leave) }

    /// Ends the chat for all as its host, or takes open invitations back.
    public func endChat() async throws(PeerConnectError) { try await ask(.end) }

    @discardableResult
    private func ask(_ command: NodeCommand) async throws(PeerConnectError) -> Reply {
        let reply = await perform(command)
        if case .failed(let error) = reply { throw error }
        return reply
    }
}
