import CSQLite
import Foundation
import PeerConnect
import PeerModel
import PeerStore
import Testing

/// What is told to a journal is in the records, in order.
@Suite("The journal", .timeLimit(.minutes(8)))
final class JournalTests {
    let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-journal-\(UUID().uuidString.prefix(8))"
    let me: Peer, ada: Peer, eve: Peer
    let chat: ChatID

    init() throws {
        func id(_ byte: UInt8) throws -> PeerID { PeerID(try #require(Digest([UInt8](repeating: byte, count: 32)))) }
        me = Peer(id: try id(1), name: "Me")
        ada = Peer(id: try id(2), name: "Ada")
        eve = Peer(id: try id(4), name: "Eve")
        chat = try #require(ChatID(bytes: [UInt8](repeating: 3, count: ChatID.size)))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func records(_ keepsHistory: Bool = true) async throws -> Records {
        try await Records.open(
            state: folder + "/state", data: folder + "/data", keepsHistory: keepsHistory, creating: true)
    }

    private func message(_ seq: Int, _ text: String? = nil) -> NodeEvent {
        .message(
            ChatMessage(
                chat: chat, seq: UInt64(seq), from: ada, text: text ?? "line \(seq)", sent: 0, ref: nil, line: nil))
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

    @Test("A peer is last seen when it left or the chat ended, and stays forgotten when it was forgotten in the chat")
    func lastSeen() async throws {
        let records = try await records(false), known = try #require(records.knownPeers)
        let journal = try Journal(records, me: me, known: Acquaintances()) { Issue.record("\($0)") }
        await journal.record(.chatStarted(chat: chat, role: .member, host: ada, members: [me, eve]), at: 7)
        await journal.flush()
        await journal.record(.memberLeft(chat: chat, member: eve, reason: .left), at: 8)
        await journal.record(.chatEnded(chat: chat, reason: .ended, cause: nil), at: 9)
        await journal.flush()
        #expect(Set(try known.list().map(\.lastSeen)) == [8, 9])
        #expect(try known.list().allSatisfy { $0.firstSeen == 7 })
        await journal.record(started, at: 10)
        await journal.flush()
        _ = try known.forget(ada.id)
        journal.refresh()
        await journal.flush()
        await journal.record(.chatEnded(chat: chat, reason: .ended, cause: nil), at: 11)
        await journal.close()
        #expect(try known.list().map(\.peer) == [eve])
    }

    /// What a journal tells of, as a stream.
    private func journal(
        _ records: Records, _ pace: JournalPace
    ) throws -> (Journal, AsyncStream<PeerConnectError>) {
        let (failures, sink) = AsyncStream.makeStream(of: PeerConnectError.self)
        let journal = try Journal(records, me: me, known: Acquaintances(), pace: pace) { sink.yield($0) }
        return (journal, failures)
    }

    private var quick: JournalPace {
        var pace = JournalPace()
        (pace.attempt, pace.retry, pace.patience, pace.goodbye) = (0.05, 0.05, 0.1, 0.1)
        return pace
    }

    @Test("What cannot be written is told of once, and written when it can be")
    func failing() async throws {
        let records = try await records()
        let (journal, told) = try journal(records, quick)
        var failures = told.makeAsyncIterator()
        await journal.record(started, at: 0)
        await journal.flush()
        // Another program keeps the database for itself, longer than is waited for.
        let blocker = try Blocker(folder + "/state/history.db")
        for seq in 1...3 { await journal.record(message(seq), at: 0) }
        let failure = try #require(await failures.next())
        #expect(failure.message == "The database \(folder)/state/history.db is in use by another process.")
        await journal.record(message(4), at: 0)
        await journal.flush()
        blocker.end()
        // Without anything that is told anew.
        while try texts(records).count < 4 { await journal.flush() }
        await journal.record(message(5), at: 0)
        #expect(await journal.close() == nil)
        #expect(try texts(records) == (1...5).map { "line \($0)" })
    }

    @Test("A database that others hold to the end costs two seconds at most, and what was lost is said")
    func heldToTheEnd() async throws {
        let records = try await records()
        let (journal, _) = try journal(records, JournalPace())
        await journal.record(started, at: 0)
        await journal.flush()
        let history = try Blocker(folder + "/state/history.db"), peers = try Blocker(folder + "/data/peers.db")
        await journal.record(.memberJoined(chat: chat, member: eve), at: 0)
        for seq in 1...3 { await journal.record(message(seq), at: 0) }
        let clock = ContinuousClock(), start = clock.now
        let unstored = try #require(await journal.close())
        // Two seconds, and what a machine that is busy with other tests takes besides; one wait for each would be 20.
        #expect(clock.now - start < .seconds(16))
        #expect(unstored.message.hasPrefix("5 entries could not be stored: The database \(folder)/"))
        #expect(await journal.close()?.message == unstored.message)
        withExtendedLifetime((history, peers)) {}
    }

    @Test("Whom one talks with is noted while the history is held, and the history is while the others are")
    func heldApart() async throws {
        let records = try await records()
        let (journal, _) = try journal(records, quick)
        let peers = try Blocker(folder + "/data/peers.db")
        await journal.record(started, at: 0)
        await journal.record(message(1), at: 0)
        await journal.flush()
        #expect(try texts(records) == ["line 1"])
        let history = try Blocker(folder + "/state/history.db")
        peers.end()
        while try records.knownPeers?.peer(ada.id) == nil { await journal.flush() }
        withExtendedLifetime(history) {}
        _ = await journal.close()
    }

    @Test("What waits in memory has a bound; what was too much is said, and the chat goes on being kept")
    func memory() async throws {
        let records = try await records()
        var pace = quick
        pace.memory = 2000
        let (journal, told) = try journal(records, pace)
        var failures = told.makeAsyncIterator()
        await journal.record(started, at: 0)
        await journal.flush()
        let blocker = try Blocker(folder + "/state/history.db")
        for seq in 1...20 { await journal.record(message(seq), at: 0) }
        await journal.record(.memberJoined(chat: chat, member: eve), at: 0)
        _ = await failures.next()
        blocker.end()
        let lost = try #require(await failures.next())
        let kept = try texts(records)
        #expect(kept == (1...kept.count).map { "line \($0)" } && kept.count < 20)
        #expect(lost.message == "\(20 - kept.count) entries could not be stored.")
        await journal.record(message(21), at: 0)
        #expect(await journal.close() == nil)
        #expect(try texts(records).last == "line 21")
        let record = try #require(try records.history?.chat(chat.description))
        #expect(record.members.map(\.peer.name) == ["Me", "Eve"])
    }

    @Test("A long run keeps its history within its limits, without being started anew")
    func prunes() async throws {
        let limit: Int64 = 1 << 20
        let records = try await Records.open(
            state: folder + "/state", data: folder + "/data", limits: HistoryLimits(size: limit), creating: true)
        let (journal, _) = try journal(records, JournalPace())
        await journal.record(started, at: 0)
        for seq in 1...8000 { await journal.record(message(seq, String(repeating: "x\(seq) ", count: 40)), at: 0) }
        await journal.flush()
        let texts = try texts(records)
        #expect(texts.last?.hasPrefix("x8000 ") == true && texts.count < 8000 && texts.count > 500)
        let bytes = try FileManager.default.attributesOfItem(atPath: folder + "/state/history.db")[.size] as? Int64
        // A thousand more may be written before it is looked at again.
        #expect(try #require(bytes) < 3 * limit)
        #expect(await journal.close() == nil)
    }

    @Test("In a long run old entries go after an hour, also when nothing is said")
    func prunesByAge() async throws {
        var pace = quick
        (pace.look, pace.pruneInterval) = (0.05, 0.3)
        let records = try await Records.open(
            state: folder + "/state", data: folder + "/data", limits: HistoryLimits(age: 86_400_000), creating: true)
        let (journal, _) = try journal(records, pace)
        await journal.record(started, at: 0)
        await journal.record(message(1), at: 0)
        await journal.flush()
        while try !texts(records).isEmpty { await Task.yield() }
        #expect(await journal.close() == nil)
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
