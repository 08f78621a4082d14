import CSQLite
import Foundation
import PeerModel
import Testing

@testable import PeerStore

/// A folder for one test, removed with all that is in it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/peerconnect-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("mkdtemp: \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// The names in it, or in a folder of it.
    func names(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self(name))) }

    func write(_ name: String, _ bytes: Data) throws { try bytes.write(to: URL(fileURLWithPath: self(name))) }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Permission bits of a file.
func mode(_ path: String) throws -> mode_t {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Failure("lstat \(path): \(errno)") }
    return status.st_mode & 0o7777
}

/// Another program's view of a database: SQLite without anything of this project around it.
func raw(_ path: String, _ sql: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open(path, &handle) == SQLITE_OK, sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
        throw Failure(String(cString: sqlite3_errmsg(handle)))
    }
}

/// The first column of the rows that a statement gives, as text.
func rawRows(_ path: String, _ sql: String) throws -> [String] {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    var statement: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK,
        sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
    else { throw Failure(String(cString: sqlite3_errmsg(handle))) }
    defer { sqlite3_finalize(statement) }
    var rows: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
        rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
    }
    return rows
}

// MARK: What is recorded

func peerID(_ byte: UInt8) -> PeerID {
    guard let digest = Digest([UInt8](repeating: byte, count: Digest.size)) else { preconditionFailure("32 bytes") }
    return PeerID(digest)
}

func transferID(_ byte: UInt8) -> TransferID { TransferID(peerID(byte).digest) }

func chatID(_ bytes: UInt8...) -> ChatID {
    let all = bytes + [UInt8](repeating: 0, count: ChatID.size - bytes.count)
    guard let id = ChatID(bytes: all) else { preconditionFailure("16 bytes") }
    return id
}

let ada = Peer(id: peerID(1), name: "Ada")
let bob = Peer(id: peerID(2), name: "Bob")
let eve = Peer(id: peerID(3), name: "Eve")

/// Ada hosts, Bob and Eve are members.
func started(_ chat: ChatID) -> NodeEvent {
    .chatStarted(chat: chat, role: .host, host: ada, members: [bob, eve])
}

func line(_ chat: ChatID, _ seq: UInt64, _ text: String, from: Peer = bob, sent: Int64 = 5) -> NodeEvent {
    .message(ChatMessage(chat: chat, seq: seq, from: from, text: text, sent: sent, ref: nil, line: nil))
}

func offer(
    _ transfer: TransferID, _ name: String, from: Peer = bob, to: [Peer] = [ada, eve], size: UInt64? = 7,
    in chat: ChatID = chatID(1)
) -> NodeEvent {
    .fileOffered(
        FileOffer(
            number: 1, chat: chat, transfer: transfer, from: from, to: to, isMine: from.id == ada.id,
            summary: OfferSummary(name: name, size: size, files: 2), line: nil))
}

func received(_ transfer: TransferID, _ paths: [String]) -> NodeEvent {
    .fileReceived(ReceivedFiles(transfer: transfer, from: bob, paths: paths, size: 7, mended: [], skipped: []))
}

/// A new history in a folder.
func makeHistory(_ folder: TemporaryFolder) throws -> History {
    try #require(try History.open(in: folder.path, creating: true))
}

extension History {
    /// As Ada, each a millisecond after the one before.
    func record(_ events: NodeEvent..., from time: Int64 = 1000) throws {
        for (time, event) in zip(time..., events) { try record(event, by: ada, at: time) }
    }

    func texts(_ search: String, limit: Int = 100) throws -> [String] {
        try messages(matching: search, limit: limit).map(\.text)
    }
}

/// A connection to `test.db` in a folder, made if it is not there.
func makeDatabase(
    _ folder: TemporaryFolder, _ schema: Schema = .knownPeers, journal: Database.Journal = .automatic
) throws -> Database {
    let database = try Database.open(
        "test.db", in: folder.path, schema: schema, creating: true, journal: journal, durability: .eventual)
    guard let database else { throw Failure("no database, though it was to be made") }
    return database
}

extension History {
    /// Whether the search index holds exactly what the messages say.
    func isIndexRight() throws -> Bool {
        try raw(path, "INSERT INTO search(search, rank) VALUES('integrity-check', 1)")
        return true
    }
}
