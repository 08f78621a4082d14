internal import PeerConnect
internal import PeerModel

/// The command `peerconnect`.
public enum PeerConnectProgram {
    /// Without the program's name; `nil` for one that is not UTF-8, which `CommandLine.arguments` would mend silently.
    private static var arguments: [String?] {
        (1..<max(1, Int(CommandLine.argc))).map { index in
            CommandLine.unsafeArgv[index].flatMap { String(validatingCString: $0) }
        }
    }

    /// Runs this process's command line and ends the process with the command's exit code.
    ///
    /// To be called on the main thread, and from a `main` that is not asynchronous.
    public static func main() -> Never {
        Program { (identity, settings) throws(PeerConnectError) in try LiveSession(identity, settings) }
            .run(arguments)
    }
}
