package import PeerModel
package import PeerStore
internal import PeerSystem

/// What is kept of a user besides identities: the history of chats and the known peers.
///
/// A node needs neither; who wants them opens them and lets a `Journal` write.
package struct Records: Sendable {
    /// `nil` when nothing is kept, or was kept so far.
    package let history: History?
    /// `nil` when nobody is known so far and none are to be.
    package let knownPeers: KnownPeers?

    /// How much history is kept.
    let limits: HistoryLimits

    /// Those of no one.
    package static let none = Records(history: nil, knownPeers: nil, limits: HistoryLimits())

    private init(history: History?, knownPeers: KnownPeers?, limits: HistoryLimits) {
        self.history = history
        self.knownPeers = knownPeers
        self.limits = limits
    }

    /// Opens both, the known peers in the data folder, the history in the state folder.
    ///
    /// Without `keepsHistory` the history is not opened at all. A run that writes is `creating`: what is not there yet is
    /// made, and the history's oldest entries beyond its `limits` are dropped; a `Journal` drops them while it writes.
    ///
    /// - Throws: `cannot-start` for a database that is damaged, newer, or cannot be read or written: never a fresh one.
    package static func open(
        state: String, data: String, keepsHistory: Bool = true, limits: HistoryLimits = HistoryLimits(), creating: Bool
    ) async throws(PeerConnectError) -> Records {
        do throws(PeerConnectError) {
            return try await onThread { () throws(StoreError) in
                try openNow(state, data, keepsHistory: keepsHistory, limits, creating: creating)
            }
        } catch {
            // Whatever it is, a full disk or a file system that is read-only, nothing can be done without the database.
            throw PeerConnectError(.cannotStart, error.message, hint: error.hint, cause: error.cause)
        }
    }

    private static func openNow(
        _ state: String, _ data: String, keepsHistory: Bool, _ limits: HistoryLimits, creating: Bool
    ) throws(StoreError) -> Records {
        let records = Records(
            history: keepsHistory ? try History.open(in: state, creating: creating) : nil,
            knownPeers: try KnownPeers.open(in: data, creating: creating), limits: limits)
        if creating {
            try records.knownPeers?.requireWritable()
            try records.history?.requireWritable()
            try records.history?.prune(to: limits, now: WallClock.milliseconds())
        }
        return records
    }

    /// Whom the user knows now.
    package func acquaintances() async throws(PeerConnectError) -> Acquaintances {
        guard let knownPeers else { return Acquaintances() }
        return try await onThread { () throws(StoreError) in Acquaintances(try knownPeers.list()) }
    }
}

/// Runs what waits for the disk on a thread of its own: the shared pool must not wait.
package func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(StoreError) -> Value
) async throws(PeerConnectError) -> Value {
    try await onThread { () throws(PeerConnectError) in
        do throws(StoreError) { return try body() } catch { throw error.publicError }
    }
}

/// Runs what takes a while on a thread of its own.
package func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(PeerConnectError) -> Value
) async throws(PeerConnectError) -> Value {
    let result: Result<Value, PeerConnectError>
    do throws(SystemError) {
        result = try await BlockingThread.value("store") { Result { () throws(PeerConnectError) in try body() } }
    } catch {
        throw PeerConnectError.noThread(error.reason, cause: error)
    }
    return try result.get()
}
