import PeerModel
import PeerSystem
import PeerWire
import Testing

@testable import PeerLink

@Suite("Landing what a hostile sender offers")
struct HostileLandingTests {
    let into: TemporaryFolder

    init() throws { into = try TemporaryFolder() }

    private func entry(
        _ path: String, _ kind: ManifestEntry.Kind = .file, size: UInt64 = 0, target: String = ""
    ) -> ManifestEntry {
        ManifestEntry(kind: kind, mode: 0o644, seconds: 0, nanoseconds: 0, size: size, path: path, target: target)
    }

    private func expectCorrupt(_ body: () throws -> Void) {
        #expect {
            try body()
        } throws: { error in
            if case .corrupt = error as? TransferFailure { true } else { false }
        }
    }

    @Test(
        "Paths out of the folder make nothing",
        arguments: ["../x", "/tmp/peerconnect-hostile", "d/../../x", "d/..", "d//x"])
    func paths(path: String) throws {
        let (landing, bytes) = try landing([entry("d", .folder), entry(path, size: 1)], in: into("in"))
        expectCorrupt { try landing.append(bytes + [1]) }
        landing.remove()
        #expect(try TemporaryFolder.tree(into.path, times: false).map { $0.prefix(4) } == ["in/ "])
        #expect(throws: SystemError.self) { try Paths.status("/tmp/peerconnect-hostile") }
    }

    @Test("Nothing is written through a link of the same transfer")
    func throughLink() throws {
        try into.folder("outside")
        for target in [into("outside"), "../../../outside", "x"] {
            let entries = [
                entry("d", .folder), entry("d/l", .link, target: target), entry("d/l/x", size: 1),
            ]
            let (landing, bytes) = try landing(entries, in: into("in"))
            expectCorrupt { try landing.append(bytes + [1]) }
            landing.remove()
        }
        #expect(try TemporaryFolder.tree(into("outside")).isEmpty)
    }

    @Test("Nothing is written through a link that was planted in the partial folder")
    func plantedLink() throws {
        try into.folder("outside")
        let entries = [entry("d", .folder), entry("d/a", size: 1), entry("d/e", .folder), entry("d/e/x", size: 1)]
        let (landing, bytes) = try landing(entries, in: into("in"))
        try landing.append(bytes)
        let partials = try Folder.open(into("in/.peerconnect-partial"))
        let own = try #require(try partials.names().names.first)
        try partials.folder(own).folder("d").makeLink("e", to: into("outside"))
        try landing.append([1, 2])
        let landed = try #require(try landing.finish(dropping: []))
        #expect(landed.mended == ["d/e → e (1)"])
        #expect(try TemporaryFolder.tree(into("outside")).isEmpty)
        #expect(try Paths.status(into("in/d/e (1)/x")).size == 1)
    }

    @Test("A manifest other than the offered one is refused")
    func otherManifest() throws {
        let good = try #require(Manifest([entry("a", size: 1)])), other = try #require(Manifest([entry("b", size: 1)]))
        let bytes = try good.encoded()
        for wrong in [
            try offer(other.encoded(), entries: 1, files: 1, size: 1), try offer(bytes, entries: 2, files: 1, size: 1),
            try offer(bytes, entries: 1, files: 0, size: 1), try offer(bytes, entries: 1, files: 1, size: 2),
        ] {
            let landing = try Landing(folder: into.path, transfer: wrong.transfer, offer: wrong)
            expectCorrupt { try landing.append(bytes) }
            landing.remove()
        }
        #expect(try TemporaryFolder.tree(into.path).isEmpty)
    }

    @Test(
        "What lands has the names that were shown with the offer",
        arguments: [["b"], ["a", "b"], ["d/"], ["a", "d"], ["a/", "d/"], ["a", "d/", "e"]])
    func otherNames(names: [String]) throws {
        let manifest = try #require(Manifest([entry("a", size: 1), entry("d", .folder), entry("d/b")]))
        let bytes = try manifest.encoded()
        let wrong = try offer(bytes, entries: 3, files: 2, size: 1, names: names)
        let refused = try Landing(folder: into.path, transfer: wrong.transfer, offer: wrong)
        #expect(throws: TransferFailure.self) { try refused.append(bytes) }
        // Before any file was made.
        #expect(try TemporaryFolder.tree(into(".peerconnect-partial")).count == 1)
        refused.remove()
        let right = try offer(bytes, entries: 3, files: 2, size: 1, names: ["d/", "a"])
        let landing = try Landing(folder: into.path, transfer: right.transfer, offer: right)
        try landing.append(bytes)
        landing.remove()
    }

    @Test("An offer shows the first twenty names, and more may land")
    func manyNames() throws {
        let names = (10..<35).map { "f\($0)" }
        let manifest = try #require(Manifest(names.map { entry($0) })), bytes = try manifest.encoded()
        for (shown, isRight) in [
            (names.suffix(20), true), (names.prefix(19), false), (names.prefix(19) + ["x"], false),
            (names.prefix(19) + [names[0]], false),
        ] {
            let offer = try offer(bytes, entries: 25, files: 25, size: 0, names: Array(shown))
            let landing = try Landing(folder: into.path, transfer: offer.transfer, offer: offer)
            if isRight {
                try landing.append(bytes)
            } else {
                #expect(throws: TransferFailure.self) { try landing.append(bytes) }
            }
            landing.remove()
        }
    }

    @Test(
        "Names are mended for Windows",
        arguments: [
            ("a:b?c*d|e\"f<g>h\\i", "a_b_c_d_e_f_g_h_i"), ("end.", "end_"), ("end ", "end_"), ("NUL", "_NUL"),
            ("nul.txt", "_nul.txt"), ("com1", "_com1"), ("common", "common"), ("a\u{1}b", "a_b"), ("ä.txt", "ä.txt"),
        ])
    func windowsNames(name: String, expected: String) {
        #expect(MendedName.forWindows(name) == expected)
    }
}
