import PeerModel
import PeerSystem
import PeerTLS
import Testing

@testable import PeerLink

@Suite("Transfers through a host that go on after a restart", .timeLimit(.minutes(8))) struct ResumeThroughHostTests {
    private func send(_ path: String, on stage: TransferStage) async throws -> (TransferID, GatedStore) {
        #expect(await stage["ada"].engine.perform(.send(paths: [path], to: []), line: nil).isDone)
        _ = try await stage["host"].next("an offer") { $0.offer }
        let offer = try await stage["bob"].next("an offer") { $0.offer }
        return (offer.transfer, try await stage["ada"].engine.gate(offer.transfer, from: 25 << 20))
    }

    private func accept(_ names: [String], on stage: TransferStage) async throws {
        for name in names {
            let number = try #require(await stage[name].engine.snapshot().transfers.first).offer.number
            #expect(await stage[name].engine.perform(.accept(.number(number)), line: nil).isDone)
        }
    }

    @Test(
        "Each recipient goes on from where it was, whether the host keeps the files or only passes them on",
        arguments: [(["bob"], false), (["host", "bob"], false), (["host", "bob"], true)])
    func restarted(takers: [String], bobHasLostAll: Bool) async throws {
        let first = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        let path = try first.file("data", 40 << 20)
        let (before, gate) = try await send(path, on: first)
        try await accept(takers, on: first)
        for name in takers { #expect(await first[name].engine.hasReceived(24 << 20, of: before)) }
        await first.stop()
        gate.open()
        if bobHasLostAll { try Folder.open(first.folder.path).removeTree("bob") }

        let second = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [], after: first)
        let (transfer, open) = try await send(path, on: second)
        open.open()
        #expect(transfer == before)
        try await accept(takers, on: second)
        if takers == ["bob"] { #expect(await second["host"].engine.perform(.decline(nil), line: nil).isDone) }
        for name in takers {
            let progress = try await second[name].next("progress of \(name)") { event in
                if case .fileProgress(let progress) = event { progress } else { nil }
            }
            #expect((progress.from ?? 0 >= 23 << 20) == !(name == "bob" && bobHasLostAll))
            // One at a time, since either may be first.
            let result = try await second["ada"].next("a result") { event in
                if case .fileDelivered(_, let result) = event, takers.contains(result.peer.name) { result } else { nil }
            }
            #expect(result.status == .verified, "\(result.peer.name)")
        }
        for name in takers { #expect(TemporaryFolder.areEqual(path, second.folder("\(name)/data"))) }
        await second.stop()
    }
}
