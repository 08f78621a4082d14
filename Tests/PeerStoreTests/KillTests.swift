import Foundation
import PeerModel
import Synchronization
import Testing

@testable import PeerStore

@Suite(.timeLimit(.minutes(8))) struct KillTests {
    @Test("A process killed in the middle of writing loses nothing that was written", arguments: [false, true])
    func killed(hasLog: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        for round in 1...4 as ClosedRange<UInt8> {
            // Each writes lines until it is killed, some time after it has said that so many are written.
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, round = round as UInt8, hasLog = hasLog as Bool] in
                try writeUntilKilled(path, round, hasLog ? .automatic : .rollback)
            }
            let said = try #require(Int(String(decoding: try folder.bytes("said-\(round)"), as: UTF8.self)))
            let history = try #require(try History.open(in: path, creating: false))
            #expect(try history.problems() == [])
            let chat = try #require(try history.chat(chatID(round).description))
            let lines = try history.entries(of: chat)
            #expect(lines.count >= said && said > 0)
            #expect(try history.texts("line").count == min(100, try history.chats().reduce(0) { $0 + $1.messages }))
            #expect(try history.messages(matching: "round\(round)", limit: .max).count == chat.messages)
            // A batch is there as a whole or not at all.
            #expect(chat.messages % 10 == 0)
        }
    }

    @Test("Several processes write at once, and everything is there")
    func several() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        async let one = #expect(processExitsWith: .success) { [path = path as String] in try write(path, 1) }
        async let two = #expect(processExitsWith: .success) { [path = path as String] in try write(path, 2) }
        async let three = #expect(processExitsWith: .success) { [path = path as String] in try write(path, 3) }
        _ = await (one, two, three)
        let history = try makeHistory(folder)
        #expect(try history.chats().map(\.messages) == [200, 200, 200])
        #expect(try history.problems() == [])
    }

    @Test("A reader is not kept waiting by one that writes, and sees all of a change or nothing")
    func readerAndWriter() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path, chat = chatID(1)
        let reader = try makeHistory(folder)
        try reader.record(started(chat))
        async let writing = #expect(processExitsWith: .success) { [path = path as String] in try write(path, 1) }
        var counts: Set<Int> = []
        while counts.max() ?? 0 < 200 { counts.insert(try reader.chats()[0].messages) }
        _ = await writing
        #expect(counts.allSatisfy { $0 % 10 == 0 }, "\(counts)")
    }

    @Test("Whoever waits too long for another process learns that it is busy")
    func busy() throws {
        let folder = try TemporaryFolder()
        var one = try makeDatabase(folder), two = try makeDatabase(folder)
        try two.script("PRAGMA busy_timeout = 1")
        try one.run("BEGIN IMMEDIATE")
        let busy = Result { () throws(StoreError) in try two.transaction { (_: inout Database) throws(StoreError) in } }
        #expect(throws: StoreError.busy(path: folder("test.db"))) { try busy.get() }
        try one.run("COMMIT")
        try two.transaction { (_: inout Database) throws(StoreError) in }
    }
}

/// Two hundred lines, ten at a time.
private func write(_ path: String, _ number: UInt8) throws {
    guard let history = try History.open(in: path, creating: true) else { throw Failure("no history") }
    let chat = chatID(number)
    try history.record(started(chat))
    for batch in 0..<20 as Range<UInt64> {
        try history.record((1...10).map { (line(chat, batch * 10 + $0, "line"), 1) }, by: ada)
    }
}

/// Lines, ten at a time, until this process is killed by itself from another thread.
private func writeUntilKilled(_ path: String, _ round: UInt8, _ journal: Database.Journal) throws {
    guard let history = try History.open(in: path, creating: true, journal: journal) else {
        throw Failure("no history")
    }
    let chat = chatID(round)
    try history.record(started(chat))
    let said = path + "/said-\(round)", count = Mutex(0)
    let killer = Thread {
        let enough = Int(round) * 70
        while count.withLock({ $0 }) < enough { usleep(100) }
        try? Data("\(count.withLock { $0 })".utf8).write(to: URL(fileURLWithPath: said))
        usleep(UInt32.random(in: 0...3000))
        kill(getpid(), SIGKILL)
    }
    killer.start()
    var seq: UInt64 = 1
    while true {
        try history.record((0..<10).map { (line(chat, seq + $0, "line of round\(round)"), 1) }, by: ada)
        seq += 10
        count.withLock { $0 += 10 }
    }
}
