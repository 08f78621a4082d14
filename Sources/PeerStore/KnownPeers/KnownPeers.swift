package import PeerModel
internal import Synchronization

/// The peers this user has met, trusted or blocked, in one database that several processes may use at once.
///
/// Any thread may call, and all calls exclude each other. Each blocks on the disk, and up to five seconds on another
/// process that writes: call from a thread that may wait, never from the shared pool. What a call has written survives
/// a killed process and a power cut.
package final class KnownPeers: Sendable {
    /// The name of its file.
    package static let fileName = "peers.db"

    /// The database's absolute path.
    package let path: String
    private let database: Mutex<Database>

    /// Opens the list in a folder.
    ///
    /// - Parameters:
    ///   - folder: The data folder; it and the files are made the user's alone (modes 0700 and 0600).
    ///   - creating: Whether to make folder and database when they are not there.
    /// - Returns: `nil` when there is none and none is to be made: nobody is known.
    /// - Throws: `damaged`, `newer` and the like: a database that is there is never replaced.
    package static func open(in folder: String, creating: Bool) throws(StoreError) -> KnownPeers? {
        guard
            let database = try Database.open(
                fileName, in: folder, schema: .knownPeers, creating: creating, durability: .full)
        else { return nil }
        return KnownPeers(database)
    }

    private init(_ database: consuming sending Database) {
        path = database.path
        self.database = Mutex(database)
    }

    // MARK: Looking up

    /// All of them, by name, then by ID; waits for other processes for `patience` seconds, if that is given.
    package func list(patience: Double? = nil) throws(StoreError) -> [KnownPeer] {
        try database.withLock { database throws(StoreError) in
            database.setPatience(patience)
            defer { database.setPatience(nil) }
            return try database.knownPeers()
        }
    }

    /// The one with this ID.
    package func peer(_ id: PeerID) throws(StoreError) -> KnownPeer? {
        try database.withLock { database throws(StoreError) in try database.knownPeer(id) }
    }

    /// Those whose ID begins like this, letter case ignored.
    package func peers(idPrefix: String) throws(StoreError) -> [KnownPeer] {
        let start = idPrefix.lowercased()
        return try list().filter { $0.peer.id.description.hasPrefix(start) }
    }

    /// Those that hold this name, letter case ignored as in every name that is typed.
    package func peers(named name: String) throws(StoreError) -> [KnownPeer] {
        let name = name.lowercased()
        return try list().filter { $0.holdsName && $0.peer.name.lowercased() == name }
    }

    /// Those that hold the name of this peer and are not it: when it is new, they are whom it may be taken for.
    package func namesakes(of peer: Peer) throws(StoreError) -> [KnownPeer] {
        try peers(named: peer.name).filter { $0.peer.id != peer.id }
    }

    /// How a peer is known that proves this ID and calls itself by this name.
    package func standing(of peer: Peer) throws(StoreError) -> Standing {
        try Acquaintances(list()).standing(of: peer)
    }

    /// Those that are trusted, or blocked.
    package func ids(_ trust: Trust) throws(StoreError) -> Set<PeerID> {
        Set(try list().filter { $0.trust == trust }.map(\.peer.id))
    }

    // MARK: Changing

    /// Notes that a peer proved its key in an accepted chat; its name becomes the one it has now.
    ///
    /// Waits for other processes for `patience` seconds, if that is given.
    package func met(_ peer: Peer, at time: Int64, patience: Double? = nil) throws(StoreError) {
        try database.withLock { database throws(StoreError) in
            database.setPatience(patience)
            defer { database.setPatience(nil) }
            try database.run(
                """
                INSERT INTO peer(id, name, first_seen, last_seen, trust) VALUES(?1, ?2, ?3, ?3, 'neutral')
                ON CONFLICT DO UPDATE SET
                    name = ?2, first_seen = coalesce(first_seen, ?3), last_seen = max(coalesce(last_seen, ?3), ?3)
                """, .text(peer.id.description), .text(peer.name), .integer(time))
        }
    }

    /// Trusts or blocks a peer, or neither; also one that was never met.
    ///
    /// One that was never met is forgotten when it is neither. The name is for one that is not on the list yet; that of
    /// others stays.
    package func set(_ trust: Trust, for id: PeerID, name: String) throws(StoreError) {
        try database.withLock { database throws(StoreError) in
            try database.transaction { database throws(StoreError) in
                try database.run(
                    """
                    INSERT INTO peer(id, name, trust) VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET trust = ?3
                    """, .text(id.description), .text(name), .text(trust.rawValue))
                try database.run("DELETE FROM peer WHERE trust = 'neutral' AND first_seen IS NULL")
            }
        }
    }

    /// Takes a peer off the list, trusted or blocked as it may be; false when it is not on it.
    @discardableResult
    package func forget(_ id: PeerID) throws(StoreError) -> Bool {
        try database.withLock { database throws(StoreError) in
            let before = database.changes
            try database.run("DELETE FROM peer WHERE id = ?", .text(id.description))
            return database.changes > before
        }
    }

    /// Throws `readOnly` and the like when nothing can be written; writes nothing.
    package func requireWritable() throws(StoreError) {
        try database.withLock { database throws(StoreError) in try database.transaction { _ throws(StoreError) in } }
    }

    /// What SQLite finds wrong with the database; reads all of it.
    package func problems() throws(StoreError) -> [String] {
        try database.withLock { database throws(StoreError) in try database.problems() }
    }
}

extension Schema {
    /// The known peers' table; IDs in their text form, times in milliseconds since 1970.
    static let knownPeers = Schema(
        applicationID: 0x7063_6B70,  // "pckp"
        migrations: [
            """
            CREATE TABLE peer(
                id TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                first_seen INTEGER,
                last_seen INTEGER,
                trust TEXT NOT NULL
            ) WITHOUT ROWID;
            """
        ])
}

extension Database {
    private static let all: StaticString = "SELECT id, name, first_seen, last_seen, trust FROM peer ORDER BY name, id"
    private static let one: StaticString = "SELECT id, name, first_seen, last_seen, trust FROM peer WHERE id = ?"

    fileprivate mutating func knownPeers() throws(StoreError) -> [KnownPeer] {
        let path = path
        return try rows(Self.all) { row throws(StoreError) in try Self.knownPeer(row, path) }
    }

    fileprivate mutating func knownPeer(_ id: PeerID) throws(StoreError) -> KnownPeer? {
        let path = path
        return try first(Self.one, .text(id.description)) { row throws(StoreError) in try Self.knownPeer(row, path) }
    }

    private static func knownPeer(_ row: borrowing Row, _ path: String) throws(StoreError) -> KnownPeer {
        KnownPeer(
            peer: try parsePeer(row.text(0), row.text(1), path), firstSeen: row.optionalInteger(2),
            lastSeen: row.optionalInteger(3), trust: try parse(row.text(4), Trust.init, path))
    }
}
