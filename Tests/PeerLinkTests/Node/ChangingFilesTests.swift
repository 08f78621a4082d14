import Glibc
import PeerModel
import PeerSystem
import Testing

@testable import PeerLink

@Suite("Files that change while they are sent", .timeLimit(.minutes(8))) struct ChangingFilesTests {
    /// Writes over some bytes of a file in place, as an editor may.
    private func overwrite(_ path: String, at offset: Int) throws {
        let raw = open(path, O_WRONLY)
        try #require(raw >= 0)
        defer { close(raw) }
        #expect(pwrite(raw, [1, 2, 3, 4] as [UInt8], 4, offset) == 4)
    }

    /// A folder of a small file, one of 3 MiB and another small one, 1 MiB behind.
    private func tree(on stage: TransferStage) throws -> String {
        try stage.folder.file("tree/a", [1])
        _ = try stage.file("tree/b", 3 << 20)
        _ = try stage.file("tree/c", 1 << 20)
        try stage.folder.file("tree/d", [2])
        return stage.folder("tree")
    }

    private func send(_ path: String, on stage: TransferStage) async throws {
        #expect(await stage["host"].engine.perform(.send(paths: [path], to: []), line: nil).isDone)
    }

    private func accept(_ name: String, on stage: TransferStage) async throws -> TransferResult {
        let offer = try await stage[name].next("an offer") { $0.offer }
        #expect(await stage[name].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        return try await stage["host"].next("a result") { $0.result(of: name) }
    }

    @Test("A file of a folder that changed after others had it is left out for who comes later, and the rest arrives")
    func slowRecipient() async throws {
        let stage = try await TransferStage(host: "host", members: ["early", "late"], takers: ["early"])
        try await send(tree(on: stage), on: stage)
        #expect(try await stage["host"].next("a result") { $0.result(of: "early") }.status == .verified)
        try overwrite(stage.folder("tree/b"), at: 2 << 20)
        let result = try await accept("late", on: stage)
        #expect(result.status == .partial)
        #expect(result.reason == .changed)
        let arrived = try stage.arrived("late").map { $0.prefix { $0 != " " } }
        #expect(arrived.contains("tree/a") && arrived.contains("tree/d") && !arrived.contains("tree/b"))
        let files = try await stage["late"].next("the files") { $0.received }
        #expect(files.skipped.contains { $0.hasPrefix("tree/b: ") })
        await stage.stop()
    }

    @Test("A file of a folder that grew arrives as it was offered, with all that lies beside it")
    func grown() async throws {
        let stage = try await TransferStage(host: "host", members: ["early", "late"], takers: ["early"])
        try await send(tree(on: stage), on: stage)
        #expect(try await stage["host"].next("a result") { $0.result(of: "early") }.status == .verified)
        try overwrite(stage.folder("tree/b"), at: 3 << 20)
        #expect(try await accept("late", on: stage).status == .verified)
        #expect(try stage.arrived("late") == stage.arrived("early"))
        await stage.stop()
    }

    @Test("A file that changes between its hashing and its sending is left out")
    func fastRecipient() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: [])
        try await send(tree(on: stage), on: stage)
        let offer = try await stage["ada"].next("an offer") { $0.offer }
        let gate = try await stage["host"].engine.gate(offer.transfer, from: 1 << 20)
        #expect(await stage["ada"].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        #expect(await stage["host"].engine.hasHashedAll(of: offer.transfer))
        try overwrite(stage.folder("tree/b"), at: 2 << 20)
        gate.open()
        let result = try await stage["host"].next("a result") { $0.result(of: "ada") }
        #expect(result.status == .partial)
        #expect(result.reason == .changed)
        await stage.stop()
    }

    @Test("A single file that changed is given up as changed, through a host that passes it on too", arguments: [0, 1])
    func singleFile(sender: Int) async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        let name = ["host", "ada"][sender]
        let path = try stage.file("data", 40 << 20)
        #expect(await stage[name].engine.perform(.send(paths: [path], to: []), line: nil).isDone)
        let transfer = try await stage[name].next("an offer") { $0.offer }.transfer
        let gate = try await stage[name].engine.gate(transfer, from: 1 << 20)
        let offer = try await stage["bob"].next("an offer") { $0.offer }
        #expect(await stage["bob"].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        #expect(await stage[name].engine.hasHashed(30, of: transfer))
        try overwrite(path, at: 20 << 20)
        gate.open()
        let result = try await stage[name].next("a result") { $0.result(of: "bob") }
        #expect(result.status == .failed)
        #expect(result.reason == .changed)
        await stage.stop()
    }
}

extension NodeEngine {
    func hasHashed(_ count: UInt64, of transfer: TransferID) async -> Bool {
        for _ in 0..<12_000 {
            if let job = hub.jobs[transfer], job.ledger.state.read({ $0.count }) >= count { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    fileprivate func hasHashedAll(of transfer: TransferID) async -> Bool {
        guard let job = hub.jobs[transfer] else { return false }
        return await hasHashed(job.ledger.pieces, of: transfer)
    }
}

extension NodeEvent {
    var received: ReceivedFiles? { if case .fileReceived(let files) = self { files } else { nil } }
}
