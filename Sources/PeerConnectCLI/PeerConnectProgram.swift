internal import PeerConnect
internal import PeerModel

/// The command `peerconnect`.
public enum PeerConnectProgram {
    /// Runs this process's command line and ends the process with the command's exit code.
    ///
    /// To be called on the main thread, and from a `main` that is not asynchronous.
    public static func main() -> Never {
        Program { (identity, settings) throws(PeerConnectError) in try LiveSession(identity, settings) }
            .run(Array(CommandLine.arguments.dropFirst()))
    }
}
