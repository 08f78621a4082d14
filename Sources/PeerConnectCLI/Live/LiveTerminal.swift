internal import PeerTerminal

/// The terminal as a live chat needs it; the tests put their own in its place.
protocol LiveTerminal: Sendable {
    var size: TerminalSize { get }
    /// Calls `body` on a thread of its own with what the terminal sends.
    func start(_ body: @escaping @Sendable (TerminalEvent) -> Void) throws(TerminalError)
    /// False when someone else has the terminal, or it has gone.
    @discardableResult
    func write(_ bytes: [UInt8], rowsBelowCursor: Int?) -> Bool
    /// Stops the whole job; `resumed` comes afterwards.
    func suspend()
    /// Gives the terminal back as it was.
    func close()
}

extension RawTerminal: LiveTerminal {}

extension Run {
    /// What is known of the terminal when a chat may be live on it; `nil` for plain lines.
    var liveTraits: TerminalTraits? {
        guard world.inputIsTerminal, console.outIsTerminal, !console.isJSON, !options.isPlain else { return nil }
        let traits = TerminalTraits(environment: world.environment)
        return traits.hasCursor ? traits : nil
    }

    func palette(_ traits: TerminalTraits) -> Palette {
        switch options.color {
        case .auto: Palette(traits.depth)
        case .always: Palette(traits.depth == .none ? .theme : traits.depth)
        case .never: Palette(.none)
        }
    }
}
