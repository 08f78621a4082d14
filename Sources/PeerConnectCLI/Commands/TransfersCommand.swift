internal import PeerConnect
internal import PeerModel

/// `peerconnect transfers`: what was interrupted and waits to be continued.
struct TransfersCommand: Command {
    static let spec = CommandSpec(
        name: "transfers", synopsis: "[list|clean] [OPTIONS]", summary: "show and remove what is unfinished",
        options: [OptionSpec("--into", value: "DIR", help: "where received files go")],
        notes: [
            "list    names, percent that is here, size, when it was interrupted and transfer, separated by tabs",
            "clean   remove what was interrupted, and show it; what is being received now stays",
            "A transfer continues when its sender sends the same files again in the same way, within 30 days.",
        ])
    static let usesSettings = true

    private let cleans: Bool

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        let verb = arguments.operands.first ?? "list"
        guard ["list", "clean"].contains(verb) else {
            throw UsageError.unknown(verb: verb, of: "transfers", among: ["list", "clean"])
        }
        guard arguments.operands.count < 2 else { throw UsageError("transfers \(verb) takes nothing more") }
        guard arguments.last("--into") != "" else { throw UsageError("--into needs a folder") }
        cleans = verb == "clean"
    }

    func run(_ run: Run) async throws -> ExitStatus {
        let folder = run.settings.arguments.last("--into").map(run.world.absolute) ?? run.home.downloads
        let found =
            try await cleans ? UnfinishedTransfer.clean(folder) : UnfinishedTransfer.list(in: folder)
        for transfer in found { Self.show(transfer, in: run) }
        if found.isEmpty, !run.console.isJSON { run.console.err("Nothing is unfinished in \(SafeText.path(folder)).") }
        return .done
    }

    private static func show(_ transfer: UnfinishedTransfer, in run: Run) {
        let console = run.console
        guard !console.isJSON else {
            let fields: [(key: String, value: JSONValue)] = [
                ("transfer", JSONValue(transfer.transfer?.description)),
                ("names", .array(transfer.names.prefix(100).map { .string($0) })), ("bytes", .uint(transfer.here)),
                ("size", .uint(transfer.size)), ("changed", .string(Timestamp.rfc3339(transfer.changed))),
                ("active", .bool(transfer.isGoingOn)),
            ]
            return console.emit(JSONEvent("transfer", fields))
        }
        let names = transfer.names.isEmpty ? "-" : Amount.list(transfer.names.prefix(3).map { SafeText.path($0) })
        let more = transfer.names.count > 3 ? " and \(transfer.names.count - 3) more" : ""
        let percent = transfer.size == 0 ? 0 : Int(Double(transfer.here) / Double(transfer.size) * 100)
        console.out(
            [
                names + more, transfer.isGoingOn ? "\(percent) %, going on" : "\(percent) %",
                Amount.bytes(transfer.size), Timestamp.local(transfer.changed, run.world.localOffset),
                transfer.transfer?.description ?? "-",
            ].joined(separator: "\t"))
    }
}
