internal import PeerModel

/// Every command, in the order of the help.
let everyCommand: [any Command.Type] = [
    ChatCommand.self, BrowseCommand.self, SendCommand.self, ReceiveCommand.self, HistoryCommand.self, IdCommand.self,
    PeersCommand.self, TransfersCommand.self, ConfigCommand.self, DoctorCommand.self,
]

/// Runs one command line, in which `nil` is an argument that is not UTF-8, and gives its exit code.
///
/// `interruption` is the code a signal asked for, if one came.
func execute(
    _ typed: [String?], in world: World, interruption: @Sendable () -> Int32? = { nil }
) async -> Int32 {
    let arguments = typed.compactMap { $0 }
    let specs = everyCommand.map { $0.spec }
    let parser = ArgumentParser(globals: globalOptions, commands: specs, fallback: ChatCommand.spec.name)
    do throws(UsageError) {
        if let place = typed.firstIndex(of: nil) {
            throw UsageError("argument \(place + 1) is not valid UTF-8", hint: "rename the file, or convert the text")
        }
        let parsed = try parser.parse(arguments)
        if parsed.has("--help") {
            let spec = specs.first { parsed.isExplicit && $0.name == parsed.command }
            world.console.out(
                spec.map { Help.command($0, globals: globalOptions) } ?? Help.overview(specs, globals: globalOptions))
            return interruption() ?? ExitStatus.done.rawValue
        }
        if parsed.has("--version") {
            world.console.out("peerconnect \(programVersion)")
            return interruption() ?? ExitStatus.done.rawValue
        }
        let options = try GlobalOptions(parsed, environment: world.environment)
        var world = world
        world.console.isJSON = options.isJSON
        world.console.isVerbose = options.isVerbose
        guard let type = everyCommand.first(where: { $0.spec.name == parsed.command }) else {
            throw UsageError("unknown command \(SafeText.line(parsed.command))")
        }
        let status = try await run(type, parsed, options, in: world)
        let code = interruption() ?? status.rawValue
        if options.isJSON { world.console.emit(.exit(code)) }
        return code
    } catch {
        let status = ExitStatus.usage.rawValue
        guard wantsJSON(arguments) else {
            world.console.err("peerconnect: \(error.message)" + (error.hint.map { "; \($0)" } ?? ""))
            return status
        }
        world.console.emit(.error(PeerConnectError(.usage, error.message, hint: error.hint)))
        world.console.emit(.exit(status))
        return status
    }
}

/// Whether a command line, which may be one that cannot be read, asks for JSON.
private func wantsJSON(_ arguments: [String]) -> Bool { arguments.prefix { $0 != "--" }.contains("--json") }

private func run(
    _ type: any Command.Type, _ typed: ParsedArguments, _ options: GlobalOptions, in world: World
) async throws(UsageError) -> ExitStatus {
    // What is wrong with the command line itself comes first.
    if !type.usesSettings { _ = try type.init(typed, world) }
    do {
        let home = try world.openHome(options.home.map(world.absolute))
        var arguments = typed, settings = EffectiveSettings()
        if type.usesSettings { settings = try EffectiveSettings(completing: &arguments, from: home, in: world) }
        let command = try type.init(arguments, world)
        let options = try GlobalOptions(arguments, environment: world.environment)
        let run = Run(world: world, options: options, home: home, settings: settings)
        try run.beginVerbose(isLive: type == ChatCommand.self && run.liveTraits != nil)
        return try await command.run(run)
    } catch let error as UsageError {
        throw error
    } catch let error as PeerConnectError {
        world.console.report(error)
        return error.status
    } catch is CancellationError {
        return .failed
    } catch {
        world.console.report(
            PeerConnectError(
                .internal, "Something unexpected failed.", hint: "Run it again with --verbose, which says the cause.",
                cause: error))
        return .failed
    }
}
