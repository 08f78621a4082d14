import CSQLite
import Foundation
import PeerConnect
import PeerModel
import PeerStore
import Synchronization
import Testing

/// What is told to a journal is in the records, in order.
@Suite("The journal", .timeLimit(.minutes(5)))
final class JournalTests {
    let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-journal-\(UUID().uuidString.prefix(8))"
    let me: Peer, ada: Peer
    let chat: ChatID

    init() throws {
        func id(_ byte: UInt8) throws -> PeerID { PeerID(try #require(Digest([UInt8](repeating: byte, count: 32)))) }
        me = Peer(id: try id(1), name: "Me")
        ada = Peer(id: try id(2), name: "Ada")
        chat = try #require(ChatID(bytes: [UInt8](repeating: 3, count: ChatID.size)))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func records(_ keepsHistory: Bool = true) async throws -> Records {
        try await Records.open(
            state: folder + "/state", data: folder + "/data", keepsHistory: keepsHistory, creating: true)
    }

    private func message(_ seq: Int) -> NodeEvent {
        .message(
            ChatMessage(chat: chat, seq: UInt64(seq), from: ada, text: "line \(seq)", sent: 0, ref: nil, line: nil))
    }

    private var started: NodeEvent { .chatStarted(chat: chat, role: .member, host: ada, members: [me]) }

    private func texts(_ records: Records) throws -> [String] {
        let history = try #require(records.history), chat = try #require(try history.chat(chat.description))
        return try history.entries(of: chat).compactMap {
            if case .message(let message) = $0.kind { message.text } else { nil }
        }
    }

    @Test("More than fits at once is written whole and in order, and closing waits for the last line")
    func flood() async throws {
        let records = try await records()
        let journal = try Journal(records, me: me, known: Acquaintances()) { Issue.record("\($0)") }
        await journal.record(started, at: 0)
        for seq in 1...10_000 { await journal.record(message(seq), at: Int64(seq)) }
        await journal.close()
        await journal.close()
        #expect(try texts(records) == (1...10_000).map { "line \($0)" })
        await journal.record(message(10_001), at: 0)
        await journal.flush()
    }

    @Test("Whom one chats with is known then, oneself excepted, and is told of")
    func met() async throws {
        let records = try await records(false)
        let journal = try Journal(records, me: me, known: Acquaintances()) { Issue.record("\($0)") }
        await journal.record(started, at: 7)
        var changes = journal.acquaintances.makeAsyncIterator()
        let now = try #require(await changes.next())
        #expect(now.list == [KnownPeer(peer: ada, firstSeen: 7, lastSeen: 7, trust: .neutral)])
        // As another process does it.
        try records.knownPeers?.set(.blocked, for: ada.id, name: "")
        journal.refresh()
        #expect(await changes.next()?.isBlocked(ada.id) == true)
        await journal.close()
        #expect(await changes.next() == nil)
    }

    @Test("What cannot be written is told of once, and written when it can be")
    func failing() async throws {
        let records = try await records(), failures = Mutex<[PeerConnectError]>([])
        let journal = try Journal(records, me: me, known: Acquaintances()) { error in
            failures.withLock { $0.append(error) }
        }
        await journal.record(started, at: 0)
        await journal.flush()
        // Another program keeps the database for itself, longer than is waited for.
        let blocker = try Blocker(folder + "/state/history.db")
        for seq in 1...3 { await journal.record(message(seq), at: 0) }
        await journal.flush()
        await journal.record(message(4), at: 0)
        await journal.flush()
        #expect(failures.withLock { $0.count } == 1)
        blocker.end()
        await journal.record(message(5), at: 0)
        await journal.close()
        #expect(try texts(records) == (1...5).map { "line \($0)" })
    }
}

/// Another connection, in a transaction that writes.
private final class Blocker {
    private let connection: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened,
            sqlite3_exec(opened, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
        else { throw CocoaError(.fileReadUnknown) }
        connection = opened
    }

    func end() { sqlite3_close_v2(connection) }
}
