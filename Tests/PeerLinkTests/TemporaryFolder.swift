import Glibc
import PeerModel
import PeerSystem
import PeerTLS

/// A folder for one test, removed with all that is in it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/peerconnect-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", code: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        try? Folder.open("/tmp").removeTree(name)
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Makes a file and the folders above it.
    func file(_ name: String, _ bytes: [UInt8] = [], mode: UInt16 = 0o644) throws {
        let (folder, last) = try parent(of: name)
        let file = try folder.createFile(last)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.setMode(mode)
    }

    func folder(_ name: String) throws { _ = try Folder.make(path + "/" + name) }

    func link(_ name: String, to target: String) throws {
        let (folder, last) = try parent(of: name)
        try folder.makeLink(last, to: target)
    }

    private func parent(of name: String) throws -> (Folder, String) {
        var parts = name.split(separator: "/").map(String.init)
        let last = parts.removeLast()
        return (try Folder.make(([path] + parts).joined(separator: "/")), last)
    }

    /// Everything below a path, as `path kind mode content`, sorted; times too when asked for.
    static func tree(_ path: String, times: Bool = true) throws -> [String] {
        try tree(Folder.open(path), "", times).sorted()
    }

    private static func tree(_ folder: Folder, _ path: String, _ times: Bool) throws -> [String] {
        var lines: [String] = []
        for name in try folder.names().names {
            let status = try folder.status(of: name), inner = path + name
            let time = times && status.kind != .link ? " \(status.modified)" : ""
            switch status.kind {
            case .file:
                var bytes = [UInt8](repeating: 0, count: Int(status.size))
                _ = try bytes.withUnsafeMutableBytes { try folder.openFile(name).read(at: 0, into: $0) }
                // Written out only where a test looks at them.
                let content = bytes.count <= 16 ? "\(bytes)" : "\(bytes.count) \(SHA256.hash(bytes).bytes)"
                lines.append("\(inner) \(String(status.mode, radix: 8)) \(content)\(time)")
            case .folder:
                lines.append("\(inner)/ \(String(status.mode, radix: 8))\(time)")
                lines += try tree(folder.folder(name), inner + "/", times)
            case .link: lines.append("\(inner) -> \(try folder.target(of: name) ?? "?")")
            case .other: lines.append("\(inner) ?")
            }
        }
        return lines
    }
}
