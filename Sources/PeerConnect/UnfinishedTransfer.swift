internal import PeerLink
package import PeerModel

/// A transfer that was interrupted, or is going on, as it lies in a folder for received files.
package struct UnfinishedTransfer: Sendable {
    /// `nil` when too little has come to know what it is.
    package let transfer: TransferID?
    /// Its top-level entries, folders with `/` behind; foreign text.
    package let names: [String]
    /// Bytes of all its files.
    package let size: UInt64
    /// How many of them are here and need not come again.
    package let here: UInt64
    /// When the last of them came, milliseconds since 1970.
    package let changed: Int64
    /// Whether some process receives it now.
    package let isGoingOn: Bool

    /// All in this folder, the newest first.
    package static func list(in path: String) async throws(PeerConnectError) -> [UnfinishedTransfer] {
        try await onThread { () throws(PeerConnectError) in Unfinished.list(in: path).map(Self.init) }
    }

    /// Removes those that are not going on, and gives them.
    package static func clean(_ path: String) async throws(PeerConnectError) -> [UnfinishedTransfer] {
        try await onThread { () throws(PeerConnectError) in Unfinished.clean(path).map(Self.init) }
    }

    private init(_ found: Unfinished) {
        (transfer, names, size, here) = (found.transfer, found.names, found.size, found.here)
        changed = found.changed * 1000
        isGoingOn = found.isGoingOn
    }
}
