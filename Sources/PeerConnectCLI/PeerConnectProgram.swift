internal import PeerConnect
internal import PeerModel

/// The command `peerconnect`.
public enum PeerConnectProgram {
    /// Runs this process's command line and ends the process with the command's exit code.
    public static func main() async {
        await Program { (identity, settings) throws(PeerConnectError) in try LiveSession(identity, settings) }
            .run(Array(CommandLine.arguments.dropFirst()))
    }
}
