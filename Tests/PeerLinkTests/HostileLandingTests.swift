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
        let landed = try landing.finish(dropping: [])
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
        "Names are mended for Windows",
        arguments: [
            ("a:b?c*d|e\"f<g>h\\i", "a_b_c_d_e_f_g_h_i"), ("end.", "end_"), ("end ", "end_"), ("NUL", "_NUL"),
            ("nul.txt", "_nul.txt"), ("com1", "_com1"), ("common", "common"), ("a\u{1}b", "a_b"), ("ä.txt", "ä.txt"),
        ])
    func windowsNames(name: String, expected: String) {
        #expect(MendedName.forWindows(name) == expected)
    }
}
