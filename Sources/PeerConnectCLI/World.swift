internal import PeerModel
internal import PeerSystem

/// Everything outside that a command touches; the tests put their own in its place.
struct World: Sendable {
    var environment: [String: String]
    var console: Console
    /// The lines of standard input.
    var input: any LineSource
    var inputIsTerminal: Bool
    /// For the paths of `/send`.
    var paths: PathExpander
    /// Where relative paths begin.
    var workingDirectory: String
    /// Whether a path can be opened for reading.
    var readProblem: @Sendable (String) -> String?
    /// The text of a small file, or of what a pipe gives until its end.
    var text: @Sendable (String) throws(TextFile.Failure) -> String
    /// Throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
    /// Seconds for limits, see `Instant`.
    var clock: @Sendable () -> Instant
    /// By how many milliseconds the clocks on the wall are ahead of UTC at a point in time.
    var localOffset: @Sendable (Int64) -> Int64 = { _ in 0 }
    /// Ctrl-C, where the terminal keeps its line mode.
    var interrupts = Interrupts()
    /// Somebody wants out, and the command ends by itself: the program does not wait long for it.
    var leaving: @Sendable () -> Void = {}
    /// Takes the terminal for a live chat; `nil` when there is none that can be taken.
    var openTerminal: @Sendable () -> (any LiveTerminal)?
    /// What is stored below the folder given, or below the usual ones.
    var openHome: @Sendable (String?) throws(PeerConnectError) -> any Home
    /// How wide the terminal behind standard output is; `nil` when it is none.
    var outColumns: @Sendable () -> Int? = { nil }
    /// The same for standard error.
    var errorColumns: @Sendable () -> Int? = { nil }

    /// A path from the command line as the node wants it.
    func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : workingDirectory + "/" + path }
}

/// Where lines come from; for one consumer.
protocol LineSource: Sendable {
    /// The next line, `nil` at the end of input.
    func next() async -> InputLine?
}

/// What is stored for this user: identities, and nodes that use them.
protocol Home: Sendable {
    /// Where received files go unless said otherwise.
    var downloads: String { get }
    /// Where a host keeps what it only relays.
    var spools: String { get }
    /// What the first run proposes: `LOGIN@HOST`.
    var proposedName: DisplayName { get }

    /// Where the settings are.
    var configFolder: String { get }
    /// The text of the settings; `nil` when there are none.
    func settingsText() throws(PeerConnectError) -> String?
    /// Where the known peers are.
    var dataFolder: String { get }
    /// Where the history is.
    var stateFolder: String { get }

    func identities() throws(PeerConnectError) -> [StoredIdentity]
    /// Makes an identity; fails when there is one of that name.
    func create(_ name: DisplayName) throws(PeerConnectError) -> StoredIdentity
    /// Makes an existing identity the current one.
    func use(_ name: DisplayName) throws(PeerConnectError) -> StoredIdentity
    /// Gives the current identity another name; the key stays.
    func rename(to name: DisplayName) throws(PeerConnectError) -> StoredIdentity
    /// Gives one identity another name; the key stays. Blocks on the disk.
    func rename(_ old: DisplayName, to new: DisplayName) throws(PeerConnectError)
    /// Makes the identity of this name the current one, and makes it if there is none.
    func establish(_ name: DisplayName) throws(PeerConnectError)
    /// A node that is not started.
    ///
    /// A stored identity is made if it does not exist; else an existing one is used, or one that lives for this run only.
    func session(
        as name: DisplayName, isStored: Bool, _ settings: NodeSettings
    ) throws(PeerConnectError) -> any NodeSession
}

/// One of the own identities.
struct StoredIdentity: Equatable, Sendable {
    let peer: Peer
    /// Used when no name is given.
    let isCurrent: Bool
}
