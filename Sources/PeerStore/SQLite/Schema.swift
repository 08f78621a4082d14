/// The tables of one kind of database, as the steps that lead to them.
///
/// A step that was ever released never changes: databases that went through it are out there.
struct Schema: Sendable {
    /// Tells one kind of database from others (`PRAGMA application_id`).
    let applicationID: Int32
    /// The first makes a new database's tables, each further one turns a version into the next; at least one.
    let migrations: [StaticString]

    /// The newest version (`PRAGMA user_version`), counted from 1.
    var version: Int { migrations.count }

    /// Makes the tables in a database that has nothing in it.
    func create(in database: inout Database) throws(StoreError) {
        // Before the first table, or it does nothing; lets a shrunk database give its pages back bit by bit.
        try database.script("PRAGMA auto_vacuum = INCREMENTAL")
        try database.script("PRAGMA application_id = \(applicationID)")
        try migrate(&database)
    }

    /// Throws unless the database is of this kind and of a known version.
    func check(_ database: inout Database) throws(StoreError) {
        guard try database.integer("PRAGMA application_id") == Int64(applicationID) else {
            throw .foreign(path: database.path)
        }
        let found = try database.integer("PRAGMA user_version")
        guard found <= Int64(version) else {
            throw .newer(path: database.path, version: Int(clamping: found), known: version)
        }
        guard found >= 1 else { throw database.damaged("its version is \(found)") }
    }

    /// Takes the steps that are missing, each in a transaction of its own; safe to be called by several processes at
    /// once.
    func migrate(_ database: inout Database) throws(StoreError) {
        // Most often there is nothing to do, and then nobody is to wait.
        while try database.integer("PRAGMA user_version") < Int64(version) {
            try database.transaction { database throws(StoreError) in
                // Again, now that nobody else can be taking the same step.
                let found = try database.integer("PRAGMA user_version")
                guard let done = Int(exactly: found), migrations.indices.contains(done) else { return }
                try database.script(migrations[done].description)
                try database.script("PRAGMA user_version = \(done + 1)")
            }
        }
    }
}
