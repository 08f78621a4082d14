internal import PeerModel

/// One command: read from its arguments, then run.
protocol Command: Sendable {
    static var spec: CommandSpec { get }
    /// Whether what the command line leaves open is looked up in the settings.
    static var usesSettings: Bool { get }
    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError)
    /// Throws `PeerConnectError`.
    func run(_ run: Run) async throws -> ExitStatus
}

extension Command {
    static var usesSettings: Bool { false }
}

extension ParsedArguments {
    /// For commands that take nothing behind their name.
    func expectNoOperands() throws(UsageError) {
        guard let first = operands.first else { return }
        throw UsageError(
            "\(command) takes no argument \(SafeText.line(first))",
            hint: "peerconnect \(command) --help shows what it takes")
    }
}
