internal import CSQLite

/// What is bound to a parameter.
enum Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    case null
    case integer(Int64)
    case text(String)

    init(integerLiteral value: Int64) { self = .integer(value) }
    init(stringLiteral value: String) { self = .text(value) }
    init(nilLiteral: ()) { self = .null }

    init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    init(_ value: Int) { self = .integer(Int64(value)) }
    init(_ value: String?) { self = value.map { .text($0) } ?? .null }
}

/// A prepared statement; the only owner of SQLite's, which is finalized when this is gone.
final class Statement {
    private let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sqlite3_finalize(pointer) }

    /// Gives SQLite's result code; the parameters count from the first.
    func bind(_ values: [Value]) -> CInt {
        for (index, value) in zip(CInt(1)..., values) {
            let code =
                switch value {
                case .null: sqlite3_bind_null(pointer, index)
                case .integer(let number): sqlite3_bind_int64(pointer, index, number)
                // With its length, since a text may hold zero bytes.
                case .text(let text): pc_sqlite_bind_text(pointer, index, text, sqlite3_uint64(text.utf8.count))
                }
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    /// Gives `SQLITE_ROW`, `SQLITE_DONE`, or the code of what went wrong.
    func step() -> CInt { sqlite3_step(pointer) }

    /// What `step` came to.
    var row: Row { Row(pointer: pointer) }

    /// Ends the reading, which would keep others from writing, and forgets what was bound.
    func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }
}

/// A row of a result, lent until the next step; columns count from 0.
struct Row: ~Copyable {
    fileprivate let pointer: OpaquePointer

    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(pointer, column) }
    func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    func text(_ column: CInt) -> String {
        // In this order: the size is that of the text which the first call made.
        guard let start = sqlite3_column_text(pointer, column) else { return "" }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
    func optionalText(_ column: CInt) -> String? { isNull(column) ? nil : text(column) }

    private func isNull(_ column: CInt) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
}
