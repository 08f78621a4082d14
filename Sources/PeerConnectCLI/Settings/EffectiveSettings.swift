internal import PeerModel

/// The settings of one run: what the command line left open is looked up in the environment and in the file.
struct EffectiveSettings: Sendable {
    /// The command line as if all had been typed.
    private(set) var arguments = ParsedArguments()
    /// Who said what, by the setting's name; what is missing is the default.
    private(set) var sources: [String: SettingSource] = [:]
    /// Where the file is, or would be.
    private(set) var path = ""
    private(set) var hasFile = false

    /// Nothing but defaults.
    init() {}

    /// Reads the file below a home and completes the command line with it.
    ///
    /// - Throws: `cannot-start` when the file cannot be read, or holds anything but settings; it is left alone.
    init(completing arguments: inout ParsedArguments, from home: any Home, in world: World) throws(PeerConnectError) {
        path = home.configFolder + "/" + SettingsFile.name
        let text = try home.settingsText()
        hasFile = text != nil
        let file =
            try text.map { text throws(PeerConnectError) in try SettingsFile(text, path: path) }
            ?? SettingsFile(path: path)
        sources = file.complete(&arguments, environment: world.environment, home: world.paths.home)
        self.arguments = arguments
    }
}
