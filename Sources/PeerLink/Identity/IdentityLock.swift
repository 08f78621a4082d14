internal import PeerModel
internal import PeerSystem

/// Holds an identity for this process: one that listens and advertises must be the only one.
package final class IdentityLock: Sendable {
    private let file: LockFile

    init(path: String, displayName: DisplayName) throws(IdentityError) {
        do {
            file = try LockFile(path: path, text: "\(ThisProcess.id) \(ThisProcess.hostName)\n")
        } catch let taken as LockFile.Taken {
            let words = taken.holder.split(whereSeparator: \.isWhitespace)
            throw .locked(
                displayName, host: words.dropFirst().first.map(String.init) ?? "this machine",
                pid: words.first.flatMap { Int($0) })
        } catch let error as SystemError {
            throw .system(path: path, error)
        } catch {
            throw .damaged(file: path)
        }
    }
}
