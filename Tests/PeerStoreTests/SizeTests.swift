import Foundation
import PeerModel
import TestSupport
import Testing

@testable import PeerStore

@Suite(.timeLimit(.minutes(8))) struct SizeTests {
    @Test("A hundred thousand messages are opened and searched in less than a second")
    func large() throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 1)
        let letters = Array("etaoinshrdlu")
        func word() -> String {
            String(
                (0..<Int.random(in: 2...9, using: &random)).map { _ in letters[Int.random(in: 0..<12, using: &random)] }
            )
        }
        // About 30,000 different words, ten in a message.
        let phrases = (0..<6000).map { _ in (0..<5).map { _ in word() }.joined(separator: " ") }
        do {
            let history = try makeHistory(folder)
            for number in 0..<50 as Range<UInt8> {
                let chat = chatID(number)
                let lines = (1...2000 as ClosedRange<UInt64>).map { seq in
                    let first = Int.random(in: 0..<6000, using: &random),
                        second = Int.random(in: 0..<6000, using: &random)
                    let text = phrases[first] + " " + phrases[second] + (seq == 1000 ? " needle\(number)" : "")
                    return (line(chat, seq, text), Int64(seq))
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
            ("eedle7", 1), ("the", 100), ("e", 100), ("zz", 0), ("nowhere", 0), ("needle the ea", 50),
        ] {
            let found = try timed("search \(search)") { try history.texts(search).count }
            #expect(search.contains(" ") ? found <= count : found == count, "\(search)")
        }
        #expect(try timed("course") { try history.entries(of: chats[0]).count } == 2000)
        for (what, time) in times { #expect(time < .seconds(1), "\(what)") }
        guard ProcessInfo.processInfo.environment["PEERCONNECT_TIMES"] != nil else { return }
        let size = try folder.names().map { "\($0): \(try folder.bytes($0).count)" }
        try timed("record 1000, one by one") {
            for seq in 9000..<10_000 as Range<UInt64> {
                try history.record(line(chatID(1), seq, phrases[Int(seq) - 9000]), by: ada, at: 1)
            }
        }
        _ = try timed("clear one") { try history.clear([chats[0]]) }
        _ = try timed("prune a tenth") { try history.prune(to: HistoryLimits(size: 20 << 20), now: 1) }
        _ = try timed("clear all") { try history.clearAll() }
        print(size, times.map { "\($0.what): \($0.time)" }.joined(separator: "\n"), separator: "\n")
    }
}
