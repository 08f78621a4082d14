import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

/// Holds bytes back, so that something can happen in the middle of a transfer.
final class GatedStore: PieceReading {
    private let real: any PieceReading
    private let held: Range<UInt64>
    private let isOpen = Monitor(false)
    var length: UInt64 { real.length }

    init(_ real: any PieceReading, from offset: UInt64) {
        self.real = real
        held = offset..<UInt64.max
    }

    func open() { isOpen.update { $0 = true } }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        if held.contains(offset) { _ = isOpen.wait(seconds: 30) { $0 ? true : nil } }
        try real.read(at: offset, into: buffer)
    }
}

extension NodeEngine {
    /// Sends the start of an own transfer only, until the gate is opened.
    func gate(_ transfer: TransferID, from offset: UInt64) throws -> GatedStore {
        let job = try #require(hub.jobs[transfer])
        let gate = GatedStore(try #require(job.store.current), from: offset)
        job.store.keep(in: gate)
        return gate
    }
}

/// A chat of nodes on loopback that send each other files.
struct TransferStage {
    let folder: TemporaryFolder
    private(set) var nodes: [String: TestNode] = [:]

    /// Starts a host and members, who accept invitations; `files` says who takes files unasked.
    ///
    /// After a former stage they are the same, started again.
    init(
        host: String, members: [String], takers files: Set<String>, after former: TransferStage? = nil
    ) async throws {
        let folder = try former?.folder ?? TemporaryFolder()
        self.folder = folder
        var references: [PeerReference] = []
        for name in [host] + members {
            let node = try TestNode(name, as: former?[name].identity) { settings in
                settings.downloads = folder(name)
                settings.spools = folder("spools of \(name)")
                settings.invitations = .all
                settings.files = files.contains(name) ? .all : .ask
            }
            nodes[name] = node
            let reference = try await node.start()
            if name != host { references.append(reference) }
        }
        #expect(await self[host].engine.perform(.invite(references), line: nil).isDone)
        for name in members { _ = try await self[name].next("a chat") { $0.startedChat } }
    }

    subscript(_ name: String) -> TestNode {
        guard let node = nodes[name] else { preconditionFailure("a test asks for a node it did not start") }
        return node
    }

    /// A file of this many bytes that no compression makes smaller.
    func file(_ name: String, _ count: Int) throws -> String {
        let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 11) }
        var bytes: [UInt8] = []
        for piece in 0...(count >> 20) { bytes += [UInt8(piece)] + block.dropFirst() }
        try folder.file(name, Array(bytes.prefix(count)))
        return folder(name)
    }

    func arrived(_ name: String) throws -> [String] {
        try TemporaryFolder.tree(folder(name), times: false)
    }

    func stop() async { for node in nodes.values { await node.engine.stop() } }
}

extension NodeEvent {
    var offer: FileOffer? { if case .fileOffered(let offer) = self { offer } else { nil } }

    func result(of name: String) -> TransferResult? {
        if case .fileDelivered(_, let result) = self, result.peer.name == name { result } else { nil }
    }
}

extension NodeEngine {
    /// Waits for a moment in which nothing is kept for transfers any more.
    func idle() async -> Bool {
        for _ in 0..<12_000 {
            if hub.writers == 0, hub.jobs.isEmpty { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}

@Suite("Transfers between nodes", .timeLimit(.minutes(8))) struct TransferTests {
    private func offer(_ path: String, by name: String, on stage: TransferStage) async throws {
        #expect(await stage[name].engine.perform(.send(paths: [path], to: []), line: nil).isDone)
    }

    private func accept(_ name: String, on stage: TransferStage) async throws {
        let offer = try await stage[name].next("an offer") { $0.offer }
        #expect(await stage[name].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
    }

    @Test("Who joins late talks and takes files like everyone else")
    func lateJoiner() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: ["host", "ada", "late"])
        #expect(await stage["ada"].engine.perform(.say("early"), line: nil).isDone)
        _ = try await stage["host"].next("the line") { $0.message }
        let late = try TestNode("late") { settings in
            settings.downloads = stage.folder("late")
            settings.invitations = .all
            settings.files = .all
        }
        let reference = try await late.start()
        #expect(await stage["host"].engine.perform(.invite([reference]), line: nil).isDone)
        _ = try await late.next("a chat") { $0.startedChat }
        #expect(await stage["ada"].engine.perform(.say("hello late"), line: nil).isDone)
        #expect(try await late.next("the line") { $0.message }.text == "hello late")
        try await offer(stage.file("data", 3 << 20), by: "ada", on: stage)
        let done = try await stage["ada"].next("the end") { $0.results }
        #expect(done.map(\.status) == [.verified, .verified])
        await late.engine.stop()
        await stage.stop()
    }

    @Test("A host that cancels its own copy goes on serving the others, and keeps nothing in the end")
    func hostCancels() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        try await offer(stage.file("data", 5 << 20), by: "ada", on: stage)
        let transfer = try await stage["host"].next("an offer") { $0.offer }
        let gate = try await stage["ada"].engine.gate(transfer.transfer, from: 3 << 20)
        #expect(await stage["host"].engine.perform(.accept(.number(transfer.number)), line: nil).isDone)
        #expect(await stage["host"].engine.hasReceived(2 << 20, of: transfer.transfer))
        #expect(await stage["host"].engine.perform(.cancel(.number(transfer.number)), line: nil).isDone)
        #expect(try await stage["ada"].next("the host's result") { $0.result(of: "host") }.status == .cancelled)
        try await accept("bob", on: stage)
        gate.open()
        #expect(try await stage["ada"].next("bob's result") { $0.result(of: "bob") }.status == .verified)
        #expect(try stage.arrived("bob").count == 1)
        #expect(await stage["host"].engine.idle())
        #expect(try stage.arrived("host").isEmpty)
        await stage.stop()
    }

    @Test("A host that takes what it relays, and then does not want it, goes on relaying")
    func hostCancelsWhatItRelays() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        try await offer(stage.file("data", 40 << 20), by: "ada", on: stage)
        let transfer = try await stage["host"].next("an offer") { $0.offer }
        let gate = try await stage["ada"].engine.gate(transfer.transfer, from: 3 << 20)
        try await accept("bob", on: stage)
        _ = try await stage["host"].next("bob's answer") { $0.hasAccepted(transfer.transfer) ? true : nil }
        #expect(await stage["host"].engine.perform(.accept(.number(transfer.number)), line: nil).isDone)
        #expect(await stage["host"].engine.hasReceived(2 << 20, of: transfer.transfer))
        #expect(await stage["host"].engine.perform(.cancel(.number(transfer.number)), line: nil).isDone)
        #expect(try await stage["ada"].next("the host's result") { $0.result(of: "host") }.status == .cancelled)
        gate.open()
        #expect(try await stage["ada"].next("bob's result") { $0.result(of: "bob") }.status == .verified)
        #expect(await stage["host"].engine.idle())
        #expect(try stage.arrived("host").isEmpty)
        await stage.stop()
    }

    @Test("Whoever stops in the middle of a transfer keeps only what can be continued", arguments: ["host", "bob"])
    func stops(_ name: String) async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        try await offer(stage.file("data", 5 << 20), by: "ada", on: stage)
        let transfer = try await stage[name].next("an offer") { $0.offer }
        let gate = try await stage["ada"].engine.gate(transfer.transfer, from: 3 << 20)
        #expect(await stage[name].engine.perform(.accept(.number(transfer.number)), line: nil).isDone)
        #expect(await stage[name].engine.hasReceived(2 << 20, of: transfer.transfer))
        await stage[name].engine.stop()
        let left = try stage.arrived(name).compactMap { $0.split(separator: " ").first }
        #expect(left.first == ".peerconnect-partial/" && left.allSatisfy { $0.hasPrefix(".peerconnect-partial/") })
        #expect(left.count { $0.hasSuffix(".pieces") } == 1)
        gate.open()
        await stage.stop()
    }

    @Test("Declined by all, or withdrawn, a transfer is forgotten by everyone")
    func forgotten() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        try await offer(stage.file("data", 10), by: "ada", on: stage)
        for name in ["host", "bob"] {
            let offer = try await stage[name].next("an offer") { $0.offer }
            #expect(await stage[name].engine.perform(.decline(.number(offer.number)), line: nil).isDone)
        }
        let results = try await stage["ada"].next("the end") { $0.results }
        #expect(results.map(\.status) == [.declined, .declined])
        for name in ["host", "ada", "bob"] { #expect(await stage[name].engine.idle()) }
        await stage.stop()
    }

    @Test("An offer to one peer that is refused, or given up, ends with its outcome and nothing is kept")
    func offerToOne() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: [])
        let sender = try TestNode("sender") { $0.maximumChats = 4 }
        _ = try await sender.start()
        let busy = PeerReference("127.0.0.1:\(await stage["ada"].engine.listener?.port ?? 0)")
        let path = try stage.file("data", 10)
        #expect(await sender.engine.offer([path], to: busy, answerWithin: 20, stallAfter: 60, line: -1).isDone)
        #expect(try await sender.next("an answer") { $0.answer } == .busy)
        #expect(await sender.engine.idle())

        let asked = try TestNode("asked")
        let reference = try await asked.start()
        #expect(await sender.engine.offer([path], to: reference, answerWithin: 20, stallAfter: 60, line: -2).isDone)
        _ = try await asked.next("a question") { $0.question }
        await sender.engine.withdrawOffer(line: -2)
        #expect(try await asked.next("its withdrawal") { $0.withdrawal } == "withdrawn")
        #expect(await sender.engine.idle())
        for node in [sender, asked] { await node.engine.stop() }
        await stage.stop()
    }

    @Test("A member that asks for the same bytes again and again has one connection, and gets them")
    func asksAgain() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: ["bob"])
        try await offer(stage.file("data", 8 << 20), by: "host", on: stage)
        let offer = try await stage["bob"].next("an offer") { $0.offer }
        let before = try Self.sendThreads()
        try await stage["bob"].engine.askAgain(300, for: offer.transfer)
        // Asked for last, so that all of it has been looked at.
        #expect(await stage["bob"].engine.perform(.say("done"), line: nil).isDone)
        _ = try await stage["host"].next("the line") { $0.message }
        // Other tests run beside this one.
        #expect(try Self.sendThreads() < before + 100)
        let count = await stage["host"].engine.connections(for: offer.transfer) ?? 0
        #expect(count <= 1)
        await stage.stop()
    }

    /// Threads of this process that serve somebody.
    private static func sendThreads() throws -> Int {
        try Folder.open("/proc/self/task").names().names.count { name in
            var text = [UInt8](repeating: 0, count: 16)
            _ = try? text.withUnsafeMutableBytes {
                try Paths.openFile("/proc/self/task/\(name)/comm").read(at: 0, into: $0)
            }
            return text.starts(with: "send\n".utf8)
        }
    }
}

extension NodeEngine {
    func hasReceived(_ count: UInt64, of transfer: TransferID) async -> Bool {
        for _ in 0..<12_000 {
            if let landing = hub.jobs[transfer]?.landing, landing.received >= count { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    fileprivate func askAgain(_ count: Int, for transfer: TransferID) throws {
        let connection = try #require(connections.values.first { $0.remote != nil })
        for _ in 0..<count {
            handle(
                connection.send(.get(Get(transfer: transfer, ticket: randomBytes(16), piece: 0))), of: connection)
        }
    }

    fileprivate func connections(for transfer: TransferID) -> Int? { hub.jobs[transfer]?.sending.count }
}

extension NodeEvent {
    fileprivate var results: [TransferResult]? {
        if case .fileDone(_, let results, _) = self { results } else { nil }
    }

    fileprivate func hasAccepted(_ transfer: TransferID) -> Bool {
        if case .fileAnswered(transfer, _, true, _) = self { true } else { false }
    }

    fileprivate var withdrawal: String? {
        if case .inviteWithdrawn(_, let reason) = self { reason } else { nil }
    }
}
