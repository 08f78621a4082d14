internal import PeerConnect
internal import PeerModel
internal import PeerStore

/// What a line at the prompt asks of the history and of the known peers.
enum RecordRequest: Sendable {
    /// Without a text the course of the chat this peer is in.
    case history(matching: String)
    case files(matching: String)
    case change(KnownChange, PeerReference)
}

extension ChatLoop {
    /// At the prompt the newest so many are shown; `peerconnect history` shows all.
    private static let shownAtMost = 50

    func take(_ request: RecordRequest, number: Int) async {
        await session.settleRecords()
        do {
            switch request {
            case .history(let text): try await showHistory(matching: text, number)
            case .files(let text): try await showFiles(matching: text, number)
            case .change(let change, let reference): try await apply(change, to: reference, number)
            }
        } catch let error as PeerConnectError {
            teller.refuse(number, error)
        } catch {
            teller.refuse(
                number,
                PeerConnectError(
                    .internal, "That failed.", hint: "Try it again; a run with --verbose says the cause.", cause: error)
            )
        }
    }

    private func showHistory(matching text: String, _ number: Int) async throws {
        let history = try history(), own = session.me.id
        var messages: [MessageRecord] = []
        if text.isEmpty {
            guard let chat = teller.current(in: await session.snapshot())?.id else {
                let none = PeerConnectError(
                    .noChat, "There is no chat.", hint: "/history TEXT searches; peerconnect history lists all chats.")
                throw teller.book.chats.isEmpty ? none : teller.inNoChat
            }
            messages = try await onThread { () throws(StoreError) in
                guard let record = try history.chat(chat.description, own: own) else { return [] }
                return try history.entries(of: record).compactMap { entry in
                    if case .message(let message) = entry.kind { message } else { nil }
                }.suffix(Self.shownAtMost)
            }
        } else {
            messages = try await onThread { () throws(StoreError) in
                try history.messages(matching: text, own: own, limit: Self.shownAtMost).reversed()
            }
        }
        let fields = messages.map { JSONValue.object(HistoryRows.json($0)) }
        teller.answer(
            number, [("history", .array(fields))],
            messages.isEmpty ? ["Nothing is found."] : messages.map { HistoryRows.line($0, run.world.localOffset) })
    }

    private func showFiles(matching text: String, _ number: Int) async throws {
        let history = try history(), own = session.me.id
        let files = try await onThread { () throws(StoreError) in
            try history.files(matching: text, own: own, limit: Self.shownAtMost)
        }
        let fields = files.map { JSONValue.object(HistoryRows.json($0)) }
        teller.answer(
            number, [("files", .array(fields))],
            files.isEmpty ? ["Nothing is found."] : files.map { HistoryRows.sentence($0, run.world.localOffset) })
    }

    private func history() throws(PeerConnectError) -> History {
        guard let history = session.records.history else {
            throw PeerConnectError(.usage, "No history is kept in this run.", hint: "It was started with --no-history.")
        }
        return history
    }

    private func apply(_ change: KnownChange, to reference: PeerReference, _ number: Int) async throws {
        let (id, peer) = try await Self.whom(reference, in: session)
        let wasBlocked = try await session.records.acquaintances().peer(id)?.trust == .blocked
        await session.know(try await change.apply(to: id, named: peer.name, in: session.records))
        let shown = peer.name.isEmpty ? id.short : NameBook.withID(peer)
        var sentences = [change.sentence(shown, wasBlocked: wasBlocked)]
        if change == .block {
            if let chat = teller.current(in: await session.snapshot()),
                ([chat.host] + chat.members).contains(where: { $0.id == id })
            {
                let way = chat.role == .host ? "/end ends" : "/leave leaves"
                sentences.append("What it says in this chat is still shown; \(way) the chat.")
            } else if let chat = teller.book.chats.first(where: { $0.everyone.contains { $0.id == id } }) {
                sentences.append("What it says in chat \(chat.number) is still kept for you there.")
            }
        }
        teller.answer(number, [("peer", peer.json)], sentences)
    }

    /// The peer meant, with its name as far as anyone here has heard of it.
    static func whom(
        _ reference: PeerReference, in session: any NodeSession
    ) async throws(PeerConnectError) -> (id: PeerID, peer: Peer) {
        guard let id = try await session.resolve(reference) else {
            throw PeerConnectError(
                .noSuchPeer, "\(reference.text) is an address, not a peer.", hint: "/peers shows names and IDs.")
        }
        guard id != session.me.id else {
            throw PeerConnectError(.noSuchPeer, "That is this peer itself.", hint: "/peers lists the others.")
        }
        let snapshot = await session.snapshot(), known = try await session.records.acquaintances()
        let seen = snapshot.peers.map(\.peer) + snapshot.chats.flatMap { [$0.host] + $0.members }
        return (id, known.peer(id)?.peer ?? seen.first { $0.id == id } ?? Peer(id: id, name: ""))
    }
}
