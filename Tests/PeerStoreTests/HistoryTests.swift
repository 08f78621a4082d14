import PeerModel
import Testing

@testable import PeerStore

@Suite struct HistoryTests {
    private let folder: TemporaryFolder
    private let history: History
    private let chat = chatID(1)

    init() throws {
        folder = try TemporaryFolder()
        history = try makeHistory(folder)
    }

    private func theChat() throws -> ChatRecord { try #require(try history.chats().first) }

    private func kinds() throws -> [HistoryEntry.Kind] { try history.entries(of: theChat()).map(\.kind) }

    @Test("A chat is kept with its people, times and end")
    func chats() throws {
        try history.record(
            started(chat), .memberLeft(chat: chat, member: eve, reason: .timedOut), line(chat, 4, "hi"),
            .chatEnded(chat: chat, reason: .hostLost, cause: .crashed))
        let other = try #require(try History.open(in: folder.path, creating: false))
        #expect(
            try other.chats() == [
                ChatRecord(
                    id: chat, own: ada.id, role: .host, host: ada,
                    members: [
                        ChatRecord.Member(peer: bob, joined: 1000, left: nil, reason: nil),
                        ChatRecord.Member(peer: eve, joined: 1000, left: 1001, reason: .timedOut),
                    ],
                    started: 1000, ended: 1003, endReason: .hostLost, endCause: .crashed, lastActivity: 1003,
                    messages: 1,
                    files: 0)
            ])
    }

    @Test("A chat whose program was killed has no end, but what was said in it")
    func unfinished() throws {
        try history.record(started(chat), line(chat, 4, "hi"))
        let record = try theChat()
        #expect(record.ended == nil && record.endReason == nil && record.lastActivity == 1001)
    }

    @Test("Lines come back in their order, to the byte")
    func messages() throws {
        let texts = [
            "hi", "a\0b", "e\u{301}", "é", "  two\nlines \r\n", "\u{202E}evil", "👩‍👧",
            String(repeating: "x", count: 16 << 10),
        ]
        try history.record(started(chat))
        for (seq, text) in zip(UInt64(3)..., texts) {
            try history.record(line(chat, seq, text, from: seq % 2 == 0 ? ada : eve, sent: -7), by: ada, at: 2000)
        }
        try history.record(line(chat, .max, "last"), by: ada, at: .max)
        var seq: UInt64 = 3
        for (entry, text) in zip(try history.entries(of: theChat()), texts) {
            guard case .message(let message) = entry.kind else { throw Failure("no message: \(entry)") }
            #expect(Array(message.text.utf8) == Array(text.utf8))
            #expect(message.seq == seq && message.sent == -7 && message.recorded == 2000 && message.chat == chat)
            #expect(message.from == (seq % 2 == 0 ? ada : eve) && message.isMine == (seq % 2 == 0))
            seq += 1
        }
        #expect(try history.messages(matching: "last").map(\.seq) == [.max])
    }

    @Test("What was said before this peer came is kept as such, and makes nobody a member who had left by then")
    func earlier() throws {
        let finn = Peer(id: peerID(4), name: "Finn")
        func early(_ seq: UInt64, _ from: Peer) -> NodeEvent {
            .message(
                ChatMessage(
                    chat: chat, seq: seq, from: from, text: "early \(seq)", sent: 5, isEarlier: true, ref: nil,
                    line: nil))
        }
        try history.record(started(chat), early(2, finn), early(3, bob), line(chat, 7, "late"))
        let found = try history.messages(matching: "l")
        #expect(found.map(\.text) == ["late", "early 3", "early 2"])
        #expect(found.map(\.isEarlier) == [false, true, true] && found.map(\.from) == [bob, bob, finn])
        #expect(try theChat().members.map(\.peer) == [bob, eve])
        // Told again after a rejoin it stays one line.
        try history.record(early(2, finn))
        #expect(try theChat().messages == 3)
        try history.record(.memberJoined(chat: chat, member: finn))
        #expect(try theChat().members.map(\.peer) == [bob, eve, finn])
        #expect(try kinds().last == .joined(finn))
    }

    @Test("The course of a chat shows everything at its place")
    func course() throws {
        let transfer = transferID(7), finn = Peer(id: peerID(4), name: "Finn")
        try history.record(
            started(chat), line(chat, 2, "one"), .memberJoined(chat: chat, member: finn), offer(transfer, "photo.jpg"),
            line(chat, 5, "two"), .fileAnswered(transfer: transfer, peer: eve, accepted: false, automatic: true),
            .fileAnswered(transfer: transfer, peer: ada, accepted: true, automatic: false),
            received(transfer, ["/home/ada/photo.jpg"]),
            .fileDelivered(transfer: transfer, result: TransferResult(peer: ada, status: .verified)),
            .memberLeft(chat: chat, member: finn, reason: .crashed),
            .fileDone(
                transfer: transfer,
                results: [
                    TransferResult(peer: ada, status: .verified),
                    TransferResult(peer: eve, status: .failed, reason: .diskFull),
                ], line: nil),
            .chatEnded(chat: chat, reason: .ended, cause: nil))
        let file = FileRecord(
            chat: chat, own: ada.id, transfer: transfer, from: bob,
            summary: OfferSummary(name: "photo.jpg", size: 7, files: 2), offered: 1003,
            recipients: [
                FileRecord.Recipient(peer: ada, accepted: true, result: TransferResult(peer: ada, status: .verified)),
                FileRecord.Recipient(
                    peer: eve, accepted: false, result: TransferResult(peer: eve, status: .failed, reason: .diskFull)),
            ], received: 1007, paths: ["/home/ada/photo.jpg"], pathCount: 1)
        let entries = try history.entries(of: theChat())
        var kinds = entries.map(\.kind)
        guard case .message(let one) = kinds.removeFirst(), case .message(let two) = kinds.remove(at: 2) else {
            throw Failure("\(kinds)")
        }
        #expect(one.text == "one" && two.text == "two")
        #expect(
            kinds == [.joined(finn), .offered(file), .received(file), .left(finn, .crashed), .finished(file)])
        #expect(entries.map(\.at) == [1001, 1002, 1003, 1004, 1007, 1009, 1010])
        #expect(try history.files() == [file])
        // Page by page it is the same.
        var pages: [HistoryEntry] = []
        while case let page = try history.entries(of: theChat(), after: pages.last?.position ?? 0, limit: 2),
            !page.isEmpty
        {
            pages += page
        }
        #expect(pages == entries)
    }

    @Test("Events told twice change nothing")
    func twice() throws {
        let transfer = transferID(7)
        let events: [NodeEvent] = [
            started(chat), line(chat, 2, "one"), .memberLeft(chat: chat, member: eve, reason: .left),
            offer(transfer, "photo.jpg"), received(transfer, ["/a", "/b"]),
            .fileDone(transfer: transfer, results: [TransferResult(peer: ada, status: .verified)], line: nil),
        ]
        for event in events { try history.record(event, by: ada, at: 5) }
        let before = try history.entries(of: theChat()), chats = try history.chats()
        for event in events.dropFirst() { try history.record(event, by: ada, at: 6) }
        #expect(try history.entries(of: theChat()).map(\.position) == before.map(\.position))
        #expect(try history.chats().map(\.members) == chats.map(\.members))
    }

    @Test("What is no history is not kept")
    func ignored() throws {
        try history.record(
            .discovery(backend: "daemon", state: .up, reason: nil), .inviteWithdrawn(number: 1, reason: "timeout"),
            .inviteRefused(from: bob, answer: .busy), .messageFailed(chat: chat, ref: 1, reason: "", line: nil),
            .reply(line: 1, .done), .failure(PeerConnectError(.internal, "")), line(chat, 1, "in no chat"),
            .memberJoined(chat: chat, member: bob), .chatEnded(chat: chat, reason: .ended, cause: nil),
            offer(transferID(1), "in no chat"), received(transferID(1), ["/a"]))
        #expect(try history.chats() == [] && history.files() == [])
    }

    @Test("A chat that is joined again is the same chat, running again")
    func rejoined() throws {
        try history.record(
            started(chat), .memberLeft(chat: chat, member: eve, reason: .left),
            .chatEnded(chat: chat, reason: .kicked, cause: nil), started(chat), line(chat, 8, "again"))
        let record = try theChat()
        #expect(record.started == 1000 && record.ended == nil && record.endReason == nil)
        #expect(record.members.map(\.left) == [nil, nil])
        #expect(try history.chats().count == 1)
    }

    @Test("Someone who has left is not brought back by a late line or answer")
    func late() throws {
        let transfer = transferID(1)
        try history.record(
            started(chat), offer(transfer, "a"), .memberLeft(chat: chat, member: eve, reason: .left),
            line(chat, 5, "said before", from: eve),
            .fileDelivered(transfer: transfer, result: TransferResult(peer: eve, status: .failed, reason: .left)))
        #expect(try theChat().members.map(\.reason) == [nil, .left])
    }

    @Test("Of several chats that run, an offer is kept in the one it was made in")
    func offersKeepTheirChat() throws {
        let pair = chatID(2)
        try history.record(
            started(chat), .chatStarted(chat: pair, role: .member, host: bob, members: [ada, eve]),
            offer(transferID(1), "group"), offer(transferID(2), "pair", in: pair),
            offer(transferID(3), "own", from: ada, to: [bob]))
        let chats = Dictionary(uniqueKeysWithValues: try history.files().map { ($0.summary.name, $0.chat) })
        #expect(chats == ["group": chat, "pair": pair, "own": chat])
        #expect(try history.files().filter(\.isMine).map(\.summary.name) == ["own"])
    }

    @Test("The same transfer offered again in another chat is kept there, and its result belongs to it")
    func offeredAgain() throws {
        let transfer = transferID(1)
        try history.record(started(chat), offer(transfer, "a"), .chatEnded(chat: chat, reason: .ended, cause: nil))
        try history.record(
            started(chatID(2)), offer(transfer, "a", in: chatID(2)), received(transfer, ["/a"]), from: 2000)
        #expect(try history.files().map(\.chat) == [chatID(2), chat])
        #expect(try history.files().map(\.paths) == [["/a"], []])
    }

    @Test("Two own identities in one chat are two views of it")
    func twoIdentities() throws {
        for me in [ada, bob] {
            try history.record([(started(chat), 1), (line(chat, 3, "hello"), 2)], by: me)
        }
        #expect(try history.chats().map(\.own) == [bob.id, ada.id])
        #expect(try history.messages(matching: "hello").map(\.isMine) == [true, false])
        #expect(try history.messages(matching: "hello", own: ada.id).map(\.own) == [ada.id])
        #expect(try history.chats(own: bob.id).map(\.own) == [bob.id])
        #expect(throws: StoreError.ambiguous(prefix: "\(chat)", chats: [chat, chat])) { try history.chat("\(chat)") }
        #expect(try history.chat("\(chat)", own: ada.id)?.own == ada.id)
    }

    @Test("A chat is found by the beginning of its ID; several are an error that names them")
    func prefixes() throws {
        let other = chatID(1, 1), third = chatID(200)
        for (time, id) in [(1, chat), (2, other), (3, third)] {
            try history.record(started(id), by: ada, at: Int64(time))
        }
        #expect(try history.chat(third.description)?.id == third)
        #expect(try history.chat(third.description.prefix(1).uppercased())?.id == third)
        #expect(try history.chat("777") == nil)
        #expect(try history.chat("%") == nil && history.chat("_") == nil)
        let common = String(zip("\(chat)", "\(other)").prefix { $0 == $1 }.map(\.0))
        #expect(throws: StoreError.ambiguous(prefix: common, chats: [other, chat])) { try history.chat(common) }
        #expect(throws: StoreError.ambiguous(prefix: "", chats: [third, other, chat])) { try history.chat("") }
        #expect(try history.chats(limit: 2).map(\.id) == [third, other])
    }

    @Test("Many received entries are counted, and the first thousand kept")
    func manyPaths() throws {
        try history.record(
            started(chat), offer(transferID(1), "many"), received(transferID(1), (0..<3000).map { "/in/\($0)" }))
        let file = try #require(try history.files(matching: "/in/999").first)
        #expect(file.pathCount == 3000 && file.paths.count == 1000 && file.paths.last == "/in/999")
    }

    @Test("A transfer offered again in the same chat is one row, with what became of it last")
    func offeredAgainHere() throws {
        let transfer = transferID(9)
        func delivered(_ status: TransferStatus, _ reason: TransferReason?) -> NodeEvent {
            .fileDelivered(transfer: transfer, result: TransferResult(peer: ada, status: status, reason: reason))
        }
        try history.record(
            started(chat), offer(transfer, "big", to: [ada]), delivered(.failed, .lost),
            offer(transfer, "big", to: [ada, eve]), delivered(.verified, nil), received(transfer, ["/big"]))
        let files = try history.files()
        #expect(files.count == 1)
        #expect(files.first?.recipients.map(\.peer.id) == [ada.id, eve.id])
        #expect(files.first?.recipients.map(\.result?.status) == [.verified, nil])
    }

    @Test("Events that could not be written can be told again")
    func writtenLater() throws {
        try raw(folder("history.db"), "CREATE TRIGGER no BEFORE INSERT ON chat BEGIN SELECT raise(ABORT, 'no'); END")
        #expect(throws: StoreError.self) { try history.record(started(chat)) }
        try raw(folder("history.db"), "DROP TRIGGER no")
        // The chat's start was lost, but not what follows.
        try history.record(line(chat, 2, "one"))
        #expect(try theChat().messages == 1 && theChat().members.map(\.peer) == [bob, eve])
    }
}
