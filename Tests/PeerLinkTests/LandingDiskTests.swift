import Glibc
import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Synchronization
import Testing

@testable import PeerLink

@Suite("Landing on a disk that fails") struct LandingDiskTests {
    private let from: TemporaryFolder, into: TemporaryFolder
    private let key = SigningKey.generate()

    init() throws {
        from = try TemporaryFolder()
        into = try TemporaryFolder()
    }

    /// A disk that is asked again and again, and fails at one of these times.
    private final class Disk: Sendable {
        private let count = Mutex(0)
        private let failing: Int
        var asked: Int { count.withLock { $0 } }

        init(failing: Int) { self.failing = failing }

        func sync(_ folder: Folder) throws(SystemError) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == failing { throw SystemError(call: "syncfs", code: EIO) }
        }

        var syncing: Landing.Syncing { { [self] (folder) throws(SystemError) in try sync(folder) } }
    }

    private func stream(pieces: Int) throws -> SignedStream {
        try from.file("a", [1])
        let before = try SourceWalk.walk(paths: [from("a")]).manifestBytes.count
        try Folder.open(from.path).remove("a")
        try from.file("a", noise(pieces * Limits.pieceSize - before, 1))
        let stream = try SignedStream(SourceWalk.walk(paths: [from("a")]), key)
        #expect(stream.source.length == UInt64(pieces * Limits.pieceSize))
        return stream
    }

    @Test("A disk that fails while files come ends the transfer, though it does not say so again")
    func failsOnce() throws {
        var stream = try stream(pieces: 70)
        let disk = Disk(failing: 1)
        let landing = try stream.landing(in: into.path, syncing: disk.syncing)
        #expect(throws: TransferFailure.self) { try stream.feed(landing, upTo: 70) }
        #expect(disk.asked == 1)
        landing.die()
        // What the disk may never have got is not continued.
        #expect(try stream.landing(in: into.path).kept.count == 0)
    }

    @Test("The end of the last file is waited for, too, when it fills its pieces exactly")
    func lastFile() throws {
        var stream = try stream(pieces: 128)
        let disk = Disk(failing: 0)
        let landing = try stream.landing(in: into.path, syncing: disk.syncing)
        try stream.feed(landing, upTo: 127)
        #expect(disk.asked == 1)
        try stream.feed(landing, upTo: 128)
        #expect(disk.asked == 2)
    }

    @Test("A record that cannot be read just now costs nothing of what is here")
    func unreadableRecord() throws {
        var stream = try stream(pieces: 20)
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 18)
        first.die()
        let partials = try Folder.open(into(".peerconnect-partial")), name = first.partialName + ".pieces"
        try partials.renameNew(name, to: partials, as: "aside")
        // A socket cannot be opened, whoever asks.
        #expect(mknod(into(".peerconnect-partial/" + name), S_IFSOCK | 0o600, 0) == 0)
        #expect(throws: TransferFailure.self) { try stream.landing(in: into.path) }
        try partials.remove(name)
        try partials.renameNew("aside", to: partials, as: name)
        #expect(try stream.landing(in: into.path).kept.count == 18)
    }

    @Test("What another landing goes on with is not removed by the one that gave it up")
    func removedByTheFormer() throws {
        var stream = try stream(pieces: 20)
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 18)
        first.leave(isContinuable: true)
        let second = try stream.landing(in: into.path)
        #expect(first.giveUp(keeping: false) == .mustBeRemoved)
        first.remove()
        #expect(second.kept.count == 18)
        try stream.feed(second, upTo: 20)
        #expect(try second.finish(dropping: [])?.paths == [into("a")])
    }

    @Test("A folder that is removed while it is locked is not taken for the one of that name")
    func removedMeanwhile() throws {
        let partials = try Folder.open(into.path)
        let old = try partials.makeFolder("x")
        #expect(try old.lock() && Landing.isStill(old, "x", in: partials))
        try partials.removeFolder("x")
        _ = try partials.makeFolder("y")
        _ = try partials.makeFolder("x")
        #expect(!Landing.isStill(old, "x", in: partials))
        #expect(try Landing.lock("x", in: partials) != nil)
    }
}
