import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Synchronization
import Testing

@testable import PeerLink

/// Something that takes as long as a test wants.
private final class Hold: Sendable {
    private let state = Monitor((isReached: false, isOpen: false))

    func wait() {
        state.update { $0.isReached = true }
        _ = state.wait(seconds: 120) { $0.isOpen ? true : nil }
    }

    func open() { state.update { $0.isOpen = true } }

    func reached() async -> Bool {
        for _ in 0..<12_000 {
            if state.read({ $0.isReached }) { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}

extension NodeEngine {
    /// Makes the disk slow in the end.
    fileprivate func holdSync() -> Hold {
        let hold = Hold()
        openLanding = { (folder, transfer, offer, key) throws(TransferFailure) in
            try Landing(folder: folder, transfer: transfer, offer: offer, signedBy: key) {
                (folder) throws(SystemError) in
                hold.wait()
                try folder.syncFileSystem()
            }
        }
        return hold
    }

    /// Makes the disk slow in the beginning, and full then if it `fails`.
    fileprivate func holdOpening(fails: Bool) -> Hold {
        let hold = Hold()
        openLanding = { (folder, transfer, offer, key) throws(TransferFailure) in
            hold.wait()
            guard !fails else { throw .unwritable("There is no such folder.") }
            return try Landing(folder: folder, transfer: transfer, offer: offer, signedBy: key)
        }
        return hold
    }

    /// Makes the disk slow in the beginning, where 3 bytes of an earlier attempt are found.
    fileprivate func holdContinuing() -> Hold {
        let hold = Hold()
        openLanding = { (folder, transfer, offer, key) throws(TransferFailure) in
            let landing = try Landing(folder: folder, transfer: transfer, offer: offer, signedBy: key)
            landing.log.withLock { $0.add(SHA256.hash([1]), manifest: [1, 2, 3]) }
            hold.wait()
            return landing
        }
        return hold
    }

    fileprivate func isServing(_ transfer: TransferID) async -> Bool {
        for _ in 0..<12_000 {
            if hub.jobs[transfer]?.sending.isEmpty == false { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}

@Suite("Disks that take their time", .timeLimit(.minutes(8))) struct SlowLandingTests {
    private func send(_ path: String, by name: String, on stage: TransferStage) async throws {
        #expect(await stage[name].engine.perform(.send(paths: [path], to: []), line: nil).isDone)
    }

    @Test("That the last byte has come is told at once, not when it is safe on the disk")
    func lastByteIsTold() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: ["ada"])
        let hold = await stage["ada"].engine.holdSync()
        try await send(stage.file("data", 5 << 20), by: "host", on: stage)
        #expect(await hold.reached())
        let all = try await stage["host"].next("the last progress") { event in
            if case .fileProgress(let progress) = event, progress.bytes == progress.size { progress.bytes } else { nil }
        }
        #expect(all == 5 << 20)
        #expect(await !stage["host"].has { $0.result(of: "ada") != nil })
        hold.open()
        #expect(try await stage["host"].next("a result") { $0.result(of: "ada") }.status == .verified)
        await stage.stop()
    }

    @Test("What was told to have failed does not land afterwards")
    func noLandingAfterwards() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: ["ada"])
        let hold = await stage["ada"].engine.holdSync()
        try await send(stage.file("data", 2 << 20), by: "host", on: stage)
        #expect(await hold.reached())
        #expect(await stage["host"].engine.perform(.end, line: nil).isDone)
        #expect(try await stage["ada"].next("a result") { $0.result(of: "ada") }.status == .failed)
        hold.open()
        #expect(await stage["ada"].engine.idle())
        #expect(await !stage["ada"].has { $0.received != nil })
        #expect(try stage.arrived("ada").allSatisfy { $0.hasPrefix(".peerconnect-partial/") })
        await stage.stop()
    }

    @Test("What was cancelled while its place was still looked for is not kept")
    func cancelledEarly() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: [])
        let hold = await stage["ada"].engine.holdContinuing()
        try await send(stage.file("data", 3 << 20), by: "host", on: stage)
        let offer = try await stage["ada"].next("an offer") { $0.offer }
        #expect(await stage["ada"].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        #expect(await hold.reached())
        #expect(await stage["ada"].engine.perform(.cancel(.number(offer.number)), line: nil).isDone)
        #expect(try await stage["ada"].next("a result") { $0.result(of: "ada") }.status == .cancelled)
        hold.open()
        #expect(await stage["ada"].engine.idle())
        #expect(try stage.arrived("ada").isEmpty)
        await stage.stop()
    }

    @Test(
        "Who is served from files that the host then cannot keep, or does not want, gets them nevertheless",
        arguments: [true, false])
    func hostCannotKeep(fails: Bool) async throws {
        let stage = try await TransferStage(host: "host", members: ["ada", "bob"], takers: [])
        let hold = await stage["host"].engine.holdOpening(fails: fails)
        try await send(stage.file("data", 3 << 20), by: "ada", on: stage)
        let offer = try await stage["host"].next("an offer") { $0.offer }
        #expect(await stage["host"].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        #expect(await hold.reached())
        let bobs = try await stage["bob"].next("an offer") { $0.offer }
        #expect(await stage["bob"].engine.perform(.accept(.number(bobs.number)), line: nil).isDone)
        #expect(await stage["host"].engine.isServing(offer.transfer))
        if !fails { #expect(await stage["host"].engine.perform(.cancel(.number(offer.number)), line: nil).isDone) }
        hold.open()
        #expect(try await stage["ada"].next("bob's result") { $0.result(of: "bob") }.status == .verified)
        #expect(await stage["host"].engine.idle())
        #expect(try stage.arrived("bob").count == 1)
        await stage.stop()
    }

    @Test("Files that all came are not called changed because a link beside them could not be made")
    func missingLink() async throws {
        let stage = try await TransferStage(host: "host", members: ["ada"], takers: [])
        try stage.folder.folder("tree/e")
        try stage.folder.link("tree/e/l", to: "../z")
        let path = try stage.file("tree/z", 3 << 20)
        try await send(stage.folder("tree"), by: "host", on: stage)
        let offer = try await stage["ada"].next("an offer") { $0.offer }
        let gate = try await stage["host"].engine.gate(offer.transfer, from: 2 << 20)
        #expect(await stage["ada"].engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        #expect(await stage["ada"].engine.hasReceived(1 << 20, of: offer.transfer))
        // As a file system without links would have it.
        let partials = try Folder.open(stage.folder("ada/.peerconnect-partial"))
        let own = try #require(try partials.names().names.first { !$0.hasSuffix(".pieces") })
        try partials.folder(own).folder("tree").removeFolder("e")
        gate.open()
        let result = try await stage["host"].next("a result") { $0.result(of: "ada") }
        #expect(result.status == .partial)
        #expect(result.reason == .unwritable)
        #expect(try Paths.status(path).size == Paths.status(stage.folder("ada/tree/z")).size)
        await stage.stop()
    }
}
