internal import PeerLink
package import PeerModel

extension UnfinishedTransfer {
    /// All in this folder, the newest first.
    package static func list(in path: String) async throws(PeerConnectError) -> [UnfinishedTransfer] {
        try await onThread { () throws(PeerConnectError) in Unfinished.list(in: path) }
    }

    /// Removes those that are not going on, and gives them.
    package static func clean(_ path: String) async throws(PeerConnectError) -> [UnfinishedTransfer] {
        try await onThread { () throws(PeerConnectError) in Unfinished.clean(path) }
    }
}
