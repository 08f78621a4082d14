import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import Testing

@testable import PeerLink

/// A real node on loopback, without discovery, whose events are kept so that tests can wait for one.
final class TestNode: Sendable {
    let engine: NodeEngine
    let identity: LocalIdentity
    private let log = EventLog()

    /// With the identity of an earlier one it is that one, started again.
    init(
        _ name: String, as former: LocalIdentity? = nil, _ change: (inout NodeSettings) -> Void = { _ in }
    ) throws {
        identity = try former ?? .unique(displayName: DisplayName(name))
        var settings = NodeSettings(downloads: "/tmp/nonexistent", spools: "/tmp/nonexistent")
        settings.port = .exactly(0)
        settings.discovery = .off
        change(&settings)
        engine = try NodeEngine(identity: identity, settings: settings)
        Task { [engine, log] in for await event in engine.events { await log.append(event) } }
    }

    /// Starts and gives the address to invite it at.
    func start() async throws -> PeerReference {
        let port = try #require(try await engine.start())
        return PeerReference("127.0.0.1:\(port)")
    }

    /// Waits for the next event that `pick` takes; events before it are skipped, later ones kept.
    func next<Value: Sendable>(_ what: String, _ pick: @escaping @Sendable (NodeEvent) -> Value?) async throws -> Value
    {
        try #require(await log.next(pick), "\(identity.displayName) never had \(what)")
    }

    func has(_ pick: @escaping @Sendable (NodeEvent) -> Bool) async -> Bool { await log.has(pick) }
}

/// Events in order, and whoever waits for one.
private actor EventLog {
    private var events: [NodeEvent] = []
    private var consumed = 0
    private var waiting: [@Sendable () -> Bool] = []

    func append(_ event: NodeEvent) {
        events.append(event)
        waiting.removeAll { $0() }
    }

    func has(_ pick: (NodeEvent) -> Bool) -> Bool { events.contains(where: pick) }

    func next<Value: Sendable>(_ pick: @escaping @Sendable (NodeEvent) -> Value?) async -> Value? {
        let stream = AsyncStream<Value>.makeStream()
        let attempt: @Sendable () -> Bool = { [weak self] in
            self?.assumeIsolated { log in
                while log.consumed < log.events.count {
                    let event = log.events[log.consumed]
                    log.consumed += 1
                    if let value = pick(event) {
                        stream.continuation.yield(value)
                        stream.continuation.finish()
                        return true
                    }
                }
                return false
            } ?? true
        }
        if !attempt() { waiting.append(attempt) }
        let limit = Task {
            try await Task.sleep(for: .seconds(60))
            stream.continuation.finish()
        }
        defer { limit.cancel() }
        for await value in stream.stream { return value }
        return nil
    }
}
