import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

/// Notes what is read to be sent.
private final class CountedStore: PieceReading {
    private let real: any PieceReading
    private let state = Monitor((lowest: UInt64.max, count: UInt64(0)))
    var length: UInt64 { real.length }
    var lowest: UInt64 { state.read { $0.lowest } }
    var count: UInt64 { state.read { $0.count } }

    init(_ real: any PieceReading) { self.real = real }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        state.update { $0 = (min($0.lowest, offset), $0.count + UInt64(buffer.count)) }
        try real.read(at: offset, into: buffer)
    }
}

extension NodeEngine {
    fileprivate func count(_ transfer: TransferID) throws -> CountedStore {
        let job = try #require(hub.jobs[transfer])
        let store = CountedStore(try #require(job.store.current))
        job.store.keep(in: store)
        return store
    }

    /// The same as `gate` for the only transfer there is.
    fileprivate func gateOnly(from offset: UInt64) throws -> GatedStore {
        try gate(#require(hub.jobs.keys.first), from: offset)
    }

    /// Its data connection breaks.
    fileprivate func lose(_ transfer: TransferID) { hub.jobs[transfer]?.receiving?.cancel() }

    fileprivate func bases(_ transfer: TransferID) -> [UInt64] { hub.jobs[transfer]?.own.all.map(\.base) ?? [] }
}

/// Two nodes that can be started again: one sends to the other, as `send` does.
private struct Pair {
    let folder: TemporaryFolder
    let ada: TestNode, ben: TestNode
    let address: PeerReference

    init(after former: Pair? = nil) async throws {
        let folder = try former?.folder ?? TemporaryFolder()
        self.folder = folder
        ada = try TestNode("ada", as: former?.ada.identity)
        ben = try TestNode("ben", as: former?.ben.identity) { settings in
            settings.downloads = folder("in")
            settings.maximumChats = 8
        }
        _ = try await ada.start()
        address = try await ben.start()
    }

    /// Offers a file, as `send` does.
    func send(_ name: String) async throws -> FileOffer {
        #expect(await offer(name).isDone)
        try await accept()
        return try await ada.next("its offer") { $0.offer }
    }

    /// Ben accepts the invitation.
    func accept() async throws {
        let question = try await ben.next("a question") { $0.question }
        #expect(await ben.engine.perform(.accept(.number(question)), line: nil).isDone)
    }

    /// Begins a chat.
    func chat() async throws {
        let id = PeerReference(ben.identity.id.description + "@" + address.text)
        #expect(await ada.engine.perform(.invite([id]), line: nil).isDone)
        try await accept()
        _ = try await ben.next("a chat") { $0.startedChat }
    }

    private func offer(_ name: String) async -> Reply {
        let id = PeerReference(ben.identity.id.description + "@" + address.text)
        return await ada.engine.offer([folder(name)], to: id, answerWithin: 250, stallAfter: 250, line: -1)
    }

    /// Sends the first 25 MiB, and no more until the gate is opened.
    func sendHalf(_ name: String) async throws -> (FileOffer, GatedStore) {
        #expect(await offer(name).isDone)
        let gate = try await ada.engine.gateOnly(from: 25 << 20)
        try await accept()
        let offer = try await ada.next("its offer") { $0.offer }
        #expect(await ben.engine.hasReceived(24 << 20, of: offer.transfer))
        return (offer, gate)
    }

    func result() async throws -> TransferResult { try await ada.next("a result") { $0.result(of: "ben") } }
    func stop() async {
        await ada.engine.stop()
        await ben.engine.stop()
    }
}

@Suite("Transfers that go on after a restart", .timeLimit(.minutes(8))) struct ResumeTests {
    private static let size = 40 << 20

    private func file(_ name: String, in folder: TemporaryFolder) throws {
        try folder.file(name, noise(Self.size, 3))
    }

    /// Sends the first half, then stops; gives what came of it.
    private func half(_ pair: Pair) async throws -> FileOffer {
        let (offer, gate) = try await pair.sendHalf("big")
        await pair.stop()
        gate.open()
        return offer
    }

    @Test("Both sides are started again: only what is missing is sent, and only that is hashed")
    func bothRestart() async throws {
        let first = try await Pair()
        try file("big", in: first.folder)
        let before = try await half(first)
        let second = try await Pair(after: first)
        let offer = try await second.send("big")
        #expect(offer.transfer == before.transfer)
        let progress = try await second.ben.next("its place") { $0.progress }
        let from = try #require(progress.from)
        #expect(from >= 23 << 20 && progress.bytes == from && progress.rate == 0)
        #expect(try await second.result().status == .verified)
        #expect(try TemporaryFolder.tree(second.folder("in"), times: false).count == 1)
        #expect(TemporaryFolder.areEqual(second.folder("big"), second.folder("in/big")))
        await second.stop()
    }

    @Test("What the sender reads and hashes again is less than the last signed part")
    func nothingTwice() async throws {
        let first = try await Pair()
        try file("big", in: first.folder)
        _ = try await half(first)
        let second = try await Pair(after: first)
        try await second.chat()
        // Another command, so another transfer.
        #expect(await second.ada.engine.perform(.send(paths: [second.folder("big")], to: []), line: nil).isDone)
        let fresh = try await second.ben.next("an offer") { $0.offer }
        let gate = try await second.ada.engine.gate(fresh.transfer, from: 25 << 20)
        #expect(await second.ben.engine.perform(.accept(.number(fresh.number)), line: nil).isDone)
        #expect(await second.ben.engine.hasReceived(24 << 20, of: fresh.transfer))
        await second.stop()
        gate.open()

        let third = try await Pair(after: second)
        try await third.chat()
        #expect(await third.ada.engine.perform(.send(paths: [third.folder("big")], to: []), line: nil).isDone)
        let offer = try await third.ben.next("an offer") { $0.offer }
        #expect(offer.transfer == fresh.transfer)
        let store = try await third.ada.engine.count(offer.transfer)
        let end = try await third.ada.engine.gate(offer.transfer, from: 39 << 20)
        #expect(await third.ben.engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        #expect(await third.ben.engine.hasReceived(38 << 20, of: offer.transfer))
        #expect(await third.ada.engine.bases(offer.transfer) == [16])
        end.open()
        #expect(try await third.result().status == .verified)
        #expect(store.lowest >= 23 << 20)
        #expect(store.count <= UInt64(Self.size) - 23 << 20 + 1 << 20)
        #expect(TemporaryFolder.areEqual(third.folder("big"), third.folder("in/big")))
        await third.stop()
    }

    @Test("A file that has changed since is another transfer, from the start")
    func changed() async throws {
        let first = try await Pair()
        try file("big", in: first.folder)
        let before = try await half(first)
        try Folder.open(first.folder.path).openFileToWrite("big").write([1], at: 3)
        let second = try await Pair(after: first)
        let offer = try await second.send("big")
        #expect(offer.transfer != before.transfer)
        #expect(try await second.result().status == .verified)
        #expect(TemporaryFolder.areEqual(second.folder("big"), second.folder("in/big")))
        await second.stop()
    }

    @Test("A transfer that is offered anew before its former chat is over goes on in the new one")
    func supersedes() async throws {
        let first = try await Pair()
        try file("big", in: first.folder)
        let (before, gate) = try await first.sendHalf("big")
        // The same sender in another process: the first one says nothing any more.
        let ada = try TestNode("ada", as: first.ada.identity)
        _ = try await ada.start()
        let id = PeerReference(first.ben.identity.id.description + "@" + first.address.text)
        let path = first.folder("big")
        #expect(await ada.engine.offer([path], to: id, answerWithin: 250, stallAfter: 250, line: -1).isDone)
        let question = try await first.ben.next("a question") { $0.question }
        #expect(await first.ben.engine.perform(.accept(.number(question)), line: nil).isDone)
        let offer = try await ada.next("its offer") { $0.offer }
        #expect(offer.transfer == before.transfer)
        #expect(try await ada.next("a result") { $0.result(of: "ben") }.status == .verified)
        #expect(try TemporaryFolder.tree(first.folder("in"), times: false).count == 1)
        #expect(TemporaryFolder.areEqual(path, first.folder("in/big")))
        await ada.engine.stop()
        gate.open()
        await first.stop()
    }

    @Test("The same file, sent three times in one run, arrives three times")
    func threeTimes() async throws {
        let pair = try await Pair()
        try pair.folder.file("big", [1, 2, 3])
        for _ in 0..<3 {
            _ = try await pair.send("big")
            #expect(try await pair.result().status == .verified)
        }
        #expect(try Folder.open(pair.folder("in")).names().names.sorted() == ["big", "big (1)", "big (2)"])
        await pair.stop()
    }

    @Test("Sent again in the same chat after it was interrupted, it continues, and a third time it comes anew")
    func sameChat() async throws {
        let pair = try await Pair()
        try file("big", in: pair.folder)
        try await pair.chat()
        let send = NodeCommand.send(paths: [pair.folder("big")], to: [])
        #expect(await pair.ada.engine.perform(send, line: nil).isDone)
        let before = try await pair.ben.next("an offer") { $0.offer }
        let gate = try await pair.ada.engine.gate(before.transfer, from: 25 << 20)
        #expect(await pair.ben.engine.perform(.accept(.number(before.number)), line: nil).isDone)
        #expect(await pair.ben.engine.hasReceived(24 << 20, of: before.transfer))
        await pair.ben.engine.lose(before.transfer)
        #expect(try await pair.result().status == .failed)
        gate.open()
        for isLast in [false, true] {
            #expect(await pair.ada.engine.perform(send, line: nil).isDone)
            let offer = try await pair.ben.next("an offer") { $0.offer }
            #expect((offer.transfer == before.transfer) == !isLast)
            #expect(await pair.ben.engine.perform(.accept(.number(offer.number)), line: nil).isDone)
            let progress = try await pair.ben.next("its place") { event in
                event.progress.flatMap { $0.transfer == offer.transfer && ($0.from != nil || isLast) ? $0 : nil }
            }
            #expect(isLast || progress.from ?? 0 >= 23 << 20)
            #expect(try await pair.result().status == .verified)
        }
        #expect(try Folder.open(pair.folder("in")).names().names.sorted() == ["big", "big (1)"])
        await pair.stop()
    }

    @Test("What a recipient cancels is not kept")
    func cancelled() async throws {
        let pair = try await Pair()
        try file("big", in: pair.folder)
        let gate = try await pair.sendHalf("big").1
        let number = try await pair.ben.next("an offer") { $0.offer }.number
        #expect(await pair.ben.engine.perform(.cancel(.number(number)), line: nil).isDone)
        gate.open()
        #expect(try await pair.result().status == .cancelled)
        #expect(await pair.ben.engine.idle())
        #expect(try TemporaryFolder.tree(pair.folder("in")).isEmpty)
        await pair.stop()
    }
}

extension NodeEvent {
    fileprivate var progress: FileProgress? { if case .fileProgress(let progress) = self { progress } else { nil } }
}

extension TemporaryFolder {
    /// Whether two files have the same bytes.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let bytes = [left, right].map { path in
            try? Paths.openFile(path).read(atMost: Int(clamping: Paths.status(path).size))
        }
        return bytes[0] != nil && bytes[0] == bytes[1]
    }
}
