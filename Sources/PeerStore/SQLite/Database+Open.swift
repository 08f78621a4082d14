extension Database {
    /// How changes are written down before they are made.
    enum Journal {
        /// A write-ahead log where the file system allows it: readers and a writer do not wait for each other.
        case automatic
        /// A rollback journal, as everywhere where the log cannot be.
        case rollback
    }

    /// What a power cut may take; a killed process loses nothing that was committed, either way.
    enum Durability {
        /// Never the database itself, but the last seconds: for what is written often.
        case eventual
        /// Nothing: each commit waits for the disk.
        case full
    }

    /// Opens a database and brings it to the newest version.
    ///
    /// - Returns: `nil` when there is none and none is to be made.
    static func open(
        _ name: String, in folder: String, schema: Schema, creating: Bool, journal: Journal = .automatic,
        durability: Durability
    ) throws(StoreError) -> Database? {
        guard let file = try DatabaseFile(name, in: folder, creating: creating) else { return nil }
        if try !file.check() {
            guard creating else { return nil }
            try file.create { new throws(StoreError) in
                var database = try Database(path: new)
                try schema.create(in: &database)
                try database.configure(journal, .full)
            }
        }
        var database = try Database(path: file.path)
        // Without shared memory even reading a database that has a log needs it for itself, until the log is given up.
        if !database.mayHaveLog(journal) { try database.script("PRAGMA locking_mode = EXCLUSIVE") }
        try schema.check(&database)  // before anything is changed in it
        try database.configure(journal, durability)
        try schema.migrate(&database)
        return database
    }

    private func mayHaveLog(_ journal: Journal) -> Bool {
        journal == .automatic && DatabaseFile.allowsSharedMemory(path)
    }

    private mutating func configure(_ journal: Journal, _ durability: Durability) throws(StoreError) {
        try script(
            """
            PRAGMA foreign_keys = ON;
            PRAGMA cell_size_check = ON;
            PRAGMA secure_delete = ON; -- what is deleted is overwritten
            PRAGMA temp_store = MEMORY; -- nothing of it is written to other folders
            """)
        let hasLog = mayHaveLog(journal) ? try startLog() : false
        if !hasLog { try stopLog() }
        // With a log a torn write is found by its checksum; a rollback journal must be on the disk before it counts.
        try script("PRAGMA synchronous = \(hasLog && durability == .eventual ? "NORMAL" : "FULL")")
    }

    /// Whether a write-ahead log is used from now on.
    private mutating func startLog() throws(StoreError) -> Bool {
        do {
            return try first("PRAGMA journal_mode = WAL") { $0.text(0) } == "wal"
        } catch {
            // A file system may promise shared memory and then not have it, so that this fails instead of saying no.
            guard case .failed = error else { throw error }
            return false
        }
    }

    private mutating func stopLog() throws(StoreError) {
        try script("PRAGMA locking_mode = EXCLUSIVE")
        let mode = try first("PRAGMA journal_mode = DELETE") { $0.text(0) }
        try script("PRAGMA locking_mode = NORMAL")
        _ = try integer("SELECT count(*) FROM sqlite_schema")  // the lock is given back at the next use only
        guard mode == "delete" else { throw .busy(path: path) }
    }
}
