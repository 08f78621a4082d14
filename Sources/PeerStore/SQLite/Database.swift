internal import CSQLite

/// One connection to a SQLite database and its prepared statements; the only owner of both.
///
/// Every call blocks on the disk, and for up to `patience` on other processes. SQLite's own locks are off: one thread
/// at a time may use it, and since it can neither be copied nor sent, whoever holds it in a `Mutex` has ensured that.
///
/// Nothing else in this process may open and close the database's file meanwhile: closing any descriptor of a file
/// gives back the process's locks on it (fcntl(2)), and with them SQLite's.
struct Database: ~Copyable {
    /// Several processes write, each for milliseconds; whoever waits longer than this waits for one that hangs.
    static let patience = 5.0

    let path: String
    private let handle: OpaquePointer
    /// Prepared once each: the texts are literals, so there are only so many.
    private var statements: [String: Statement] = [:]

    /// Opens a database that is there.
    init(path: String) throws(StoreError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        var code = sqlite3_open_v2(path, &handle, flags, nil)
        if let handle, code == SQLITE_OK {
            sqlite3_busy_timeout(handle, CInt(Self.patience * 1000))
            code = pc_sqlite_harden(handle)
        }
        guard let handle, code == SQLITE_OK else {
            let error = Self.error(code, of: handle, path: path)
            sqlite3_close_v2(handle)  // there is one after most failures too
            throw error
        }
        self.path = path
        self.handle = handle
    }

    // Ends for good when the last statement is finalized, which follows at once.
    deinit { sqlite3_close_v2(handle) }

    // MARK: Statements

    /// Does what gives no rows.
    mutating func run(_ sql: StaticString, _ values: Value...) throws(StoreError) {
        _ = try rows(prepared(sql), values) { _ in }
    }

    /// All rows of a result, each as `read` makes it.
    mutating func rows<Element>(
        _ sql: StaticString, _ values: Value..., read: (borrowing Row) throws(StoreError) -> Element
    ) throws(StoreError) -> [Element] {
        try rows(prepared(sql), values, read)
    }

    /// The first row of a result.
    mutating func first<Element>(
        _ sql: StaticString, _ values: Value..., read: (borrowing Row) throws(StoreError) -> Element
    ) throws(StoreError) -> Element? {
        try rows(prepared(sql), values, read).first
    }

    /// The first number of the first row; 0 when there is none.
    mutating func integer(_ sql: StaticString, _ values: Value...) throws(StoreError) -> Int64 {
        try rows(prepared(sql), values) { $0.integer(0) }.first ?? 0
    }

    /// All rows of a statement put together of literals, whose number of parameters varies.
    func rows<Element>(
        composed sql: String, _ values: [Value], read: (borrowing Row) throws(StoreError) -> Element
    ) throws(StoreError) -> [Element] {
        try rows(prepare(sql, flags: 0), values, read)
    }

    /// Does several statements, separated by semicolons; never with anything in them that comes from elsewhere.
    func script(_ sql: String) throws(StoreError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// How many rows have been changed since it was opened.
    var changes: Int64 { sqlite3_total_changes64(handle) }

    /// What SQLite finds wrong; reads everything.
    mutating func problems() throws(StoreError) -> [String] {
        try rows("PRAGMA integrity_check") { $0.text(0) }.filter { $0 != "ok" }
    }

    private func rows<Element>(
        _ statement: Statement, _ values: [Value], _ read: (borrowing Row) throws(StoreError) -> Element
    ) throws(StoreError) -> [Element] {
        defer { statement.reset() }
        try check(statement.bind(values))
        var result: [Element] = []
        while true {
            switch statement.step() {
            case SQLITE_ROW: result.append(try read(statement.row))
            case SQLITE_DONE: return result
            case let code: throw Self.error(code, of: handle, path: path)
            }
        }
    }

    private mutating func prepared(_ sql: StaticString) throws(StoreError) -> Statement {
        let text = sql.description
        if let statement = statements[text] { return statement }
        let statement = try prepare(text, flags: CUnsignedInt(SQLITE_PREPARE_PERSISTENT))
        statements[text] = statement
        return statement
    }

    private func prepare(_ sql: String, flags: CUnsignedInt) throws(StoreError) -> Statement {
        var pointer: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, flags, &pointer, nil))
        guard let pointer else { preconditionFailure("a statement of this program is empty") }
        return Statement(owning: pointer)
    }

    /// Waits for other processes no longer than this, until told otherwise; `nil` is the usual time.
    func setPatience(_ seconds: Double?) {
        sqlite3_busy_timeout(handle, CInt((seconds ?? Self.patience) * 1000))
    }

    // MARK: Transactions

    /// Does all of `body` or nothing of it, alone among all processes; what it threw is thrown again.
    mutating func transaction<Result>(
        _ body: (inout Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        // Immediate: a reader that becomes a writer is refused at once instead of waiting its turn.
        try within("BEGIN IMMEDIATE", body)
    }

    /// Reads what belongs together while others go on writing.
    mutating func snapshot<Result>(
        _ body: (inout Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try within("BEGIN", body)
    }

    private mutating func within<Result>(
        _ begin: StaticString, _ body: (inout Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try run(begin)
        do {
            let result = try body(&self)
            try run("COMMIT")
            return result
        } catch {
            // Some failures have ended it already (www.sqlite.org/lang_transaction.html, section 3.3).
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    // MARK: Errors

    private func check(_ code: CInt) throws(StoreError) {
        if code != SQLITE_OK { throw Self.error(code, of: handle, path: path) }
    }

    /// A value of the database that is none of those this program writes.
    func damaged(_ what: String) -> StoreError { .damaged(path: path, reason: what) }

    private static func error(_ code: CInt, of handle: OpaquePointer?, path: String) -> StoreError {
        let reason = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .damaged(path: path, reason: reason)
        case SQLITE_IOERR where code == pc_sqlite_short_read: return .damaged(path: path, reason: reason)
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy(path: path)
        case SQLITE_FULL: return .full(path: path)
        case SQLITE_IOERR where handle.map { isDiskFull(sqlite3_system_errno($0)) } == true: return .full(path: path)
        case SQLITE_READONLY: return .readOnly(path: path)
        default: return .failed(path: path, code: code, reason: reason)
        }
    }
}
