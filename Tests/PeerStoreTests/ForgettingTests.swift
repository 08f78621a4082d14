import Foundation
import PeerModel
import Testing

@testable import PeerStore

@Suite struct ForgettingTests {
    private let folder: TemporaryFolder
    private let history: History

    init() throws {
        folder = try TemporaryFolder()
        history = try makeHistory(folder)
    }

    /// Whether these bytes are anywhere in the database or in what lies beside it.
    private func holds(_ text: String) throws -> Bool {
        try folder.names().contains { try folder.bytes($0).range(of: Data(text.utf8)) != nil }
    }

    @Test("A cleared chat is gone from every file, and the others are untouched", arguments: [false, true])
    func clear(all: Bool) throws {
        let secret = chatID(1), kept = chatID(2)
        let glyph = "龘龘龘"  // a triple that shares no beginning with others, so that the index has it as it is
        let file = transferID(9)
        try history.record(
            started(secret), offer(file, "hidden-name.txt", in: secret), received(file, ["/home/hidden-path"]))
        try history.record(started(kept))
        // Enough of different lengths that SQLite moves rows about, so that deleting them is not all there is to it.
        for batch in 0..<80 as Range<UInt64> {
            try history.record(
                (1...25 as ClosedRange<UInt64>).flatMap { number -> [(NodeEvent, Int64)] in
                    let seq = batch * 25 + number
                    let secretText = "classified\(seq) \(glyph) \(String(repeating: "z", count: Int(seq / 2)))"
                    return [(line(secret, seq, secretText), 1), (line(kept, seq, "harmless\(seq) words"), 1)]
                }, by: ada)
        }
        for text in ["classified7 ", "classified1999", glyph, "hidden-name", "hidden-path", "harmless7"] {
            #expect(try holds(text), "\(text)")
        }
        let record = try #require(try history.chat("\(secret)"))
        let count = try all ? history.clearAll() : history.clear([record])
        #expect(count == (all ? 2 : 1))
        for text in ["classified", glyph, "hidden-name", "hidden-path"] { #expect(try !holds(text), "\(text)") }
        #expect(try history.texts("classified") == [] && history.files() == [])
        #expect(try holds("harmless7") != all)
        #expect(try history.texts("harmless1999").count == (all ? 0 : 1))
        #expect(try history.chats().map(\.id) == (all ? [] : [kept]))
        #expect(try history.problems() == [])
        #expect(try history.isIndexRight())
        if all { #expect(try folder.bytes("history.db").count < 200_000) }
    }

    @Test("Clearing nothing, or what is gone, is no error")
    func clearNothing() throws {
        try history.record(started(chatID(1)))
        let record = try history.chats()
        #expect(try history.clear([]) == 0)
        #expect(try history.clear(record + record) == 1)
        #expect(try history.clear(record) == 0 && history.clearAll() == 0)
    }

    @Test("A chat that is cleared while it runs is kept again from then on")
    func clearRunning() throws {
        let chat = chatID(1)
        try history.record(started(chat), offer(transferID(1), "a"), line(chat, 3, "before"))
        let other = try #require(try History.open(in: folder.path, creating: false))
        try other.clearAll()
        try history.record(
            line(chat, 4, "after"), received(transferID(1), ["/a"]),
            .memberLeft(chat: chat, member: eve, reason: .left),
            .chatEnded(chat: chat, reason: .ended, cause: nil))
        let record = try #require(try other.chats().first)
        #expect(record.messages == 1 && record.host == ada && record.started == 1000 && record.endReason == .ended)
        #expect(record.members.map(\.reason) == [nil, .left])
        #expect(try other.texts("after") == ["after"] && other.texts("before") == [])
    }

    @Test("Beyond the size the oldest entries go, and the rest can still be found")
    func size() throws {
        for number in 1...5 as ClosedRange<UInt8> {
            let chat = chatID(number)
            try history.record(started(chat), offer(transferID(number), "file\(number)", in: chat))
            try history.record(
                (1...2000).map { (line(chat, $0, "chat\(number) says \($0) \(UInt64.random(in: 0 ... .max))"), 1) },
                by: ada)
            if number < 5 { try history.record(.chatEnded(chat: chat, reason: .ended, cause: nil)) }
        }
        try history.clear([])
        let whole = try folder.bytes("history.db").count
        #expect(try history.prune(to: HistoryLimits(size: Int64(whole)), now: 9) == 0)
        let limit = whole / 2
        #expect(try history.prune(to: HistoryLimits(size: Int64(limit)), now: 9) > 4000)
        let pruned = try folder.bytes("history.db").count
        #expect(pruned <= limit && pruned > limit / 2)
        #expect(try history.prune(to: HistoryLimits(size: Int64(limit)), now: 9) == 0)
        let chats = try history.chats()
        #expect(chats.map(\.id) == [chatID(5), chatID(4), chatID(3)] || chats.map(\.id) == [chatID(5), chatID(4)])
        #expect(chats.first?.messages == 2000 && chats.first?.files == 1)
        #expect(try history.texts("chat1") == [] && history.texts("chat5", limit: .max).count == 2000)
        #expect(try history.files(matching: "file1") == [])
        #expect(try history.problems() == [] && history.isIndexRight())
    }

    @Test("Everything may be beyond the size; what runs stays a chat")
    func nothingFits() throws {
        try history.record(
            started(chatID(1)), line(chatID(1), 2, "old"), .chatEnded(chat: chatID(1), reason: .ended, cause: nil))
        try history.record(started(chatID(2)), line(chatID(2), 2, "new"))
        #expect(try history.prune(to: HistoryLimits(size: 0), now: 9) == 2)
        #expect(try history.chats().map(\.id) == [chatID(2)])
        try history.record(line(chatID(2), 3, "newer"))
        #expect(try history.texts("new") == ["newer"])
    }

    @Test("Beyond the age the old entries go; without one nothing does, whatever the clock says")
    func age() throws {
        for (number, time) in [(1, 1000), (2, 2000), (3, 3000)] as [(UInt8, Int64)] {
            let chat = chatID(number)
            try history.record(
                started(chat), line(chat, 2, "at\(time)"), .chatEnded(chat: chat, reason: .ended, cause: nil),
                from: time)
        }
        #expect(try history.prune(now: .max) == 0)
        #expect(try history.prune(to: HistoryLimits(age: 1500), now: 3000) == 1)
        #expect(try history.chats().map(\.id) == [chatID(3), chatID(2)])
        #expect(try history.prune(to: HistoryLimits(age: 1500), now: .min) == 0)
        // An entry that a wrong clock dated back takes nothing with it that is before it.
        try history.record(started(chatID(4)), line(chatID(4), 2, "in 1970"), from: 0)
        #expect(try history.prune(to: HistoryLimits(age: 1500), now: 3000) == 0)
        #expect(try history.prune(to: HistoryLimits(age: 10), now: 1_000_000) == 3)
        #expect(try history.chats().map(\.id) == [chatID(4)])
    }
}
