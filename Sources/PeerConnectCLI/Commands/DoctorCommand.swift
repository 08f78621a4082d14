internal import PeerModel

/// `peerconnect doctor`: why peers may not be visible or reachable.
struct DoctorCommand: Command {
    static let spec = CommandSpec(
        name: "doctor", synopsis: "", summary: "say why peers may not be visible or reachable",
        options: [],
        notes: [
            "One line a check: pass, warn or FAIL, and below it the command that mends it, if there is one.",
            "It takes a few seconds. The exit code is 1 when a check fails.",
        ])

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) { try arguments.expectNoOperands() }

    func run(_ run: Run) async throws -> ExitStatus {
        let facts = await DoctorExaminer(run).facts()
        try Task.checkCancellation()  // what was cut short proves nothing
        return Self.tell(DoctorCheck.all(facts), on: run.console)
    }

    /// Says what was found, and gives the exit code.
    static func tell(_ checks: [DoctorCheck], on console: Console) -> ExitStatus {
        for check in checks {
            if console.isJSON { console.emit(check.json) } else { check.lines.forEach(console.out) }
        }
        let failed = checks.count { $0.verdict == .fail }, warned = checks.count { $0.verdict == .warn }
        if !console.isJSON {
            let words = [(failed, "failure"), (warned, "warning")].filter { $0.0 > 0 }.map(Amount.counted)
            let first = failed > 0 && warned > 0 ? "first failure" : "first"
            console.err(words.isEmpty ? "Everything is well." : "\(Amount.list(words)); begin with the \(first).")
        }
        return failed > 0 ? .failed : .done
    }
}
