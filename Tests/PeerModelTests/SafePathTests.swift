import PeerModel
import Testing

@Suite("Paths of a manifest")
struct SafePathTests {
    @Test("A path of ordinary names is split", arguments: ["a", "a/b", "ä b/\"c'/🙂", ".hidden/..x/...", "a/\u{301}b"])
    func takes(path: String) throws {
        let components = try SafePath.components(path)
        #expect(components.map(String.init).joined(separator: "/").utf8.elementsEqual(path.utf8))
    }

    @Test(
        "What could lead elsewhere is refused",
        arguments: [
            ("", .empty), ("/a", .emptyComponent), ("a/", .emptyComponent), ("a//b", .emptyComponent),
            ("/", .emptyComponent),
            (".", .dots), ("..", .dots), ("a/../b", .dots), ("a/./b", .dots), ("../a", .dots), ("a\0b", .zeroByte),
        ] as [(String, SafePath.Problem)])
    func refuses(path: String, problem: SafePath.Problem) {
        #expect(throws: problem) { try SafePath.components(path) }
    }

    @Test("Limits hold exactly: 255 bytes a name, 64 names, 4,095 bytes")
    func limits() throws {
        let name = String(repeating: "x", count: 255)
        _ = try SafePath.components(name)
        #expect(throws: SafePath.Problem.componentTooLong) { try SafePath.components(name + "x") }
        #expect(throws: SafePath.Problem.componentTooLong) {
            try SafePath.components(String(repeating: "ä", count: 128))
        }
        let deep = Array(repeating: "d", count: 64).joined(separator: "/")
        #expect(try SafePath.components(deep).count == 64)
        #expect(throws: SafePath.Problem.tooDeep) { try SafePath.components(deep + "/d") }
        let long = Array(repeating: name, count: 16).joined(separator: "/")
        #expect(long.utf8.count == 4095)
        _ = try SafePath.components(long)
        #expect(throws: SafePath.Problem.tooLong) { try SafePath.components(long + "x") }
    }

    @Test(
        "A link stays inside its top-level folder",
        arguments: [
            ("b", 2, true), ("./b", 2, true), ("..", 3, true), ("../c/d", 3, true), (".", 2, true), ("b//c/", 2, true),
            ("..", 2, false), ("../..", 3, false), ("/etc/passwd", 3, false), ("b", 1, false), ("", 2, false),
            ("b/../c", 4, false), ("b/..", 4, false), ("a\0b", 2, false), ("../../b", 3, false),
        ])
    func links(target: String, depth: Int, isInside: Bool) {
        #expect(SafePath.staysInside(target: target, linkDepth: depth) == isInside)
    }

    @Test(
        "Numbers stand before the ending",
        arguments: [
            ("a.txt", 0, false, "a.txt"), ("a.txt", 1, false, "a (1).txt"), ("a.tar.gz", 2, false, "a (2).tar.gz"),
            (".bashrc", 1, false, ".bashrc (1)"), ("noending", 3, false, "noending (3)"), ("v1.0", 1, true, "v1.0 (1)"),
            ("a.", 1, false, "a (1)."),
        ])
    func numbers(name: String, number: Int, isFolder: Bool, expected: String) {
        #expect(NumberedName.name(name, number, isFolder: isFolder) == expected)
    }

    @Test("A numbered name still fits in 255 bytes and keeps its ending")
    func longNames() {
        let name = NumberedName.name(String(repeating: "ä", count: 125) + ".jpeg", 12, isFolder: false)
        #expect(name.utf8.count <= 255)
        #expect(name.hasSuffix(" (12).jpeg"))
    }
}
