import Glibc
import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import TestSupport
import Testing

@testable import PeerLink

@Suite("Landing behind what is here already") struct ResumedLandingTests {
    let from: TemporaryFolder, into: TemporaryFolder
    private let key = SigningKey.generate()

    init() throws {
        from = try TemporaryFolder()
        into = try TemporaryFolder()
    }

    /// Files, folders, empty ones, links and mended names; `c` ends where piece 9 does.
    private func tree() throws -> SignedStream {
        func make(_ size: Int) throws -> TransferSource {
            let folder = try Folder.open(from.path)
            try folder.removeContent()
            try from.file("a", noise(2_500_000, 1), mode: 0o755)
            try from.file("b/empty")
            try from.folder("b/hollow/deep")
            try from.file("b/x\u{7F}y", noise(1_300_000, 2))
            try from.file("c", noise(size, 3))
            for index in 0..<40 { try from.file("d/\(index)", noise(index * 997, UInt64(index))) }
            try from.file("d/e/f/g", noise(9_000_000, 4))
            try from.file("z", noise(7, 5))
            try from.link("d/link", to: "e/f/g")
            return try SourceWalk.walk(paths: ["a", "b", "c", "d", "z"].map { from($0) })
        }
        let rough = try make(5_000_000)
        let before = rough.manifestBytes.count + 2_500_000 + 1_300_000
        return try SignedStream(make(9 * Limits.pieceSize - before), key)
    }

    private func expectLanded(_ stream: SignedStream, _ landing: Landing) throws {
        let landed = try #require(try landing.finish(dropping: []))
        #expect(landed.mended == ["b/x\u{7F}y → x_y"] && landed.skipped.isEmpty)
        try Folder.open(into.path).folder("b").renameNew("x_y", to: Folder.open(into("b")), as: "x\u{7F}y")
        let (there, here) = (try TemporaryFolder.tree(from.path), try TemporaryFolder.tree(into.path))
        // Renaming has just touched that folder.
        #expect(here.filter { !$0.hasPrefix("b/ ") } == there.filter { !$0.hasPrefix("b/ ") })
    }

    @Test("From whatever piece it goes on, everything arrives", arguments: 1...20 as ClosedRange<UInt64>)
    func everyPlace(piece: UInt64) throws {
        var stream = try tree()
        let pieces = stream.ledger.pieces
        #expect(pieces == 20 || pieces == 19)
        let last = min(piece, pieces)
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: last)
        if last < pieces { try first.append(Array(stream.bytes(of: last + 1).dropLast(100))) }
        first.die()
        let second = try stream.landing(in: into.path)
        #expect(second.kept.count == last)
        #expect(second.kept.proof?.index == (last == pieces ? pieces : last >= 16 ? 16 : nil))
        #expect(second.received == stream.ledger.range(of: last).upperBound)
        let count = Int(second.received)
        #expect(try second.bytes(at: 0, count: count) == stream.source.bytes(at: 0, count: count))
        try stream.feed(second, upTo: pieces)
        try expectLanded(stream, second)
    }

    @Test("Interrupted again and again, and even in the end, everything arrives")
    func againAndAgain() throws {
        let stream = try tree(), pieces = stream.ledger.pieces
        for last in 1...pieces {
            var run = stream
            let landing = try run.landing(in: into.path)
            #expect(landing.kept.count == last - 1)
            try run.feed(landing, upTo: last)
            landing.die()
        }
        let ended = try stream.landing(in: into.path)
        #expect(ended.kept.count == pieces)
        // As if it had been killed while the links were made.
        try ended.partials.folder(ended.partialName).folder("d").makeLink("link", to: "e/f/g")
        ended.die()
        let last = try stream.landing(in: into.path)
        #expect(last.kept.count == pieces)
        try expectLanded(stream, last)
    }

    @Test("A sender's key that did not sign what is here continues nothing behind the first signature")
    func otherKey() throws {
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 18)
        first.die()
        let other = try Landing(
            folder: into.path, transfer: stream.offer.transfer, offer: stream.offer,
            signedBy: SigningKey.generate().publicKey)
        #expect(other.kept.count == 15 && other.kept.proof == nil)
    }

    @Test(
        "Files that are not as they were left are not continued",
        arguments: ["shorter", "missing", "link", "folder", "longer", "of another transfer"])
    func odd(what: String) throws {
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 18)
        first.die()
        let partial = try Folder.open(into(".peerconnect-partial")).folder(first.partialName)
        switch what {
        case "shorter": try partial.openFileToWrite("a").setSize(2_499_999)
        case "longer": try partial.openFileToWrite("a").setSize(2_500_001)
        case "missing": try partial.remove("a")
        case "link":
            try into.file("elsewhere", noise(2_500_000, 1))
            try partial.remove("a")
            try partial.makeLink("a", to: into("elsewhere"))
        case "folder":
            try partial.remove("a")
            _ = try partial.makeFolder("a")
        default:
            let record = try Folder.open(into(".peerconnect-partial")).openFileToWrite(first.partialName + ".pieces")
            try record.write([0], at: 20)
        }
        let second = try stream.landing(in: into.path)
        #expect(second.kept.count == 0 && second.received == 0)
        #expect(try TemporaryFolder.tree(into(".peerconnect-partial")).count == 1)
        if what == "link" { #expect(try Paths.status(into("elsewhere")).size == 2_500_000) }
        try stream.feed(second, upTo: 0)
        var again = try SignedStream(stream.source, key)
        try again.feed(second, upTo: stream.ledger.pieces)
        if what != "link" { try expectLanded(again, second) }
    }

    @Test("What was written but is not what it was is noticed where it may not have reached the disk")
    func lostWithThePower() throws {
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 18)
        first.die()
        let partial = try Folder.open(into(".peerconnect-partial")).folder(first.partialName)
        // In piece 12, as a file system leaves it whose content was not written out.
        try partial.folder("d").folder("e").folder("f").openFileToWrite("g").write(
            [UInt8](repeating: 0, count: 99), at: 2_000_000)
        let second = try stream.landing(in: into.path)
        #expect((9...13).contains(second.kept.count))
        var again = try SignedStream(stream.source, key)
        try again.feed(second, upTo: stream.ledger.pieces)
        try expectLanded(again, second)
    }

    @Test("Two landings of the same transfer at once do not meet, and only one continues")
    func twoAtOnce() throws {
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 5)
        first.die()
        let second = try stream.landing(in: into.path), third = try stream.landing(in: into.path)
        #expect(second.kept.count == 5 && third.kept.count == 0)
        var other = try SignedStream(stream.source, key)
        for landing in [second, third] {
            var run = other
            try run.feed(landing, upTo: other.ledger.pieces)
        }
        try other.feed(second, upTo: 0)
        #expect(try second.finish(dropping: [])?.paths.first == into("a"))
        #expect(try third.finish(dropping: [])?.paths.first == into("a (1)"))
        #expect(try !Folder.open(into.path).names().names.contains(".peerconnect-partial"))
    }

    @Test("A record cut or spoiled anywhere never makes other files, and no landing fails of it")
    func garbage() throws {
        let stream = try tree()
        var run = stream
        let first = try run.landing(in: into.path)
        try run.feed(first, upTo: 18)
        first.die()
        let partials = try Folder.open(into(".peerconnect-partial"))
        let name = first.partialName + ".pieces"
        let size = try partials.status(of: name).size
        let whole = try partials.openFile(name).read(atMost: Int(size))
        var random = SeededGenerator(seed: 7)
        for round in 0..<24 {
            var bytes = whole
            if round % 2 == 0 {
                bytes.removeLast(Int.random(in: 0...whole.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
                }
            }
            try partials.replaceFile(name, with: bytes, mayBeLost: true)
            let landing = try stream.landing(in: into.path)
            let count = Int(landing.received)
            #expect(
                try landing.bytes(at: 0, count: count) == stream.source.bytes(at: 0, count: count), "round \(round)")
            var again = stream
            try again.feed(landing, upTo: 18)
            landing.die()
        }
    }

    @Test("What nobody came back for in a month is removed, and nothing else")
    func forgotten() throws {
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 5)
        first.die()
        try from.file("other", [1, 2, 3])
        let other = try SignedStream(SourceWalk.walk(paths: [from("other")]), key)
        do { try other.landing(in: into.path).remove() }
        let partials = into(".peerconnect-partial")
        #expect(try TemporaryFolder.tree(partials).contains { $0.contains(".pieces") })
        let old = FileStatus.Time(seconds: WallClock.milliseconds() / 1000 - 31 * 86_400, nanoseconds: 0)
        let folder = try Folder.open(partials)
        try folder.folder(first.partialName).setModified(old)
        do { try other.landing(in: into.path).remove() }
        #expect(try Folder.open(partials).names().names.count == 2)
        try folder.openFile(first.partialName + ".pieces").setModified(old)
        do { try other.landing(in: into.path).remove() }
        #expect(try !Folder.open(into.path).names().names.contains(".peerconnect-partial"))
    }

    @Test("However many are interrupted, a bounded number is kept, and of those most of which most is here")
    func tooMany() throws {
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 5)
        first.die()
        let partials = try Folder.open(into(".peerconnect-partial"))
        for number in 0..<200 {
            _ = try partials.makeFolder("small\(number)")
            try partials.createFile("small\(number).pieces").write([1, 2, 3], at: 0)
        }
        try from.file("other", [1, 2, 3])
        let other = try SignedStream(SourceWalk.walk(paths: [from("other")]), key)
        let landing = try other.landing(in: into.path)
        #expect(try partials.names().names.filter { !$0.hasSuffix(".pieces") }.count == Limits.partials)
        landing.remove()
        #expect(try stream.landing(in: into.path).kept.count == 5)
    }

    @Test("What is unfinished is listed with what is here of it, and removed unless it is going on")
    func unfinished() throws {
        #expect(Unfinished.list(in: into.path).isEmpty && Unfinished.clean(into.path).isEmpty)
        var stream = try tree()
        let first = try stream.landing(in: into.path)
        try stream.feed(first, upTo: 5)
        let going = try #require(Unfinished.list(in: into.path).first)
        #expect(going.isGoingOn && going.transfer == stream.offer.transfer)
        #expect(going.names == ["a", "b/", "c", "d/", "z"] && going.size == stream.source.totalSize)
        #expect(going.here == stream.ledger.range(of: 5).upperBound - stream.offer.manifestLength)
        #expect(Unfinished.clean(into.path).isEmpty)
        first.die()
        #expect(Unfinished.list(in: into.path).map(\.isGoingOn) == [false])
        // Looking at it does not take it.
        #expect(try stream.landing(in: into.path).kept.count == 5)
        #expect(Unfinished.clean(into.path).map(\.transfer) == [stream.offer.transfer])
        try #expect(Folder.open(into.path).names().names.isEmpty)
    }

    @Test("Room is asked only for what is missing")
    func room() throws {
        var stream = try tree()
        let size = stream.source.totalSize
        #expect(Landing.bytesHere(of: stream.offer.transfer, size: size, in: into.path) == 0)
        let first = try stream.landing(in: into.path)
        for count in [5, 15, 17, 18, stream.ledger.pieces] {
            try stream.feed(first, upTo: count)
            let here = stream.ledger.range(of: count).upperBound - stream.offer.manifestLength
            #expect(Landing.bytesHere(of: stream.offer.transfer, size: size, in: into.path) == here)
            #expect(Landing.bytesHere(of: nil, size: size, in: into.path) == here)
        }
        #expect(Landing.bytesHere(of: nil, size: size + 1, in: into.path) == 0)
        #expect(Landing.bytesHere(of: TransferID(SHA256.hash([1])), size: size, in: into.path) == 0)
    }
}
