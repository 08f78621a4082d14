internal import PeerModel

/// What the program's exit code says.
enum ExitStatus: Int32, Sendable {
    /// Also for an empty list.
    case done = 0
    case failed = 1
    /// Found before anything was created or sent.
    case usage = 2
    /// No such peer, or not reachable, within the wait.
    case notReachable = 3
    /// Answered, but not accepted.
    case notAccepted = 4
    /// Begun, but not whole for every recipient.
    case incomplete = 5
    /// A locked identity, a taken port, a folder that cannot be written, broken settings.
    case cannotStart = 6
}

extension PeerConnectError {
    /// The exit code of a run that this error ends.
    var status: ExitStatus {
        switch code {
        case .locked, .cannotStart: .cannotStart
        case .usage, .unknownCommand, .tooLong, .tooMany, .noSuchFile, .unreadable, .notUTF8: .usage
        case .noSuchPeer, .unreachable, .ambiguous, .wrongKey: .notReachable
        case .busy: .notAccepted
        case .noSpace: .incomplete
        case .noSuchNumber, .noChat, .notHost, .internal: .failed
        }
    }
}
