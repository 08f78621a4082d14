import Foundation
import PeerModel

@testable import PeerLink

/// A home folder of its own for one test, removed afterwards.
final class ScratchHome: Sendable {
    let path: String
    let folders: Folders

    init() throws {
        var template = Array("/tmp/peerconnect-identity-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(call: "mkdtemp") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        folders = try Folders(home: path, environment: [:])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // what is left of it does no harm
    }

    struct Failure: Error { let call: String }

    /// Another store on the same folder, which shares nothing in memory with the first.
    var store: IdentityStore { IdentityStore(folders: folders) }
    var identities: String { folders.data + "/identities" }

    func keyFile(_ id: PeerID) -> String { "\(identities)/\(id).pem" }

    func read(_ file: String) throws -> [UInt8] {
        guard let stream = fopen(file, "r") else { throw Failure(call: "fopen") }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, stream)
        return Array(bytes.prefix(count))
    }

    func write(_ file: String, _ bytes: some Sequence<UInt8>, mode: mode_t = 0o600) throws {
        guard let stream = fopen(file, "w") else { throw Failure(call: "fopen") }
        let bytes = Array(bytes)
        fwrite(bytes, 1, bytes.count, stream)
        fclose(stream)
        chmod(file, mode)
    }

    func mode(_ file: String) throws -> mode_t {
        var status = stat()
        guard lstat(file, &status) == 0 else { throw Failure(call: "lstat") }
        return status.st_mode & 0o7777
    }

    /// The names in the folder of identities, hidden ones too.
    func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: identities)) ?? []).sorted()
    }
}
