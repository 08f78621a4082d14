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

    private let arguments: ParsedArguments

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        try arguments.expectNoOperands()
        self.arguments = arguments
    }

    func run(_ run: Run) async throws -> ExitStatus {
        let (run, problem) = completed(run)
        var facts = await DoctorExaminer(run).facts()
        facts.settingsProblem = problem
        try Task.checkCancellation()  // what was cut short proves nothing
        return Self.tell(DoctorCheck.all(facts), on: run.console)
    }

    /// With what the settings say of ports and interfaces, or without them and why: that is a finding like others.
    func completed(_ run: Run) -> (run: Run, problem: PeerConnectError?) {
        var arguments = arguments
        do throws(PeerConnectError) {
            let settings = try EffectiveSettings(completing: &arguments, from: run.home, in: run.world)
            let options = try? GlobalOptions(arguments, environment: run.world.environment)
            guard let options else { return (run, nil) }  // each setting was checked as its option is
            return (Run(world: run.world, options: options, home: run.home, settings: settings), nil)
        } catch {
            return (run, error)
        }
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
