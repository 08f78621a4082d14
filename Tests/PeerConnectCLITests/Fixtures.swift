import Foundation
import PeerConnect
import PeerModel
import PeerSystem
import Synchronization

@testable import PeerConnectCLI

/// A peer whose ID is made of one byte.
func peer(_ name: String, _ byte: UInt8) throws -> Peer {
    Peer(id: PeerID(try digest(byte)), name: name)
}

func digest(_ byte: UInt8) throws -> Digest {
    guard let digest = Digest([UInt8](repeating: byte, count: Digest.size)) else { throw FixtureError() }
    return digest
}

func transferID(_ byte: UInt8) throws -> TransferID {
    guard let digest = Digest([UInt8](repeating: byte, count: Digest.size)) else { throw FixtureError() }
    return TransferID(digest)
}

func chatID(_ byte: UInt8) throws -> ChatID {
    guard let id = ChatID(bytes: [UInt8](repeating: byte, count: ChatID.size)) else { throw FixtureError() }
    return id
}

struct FixtureError: Error {}

/// Collects what a command writes, and stands for everything else outside.
final class Stage: Sendable {
    private let text = Mutex((out: "", err: ""))
    let home: ScriptedHome

    init(home: ScriptedHome) { self.home = home }

    var out: String { text.withLock { $0.out } }
    var err: String { text.withLock { $0.err } }
    var outLines: [String] { out.split(separator: "\n").map(String.init) }

    func world(
        input: ScriptedInput = ScriptedInput([]), isTerminal: Bool = false, terminal: ScriptedTerminal? = nil,
        environment: [String: String] = [:], sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> World {
        World(
            environment: environment,
            console: Console(
                writeOut: { text in self.text.withLock { $0.out += text } },
                writeErr: { text in self.text.withLock { $0.err += text } },
                now: { 1_796_000_000_123 }, outIsTerminal: terminal != nil),
            input: input,
            inputIsTerminal: isTerminal || terminal != nil,
            paths: PathExpander(home: nil) { _ in [] },
            workingDirectory: "/work dir",
            readProblem: { $0.hasSuffix("missing") ? "no such file or directory" : nil },
            text: { (path) throws(TextFile.Failure) in
                guard path == "/work dir/list" else { throw .failed(SystemError(call: "open", code: ENOENT)) }
                return "# friends\n  ada  \n\nbob b\n"
            },
            sleep: sleep,
            clock: { terminal?.time ?? Instant(nanoseconds: 0) },
            openTerminal: { terminal },
            openHome: { _ in self.home })
    }

    func run(
        _ arguments: String..., input: [String] = [], isTerminal: Bool = false, beforeEnd: (@Sendable () -> Void)? = nil
    ) async -> Int32 {
        let input = ScriptedInput(input.map { .text($0) }, beforeEnd: beforeEnd)
        return await execute(arguments, in: world(input: input, isTerminal: isTerminal))
    }
}

/// Lines that are all there, and then the end.
final class ScriptedInput: LineSource {
    private let lines: Mutex<ArraySlice<InputLine>>
    private let beforeEnd: (@Sendable () -> Void)?

    /// `beforeEnd` is called when all lines were taken and one more is asked for.
    init(_ lines: [InputLine], beforeEnd: (@Sendable () -> Void)? = nil) {
        self.lines = Mutex(lines[...])
        self.beforeEnd = beforeEnd
    }

    func next() async -> InputLine? {
        if let line = lines.withLock({ $0.popFirst() }) { return line }
        beforeEnd?()
        return nil
    }
}

/// Identities in memory, and one node.
final class ScriptedHome: Home {
    let downloads = "/downloads"
    let spools = "/spools"
    /// Real, for the databases; gone with this object.
    let folder: String
    let settings: String?
    /// Whose folder it is, when it is another's.
    private let owner: ScriptedHome?
    let node: ScriptedSession
    private let stored: Mutex<[StoredIdentity]>
    private let opened = Mutex<[(name: String, isStored: Bool, settings: NodeSettings)]>([])

    /// With a folder of its own, or in that of another home.
    init(
        node: ScriptedSession, stored: [StoredIdentity] = [], settings: String? = nil, in owner: ScriptedHome? = nil
    ) {
        self.node = node
        self.owner = owner
        folder =
            owner?.folder
            ?? FileManager.default.temporaryDirectory.path + "/peerconnect-cli-\(UUID().uuidString.prefix(8))"
        self.settings = settings
        self.stored = Mutex(stored)
    }

    deinit { if owner == nil { try? FileManager.default.removeItem(atPath: folder) } }

    var configFolder: String { folder + "/config" }
    var dataFolder: String { folder + "/data" }
    var stateFolder: String { folder + "/state" }
    func settingsText() -> String? { settings }

    var proposedName: DisplayName {
        do { return try DisplayName("me@host") } catch { fatalError("a valid name") }
    }

    var sessions: [(name: String, isStored: Bool, settings: NodeSettings)] { opened.withLock { $0 } }

    func identities() -> [StoredIdentity] { stored.withLock { $0 } }

    func create(_ name: DisplayName) throws(PeerConnectError) -> StoredIdentity {
        let identity = StoredIdentity(peer: Peer(id: node.me.id, name: name.description), isCurrent: false)
        stored.withLock { $0.append(identity) }
        return identity
    }

    func use(_ name: DisplayName) throws(PeerConnectError) -> StoredIdentity {
        let found = stored.withLock { $0.first { $0.peer.name == name.description } }
        guard let found else { throw PeerConnectError(.usage, "There is no identity \(name).") }
        return StoredIdentity(peer: found.peer, isCurrent: true)
    }

    func rename(to name: DisplayName) throws(PeerConnectError) -> StoredIdentity { try use(name) }

    func rename(_ old: DisplayName, to new: DisplayName) throws(PeerConnectError) {
        let problem = stored.withLock { stored -> PeerConnectError? in
            guard !stored.contains(where: { $0.peer.name == new.description }) else {
                return PeerConnectError(.usage, "There is an identity \(new) already.")
            }
            guard let index = stored.firstIndex(where: { $0.peer.name == old.description }) else {
                return PeerConnectError(.usage, "There is no identity \(old).")
            }
            let identity = stored[index]
            stored[index] = StoredIdentity(
                peer: Peer(id: identity.peer.id, name: new.description), isCurrent: identity.isCurrent)
            return nil
        }
        if let problem { throw problem }
    }

    func establish(_ name: DisplayName) throws(PeerConnectError) {
        stored.withLock {
            $0.append(StoredIdentity(peer: Peer(id: node.me.id, name: name.description), isCurrent: true))
        }
    }

    func session(as name: DisplayName, isStored: Bool, _ settings: NodeSettings) -> any NodeSession {
        opened.withLock { $0.append((name.description, isStored, settings)) }
        return node
    }
}

/// A node that does what the test says.
final class ScriptedSession: NodeSession {
    /// What is called and never returns.
    enum Hang { case nothing, snapshot, stop }

    typealias Answer = @Sendable (NodeCommand, _ line: Int?) -> (events: [NodeEvent], reply: Reply)

    let events: AsyncStream<NodeEvent>
    var me: Peer { own.withLock { $0 } }
    private let own: Mutex<Peer>
    private let renameError: PeerConnectError?
    private let continuation: AsyncStream<NodeEvent>.Continuation
    private let answer: Answer
    private let offerOutcome: @Sendable (PeerReference, _ attempt: Int) -> OfferOutcome
    private let list: NodeSnapshot
    private let startError: PeerConnectError?
    private let discovery: String
    private let hang: Hang
    private let state = Mutex(
        (
            commands: [String](), chats: [ChatID?](), attempts: [PeerReference: Int](), isStopped: false,
            known: [Acquaintances]()
        ))

    init(
        me: Peer, snapshot: NodeSnapshot = NodeSnapshot(), startError: PeerConnectError? = nil,
        discovery: String = "daemon", renameError: PeerConnectError? = nil, hang: Hang = .nothing,
        answer: @escaping Answer = { _, _ in ([], .done) },
        offer: @escaping @Sendable (PeerReference, Int) -> OfferOutcome = { _, _ in
            .failed(PeerConnectError(.unreachable, "Nobody answers."))
        }
    ) {
        own = Mutex(me)
        self.renameError = renameError
        (events, continuation) = AsyncStream.makeStream(of: NodeEvent.self)
        list = snapshot
        offerOutcome = offer
        self.startError = startError
        self.discovery = discovery
        self.hang = hang
        self.answer = answer
    }

    /// What it was asked, in order.
    var commands: [String] { state.withLock { $0.commands } }
    /// The chat that each of these was for.
    var chats: [ChatID?] { state.withLock { $0.chats } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func emit(_ events: NodeEvent...) { for event in events { continuation.yield(event) } }

    func start() async throws(PeerConnectError) -> SessionStart {
        if let startError { throw startError }
        return SessionStart(port: 27182, discovery: discovery)
    }

    func perform(_ command: NodeCommand, in chat: ChatID?, line: Int?) async -> Reply {
        state.withLock {
            $0.commands.append("\(command)")
            $0.chats.append(chat)
        }
        let (events, reply) = answer(command, line)
        for event in events { continuation.yield(event) }
        if let line { continuation.yield(.reply(line: line, reply)) }
        return reply
    }

    /// Whom it was told that the user knows, in order.
    var known: [Acquaintances] { state.withLock { $0.known } }

    func know(_ acquaintances: Acquaintances) async { state.withLock { $0.known.append(acquaintances) } }

    func rename(to name: DisplayName) async throws(PeerConnectError) {
        if let renameError { throw renameError }
        own.withLock { $0 = Peer(id: $0.id, name: name.description) }
    }

    func snapshot() async -> NodeSnapshot {
        if hang == .snapshot { await Self.never() }
        return list
    }

    private static func never() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }

    func resolve(_ reference: PeerReference) async throws(PeerConnectError) -> PeerID? {
        if reference.text.contains(".") { return nil }
        let found = list.peers.first { $0.peer.name == reference.text || $0.peer.id.description == reference.text }
        if let found { return found.peer.id }
        throw PeerConnectError(.noSuchPeer, "There is no peer called \(reference.text).")
    }

    func offer(_ paths: [String], to reference: PeerReference, answerWithin: Duration, stallAfter: Duration) async
        -> OfferOutcome
    {
        let attempt = state.withLock { state in
            state.commands.append("offer \(paths) to \(reference.text)")
            state.attempts[reference, default: 0] += 1
            return state.attempts[reference, default: 0]
        }
        return offerOutcome(reference, attempt)
    }

    func stop() async {
        state.withLock { $0.isStopped = true }
        if hang == .stop { await Self.never() }
        continuation.finish()
    }
}

extension LiveBoard {
    /// What the display does with an event: the chats first.
    mutating func take(_ event: NodeEvent, at now: Instant) {
        book.note(event)
        note(event, at: now)
    }
}
