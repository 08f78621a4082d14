#ifndef PEERCONNECT_CSQLITE_SHIM_H
#define PEERCONNECT_CSQLITE_SHIM_H

#include <sqlite3.h>
#include <sys/vfs.h>

// Macros and variadic calls, which Swift cannot use.

static const int pc_sqlite_short_read = SQLITE_IOERR_SHORT_READ;

static inline int pc_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 size) {
    return sqlite3_bind_text64(statement, index, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}
// What a file brings along may neither run code nor reach around SQLite's own checks (www.sqlite.org/security.html).
static inline int pc_sqlite_harden(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return code;
}
// The magic number of a file system (statfs(2)), by which the kind of journal is chosen; 0 when it is not known.
static inline unsigned int pc_file_system_kind(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (unsigned int)status.f_type : 0;
}

#endif
