internal import PeerModel

/// The events of a node, each under the name and with the fields that scripts rely on.
extension JSONEvent {
    init(_ event: NodeEvent) {
        switch event {
        case .discovery, .peerFound, .peerUpdated, .peerLost: self = Self.discovery(event)
        case .inviteReceived, .inviteWithdrawn, .inviteRefused, .inviteAnswered, .inviteDone: self = Self.invite(event)
        case .chatStarted, .memberJoined, .memberLeft, .chatEnded: self = Self.chat(event)
        case .message, .messageDelivered, .messageFailed: self = Self.message(event)
        case .fileSkipped(let transfer, let entries, let count):
            self.init(
                "file.skipped",
                [
                    ("transfer", .string(transfer.description)), ("skipped", .array(entries.map { .string($0) })),
                    ("count", .int(Int64(count))),
                ])
        case .fileOffered, .fileAnswered, .fileProgress, .fileReceived, .fileDelivered, .fileDone:
            self = Self.file(event)
        case .warning(let code, let peer, let message):
            self.init(
                "warning", [("code", .string(code.rawValue)), ("peer", peer.json), ("message", .string(message))])
        case .failure(let error): self = .error(error)
        case .reply(let line, .done), .reply(let line, .joining): self = .reply(line: line)
        case .reply(let line, .message(let ref)): self = .reply(line: line, extra: [("ref", .int(Int64(ref)))])
        case .reply(let line, .offered(let transfer)):
            self = .reply(line: line, extra: [("transfer", .string(transfer.description))])
        case .reply(let line, .failed(let error)): self = .reply(line: line, error: error)
        }
    }
}
