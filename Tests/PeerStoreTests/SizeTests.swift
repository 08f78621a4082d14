import Foundation
import PeerModel
import Testing

@testable import PeerStore

@Suite(.timeLimit(.minutes(3))) struct SizeTests {
    @Test("A hundred thousand messages are opened and searched in less than a second")
    func large() throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 1)
        let words = (0..<5000).map { _ in
            String((0..<Int.random(in: 2...9, using: &random)).map { _ in "etaoinshrdlu".randomElement(using: &random) ?? "e" })
        }
        do {
            let history = try makeHistory(folder)
            for number in 0..<50 as Range<UInt8> {
                let chat = chatID(number)
                let lines = (1...2000 as ClosedRange<UInt64>).map { seq in
                    let text = (0..<10).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
                    return (line(chat, seq, text + (seq == 1000 ? " needle\(number)" : "")), Int64(seq))
                }
                try history.record([(started(chat), 0)] + lines, by: ada)
            }
        }
        var times: [(what: String, time: Duration)] = []
        func timed<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
            let clock = ContinuousClock(), start = clock.now
            defer { times.append((what, clock.now - start)) }
            return try body()
        }
        let history = try #require(try timed("open") { try History.open(in: folder.path, creating: false) })
        let chats = try timed("chats") { try history.chats() }
        #expect(chats.count == 50)
        for (search, count) in [
            ("eedle7", 1), ("the", 100), ("e", 100), ("zz", 0), ("notthere", 0), ("needle the ea", 50),
        ] {
            let found = try timed("search \(search)") { try history.texts(search).count }
            #expect(search.contains(" ") ? found <= count : found == count, "\(search)")
        }
        #expect(try timed("course") { try history.entries(of: chats[0]).count } == 2000)
        for (what, time) in times { #expect(time < .seconds(1), "\(what)") }
        guard ProcessInfo.processInfo.environment["PEERCONNECT_TIMES"] != nil else { return }
        let size = try folder.names().map { "\($0): \(try folder.bytes($0).count)" }
        try timed("record") { try history.record(line(chatID(1), 9999, "one more line"), by: ada, at: 1) }
        _ = try timed("clear one") { try history.clear([chats[0]]) }
        _ = try timed("prune a tenth") { try history.prune(to: HistoryLimits(size: 40 << 20), now: 1) }
        _ = try timed("clear all") { try history.clearAll() }
        print(size, times.map { "\($0.what): \($0.time)" }.joined(separator: "\n"), separator: "\n")
    }
}
