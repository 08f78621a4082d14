package import PeerModel
internal import Synchronization

/// What was said and sent in all chats of this user, in one database that several processes may use at once.
///
/// Any thread may call, and all calls exclude each other. Each blocks on the disk, and up to five seconds on another
/// process that writes: call from a thread that may wait, never from the shared pool. What a call has written survives
/// a killed process; a power cut may take the last seconds.
///
/// To keep nothing, do not open it.
package final class History: Sendable {
    /// The name of its file.
    package static let fileName = "history.db"

    /// What is known besides the database.
    struct State: ~Copyable {
        var database: Database
        /// The chats that run here, so that a file finds its chat, and one whose record is cleared meanwhile goes on.
        var running: [RunningChat] = []
    }

    /// The database's absolute path.
    package let path: String
    private let state: Mutex<State>

    /// Opens the history in a folder.
    ///
    /// - Parameters:
    ///   - folder: The state folder; it and its files are made the user's alone (modes 0700 and 0600).
    ///   - creating: Whether to make folder and database when they are not there.
    /// - Returns: `nil` when there is none and none is to be made.
    /// - Throws: `damaged`, `newer` and the like: a database that is there is never replaced.
    package static func open(in folder: String, creating: Bool) throws(StoreError) -> History? {
        try open(in: folder, creating: creating, journal: .automatic)
    }

    static func open(in folder: String, creating: Bool, journal: Database.Journal) throws(StoreError) -> History? {
        guard
            let database = try Database.open(
                fileName, in: folder, schema: .history, creating: creating, journal: journal, durability: .eventual)
        else { return nil }
        return History(database)
    }

    private init(_ database: consuming sending Database) {
        path = database.path
        state = Mutex(State(database: database))
    }

    // MARK: Writing

    /// Whether an event is history: others need not be told.
    package static func keeps(_ event: NodeEvent) -> Bool { Recorder.isHistory(event) }

    /// Keeps an event, if it is history; others are ignored and cost nothing.
    ///
    /// - Parameters:
    ///   - event: Those of one chat come in their order; one that is told again changes nothing.
    ///   - me: The own identity that saw it.
    ///   - time: When, in milliseconds since 1970.
    /// - Throws: When nothing was written; the event may be told again.
    package func record(_ event: NodeEvent, by me: Peer, at time: Int64) throws(StoreError) {
        try record([(event, time)], by: me)
    }

    /// Keeps many events at once: all of them or, when it throws, none.
    ///
    /// Waits for other processes for `patience` seconds, if that is given.
    package func record(
        _ events: [(event: NodeEvent, time: Int64)], by me: Peer, patience: Double? = nil
    ) throws(StoreError) {
        guard events.contains(where: { Recorder.isHistory($0.event) }) else { return }
        try state.withLock { state throws(StoreError) in
            var recorder = Recorder(me: me, running: state.running)
            // Also when it fails: what runs, runs, and its next event adds the chat.
            state.database.setPatience(patience)
            defer {
                state.database.setPatience(nil)
                state.running = recorder.running
            }
            try state.database.transaction { database throws(StoreError) in
                for (event, time) in events { try recorder.record(event, at: time, in: &database) }
            }
        }
    }

    // MARK: Reading

    /// The chats, newest first, of one own identity or of all.
    package func chats(own: PeerID? = nil, limit: Int = .max) throws(StoreError) -> [ChatRecord] {
        try reading { database throws(StoreError) in try database.chats(start: "", own: own, limit: limit) }
    }

    /// The one chat whose ID begins like this, letter case ignored; `nil` when there is none.
    ///
    /// - Throws: `ambiguous` when there are several. Two own identities in one chat are two records: name one of them.
    package func chat(_ prefix: String, own: PeerID? = nil) throws(StoreError) -> ChatRecord? {
        let found = try reading { database throws(StoreError) in
            try database.chats(start: prefix.lowercased(), own: own, limit: 20)
        }
        guard found.count <= 1 else { throw .ambiguous(prefix: prefix, chats: found.map(\.id)) }
        return found.first
    }

    /// The course of a chat, from after a position on, oldest first.
    package func entries(
        of chat: ChatRecord, after position: Int64 = 0, limit: Int = .max
    ) throws(StoreError) -> [HistoryEntry] {
        try reading { database throws(StoreError) in try database.entries(of: chat, after: position, limit: limit) }
    }

    /// The messages that have every word of a text in them, newest first.
    ///
    /// Words are found as parts of words too; letter case and accents do not matter. Any text may be searched for:
    /// nothing in it is an operator. Of more than 64 different words the 64 longest count.
    ///
    /// - Parameters:
    ///   - text: What to look for; without any word in it nothing is found.
    ///   - own: One own identity, or `nil` for all.
    ///   - position: For the next page, the last message's.
    ///   - limit: How many at most.
    /// - Returns: Less than `limit` when there are no more.
    /// - Throws: Only what the database itself is to blame for, whatever the text is.
    package func messages(
        matching text: String, own: PeerID? = nil, before position: Int64 = .max, limit: Int = 100
    ) throws(StoreError) -> [MessageRecord] {
        try reading { database throws(StoreError) in
            try database.messages(SearchQuery(text), own: own, before: position, limit: limit)
        }
    }

    /// The offers of files, newest first; with a text, those that have every word of it in their name, paths or sender.
    package func files(
        matching text: String = "", own: PeerID? = nil, limit: Int = .max
    ) throws(StoreError) -> [FileRecord] {
        try reading { database throws(StoreError) in
            try database.files(SearchQuery(text), own: own, limit: limit)
        }
    }

    /// Throws `readOnly` and the like when nothing can be written; writes nothing.
    package func requireWritable() throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            try state.database.transaction { _ throws(StoreError) in }
        }
    }

    /// What SQLite finds wrong with the database; reads all of it.
    package func problems() throws(StoreError) -> [String] {
        try state.withLock { state throws(StoreError) in try state.database.problems() }
    }

    private func reading<Result: Sendable>(
        _ body: @Sendable (inout Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try state.withLock { state throws(StoreError) in try state.database.snapshot(body) }
    }

    // MARK: Forgetting

    /// Removes chats with all that was said and sent in them, so that their text is in none of the files any more.
    ///
    /// One that still runs is kept again from its next event on. Writes the whole database anew, which passes through
    /// memory and keeps other processes from writing: a second or two for 100,000 messages.
    ///
    /// - Returns: How many were there.
    /// - Throws: `busy` when another process is in the way for too long; traces of what is gone go with the next call.
    @discardableResult
    package func clear(_ chats: [ChatRecord]) throws(StoreError) -> Int {
        try state.withLock { state throws(StoreError) in
            let count = try state.database.transaction { database throws(StoreError) in try database.remove(chats) }
            try state.database.scrub()
            return count
        }
    }

    /// Removes everything, likewise.
    @discardableResult
    package func clearAll() throws(StoreError) -> Int {
        try state.withLock { state throws(StoreError) in
            let count = try state.database.transaction { database throws(StoreError) in try database.removeAll() }
            try state.database.scrub()
            return count
        }
    }

    /// Drops the oldest entries beyond the limits; for the start, and now and then in a long run.
    ///
    /// Chats that run here stay, however little of them is left. Cheap while nothing is beyond. Waits for other processes
    /// for `patience` seconds, if that is given.
    ///
    /// - Returns: How many entries were dropped.
    @discardableResult
    package func prune(
        to limits: HistoryLimits = HistoryLimits(), now: Int64, patience: Double? = nil
    ) throws(StoreError) -> Int {
        try state.withLock { state throws(StoreError) in
            state.database.setPatience(patience)
            defer { state.database.setPatience(nil) }
            let running = state.running.map { ($0.own, $0.chat) }
            return try state.database.prune(to: limits, now: now, sparing: running)
        }
    }
}
