import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

/// What a relay passes on that changes what it was given.
private struct AlteringStore: PieceReading {
    let real: any PieceReading
    let offset: UInt64
    var length: UInt64 { real.length }

    func read(at start: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {
        try real.read(at: start, into: buffer)
        guard offset >= start, offset - start < UInt64(buffer.count) else { return }
        buffer[Int(offset - start)] ^= 1
    }
}

extension NodeEngine {
    /// Makes this sender alter one byte of what it sends; and the piece's hash as well, behind what was signed.
    fileprivate func alterUnread(_ transfer: TransferID, at offset: UInt64, withHash: Bool) throws {
        let job = try #require(hub.jobs[transfer])
        let store = AlteringStore(real: try #require(job.store.current), offset: offset)
        job.store.keep(in: store)
        guard withHash else { return }
        let piece = offset / UInt64(Limits.pieceSize) + 1, range = job.ledger.range(of: piece)
        let hash = SHA256.hash(try store.bytes(at: range.lowerBound, count: range.count))
        let start = Int(piece - 1) * Digest.size, ledger = job.ledger
        try BlockingThread.spawn("alter") {
            _ = ledger.state.wait(seconds: 60) { state -> Bool? in
                guard state.hashes.count >= start + Digest.size else { return nil }
                state.hashes.replaceSubrange(start..<(start + Digest.size), with: hash.bytes)
                return true
            }
        }
    }

    /// Makes this host alter one byte of what it passes on; and the piece's hash, so that only the sender's signature tells.
    fileprivate func alter(_ transfer: TransferID, at offset: UInt64, withHash: Bool) throws {
        let job = try #require(hub.jobs[transfer])
        let store = AlteringStore(real: try #require(job.store.current), offset: offset)
        job.store.keep(in: store)
        guard withHash else { return }
        let piece = offset / UInt64(Limits.pieceSize) + 1, range = job.ledger.range(of: piece)
        let hash = SHA256.hash(try store.bytes(at: range.lowerBound, count: range.count))
        let start = Int(piece - 1) * Digest.size
        job.ledger.state.update { $0.hashes.replaceSubrange(start..<(start + Digest.size), with: hash.bytes) }
    }
}

@Suite("A host that alters files on their way") struct AlteringHostTests {
    @Test(
        "A piece that the host changed is refused and the host named, with or without a matching hash",
        .timeLimit(.minutes(8)), arguments: [false, true])
    func alteredPiece(withHash: Bool) async throws {
        let folder = try TemporaryFolder()
        let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 11) }
        try folder.file("data", content)
        let host = try node("host", folder) { $0.files = .none }
        let sender = try node("sender", folder), early = try node("early", folder) { $0.files = .all }
        let late = try node("late", folder)
        var guests: [PeerReference] = []
        for guest in [sender, early, late] { guests.append(try await guest.start()) }
        _ = try await host.start()
        #expect(await host.engine.perform(.invite(guests), line: nil).isDone)
        for guest in [sender, early, late] { _ = try await guest.next("a chat") { $0.startedChat } }

        #expect(await sender.engine.perform(.send(paths: [folder("data")], to: []), line: nil).isDone)
        let offer = try await late.next("an offer") { $0.offer }
        let first = try await sender.next("a result") { $0.result(of: "early") }
        #expect(first.status == .verified)
        // The host keeps all of it now, for the one who has not answered yet.
        try await host.engine.alter(offer.transfer, at: 2 << 20 | 5, withHash: withHash)
        #expect(await late.engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        let warning = try await late.next("a warning") { $0.warning }
        #expect(warning.code == .badSignature)
        #expect(warning.peer.id == host.identity.id)
        // A signature that does not fit is the host's doing: it checks those itself. A hash is not.
        #expect(warning.text.contains("or by sender") != withHash)
        let second = try await sender.next("a result") { $0.result(of: "late") }
        #expect(second.status == .failed)
        #expect(second.reason == .corrupt)
        #expect(try TemporaryFolder.tree(folder("late")).isEmpty)
        for node in [host, sender, early, late] { await node.engine.stop() }
    }

    @Test(
        "A sender that alters what it signed is not taken for the host that passes it on",
        .timeLimit(.minutes(8)), arguments: [false, true])
    func alteringSender(withHash: Bool) async throws {
        let folder = try TemporaryFolder()
        let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 11) }
        try folder.file("data", content)
        let host = try node("host", folder) { $0.files = .none }
        let sender = try node("sender", folder), first = try node("first", folder), second = try node("second", folder)
        let nodes = [sender, first, second]
        var guests: [PeerReference] = []
        for guest in nodes { guests.append(try await guest.start()) }
        _ = try await host.start()
        #expect(await host.engine.perform(.invite(guests), line: nil).isDone)
        for guest in nodes { _ = try await guest.next("a chat") { $0.startedChat } }
        #expect(await sender.engine.perform(.send(paths: [folder("data")], to: []), line: nil).isDone)
        let offer = try await first.next("an offer") { $0.offer }
        try await sender.engine.alterUnread(offer.transfer, at: 2 << 20 | 5, withHash: withHash)
        #expect(await first.engine.perform(.accept(.number(offer.number)), line: nil).isDone)
        let result = try await sender.next("a result") { $0.result(of: "first") }
        #expect(result.status == .failed)
        #expect(result.reason == .corrupt)
        if withHash {
            // The host has noticed by itself, and passed nothing on that the sender did not sign.
            #expect(await !first.has { $0.warning != nil })
        } else {
            let warning = try await first.next("a warning") { $0.warning }
            #expect(warning.text.contains("host, who passes it on, or by sender"))
        }
        for node in nodes + [host] { await node.engine.stop() }
    }

    private func node(
        _ name: String, _ folder: TemporaryFolder, _ change: @escaping (inout NodeSettings) -> Void = { _ in }
    ) throws -> TestNode {
        try TestNode(name) { settings in
            settings.downloads = folder(name)
            settings.spools = folder("spools of \(name)")
            settings.invitations = .all
            change(&settings)
        }
    }
}

extension NodeEvent {
    fileprivate var warning: (code: WarningCode, peer: Peer, text: String)? {
        if case .warning(let code, let peer, let text) = self { (code, peer, text) } else { nil }
    }
}
