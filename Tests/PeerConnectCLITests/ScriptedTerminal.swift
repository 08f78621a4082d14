import PeerModel
import PeerTerminal
import Synchronization

@testable import PeerConnectCLI

/// A terminal that keeps what it is told, and a clock that goes on when someone sleeps.
final class ScriptedTerminal: LiveTerminal {
    private struct State {
        var size = TerminalSize(columns: 60, rows: 20)
        var output = ""
        var take: (@Sendable (TerminalEvent) -> Void)?
        var isClosed = false
        var suspensions = 0
        var nanoseconds: Int64 = 1_000_000_000
        var waiting: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    init(columns: Int = 60) { state.withLock { $0.size = TerminalSize(columns: columns, rows: 20) } }

    var size: TerminalSize { state.withLock { $0.size } }
    var output: String { state.withLock { $0.output } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var suspensions: Int { state.withLock { $0.suspensions } }
    /// How often the bell rang.
    var bells: Int { output.unicodeScalars.count { $0 == "\u{7}" } }
    var time: Instant { Instant(nanoseconds: state.withLock { $0.nanoseconds }) }

    /// The waits between frames end at once; those that people notice, never.
    func sleep(_ duration: Duration) async throws {
        guard duration < .seconds(1) else { return try await Task.sleep(for: .seconds(3600)) }
        state.withLock { $0.nanoseconds += Int64(duration / .nanoseconds(1)) + 1 }
    }

    func advance(seconds: Double) { state.withLock { $0.nanoseconds += Int64(seconds * 1e9) } }

    func start(_ body: @escaping @Sendable (TerminalEvent) -> Void) { state.withLock { $0.take = body } }

    func write(_ bytes: [UInt8], rowsBelowCursor: Int?) -> Bool {
        let ready = state.withLock { state in
            state.output += String(decoding: bytes, as: UTF8.self)
            let ready = state.waiting.filter { state.output.contains($0.text) }
            state.waiting.removeAll { state.output.contains($0.text) }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
        return true
    }

    func suspend() { state.withLock { $0.suspensions += 1 } }
    func close() { state.withLock { $0.isClosed = true } }

    func send(_ event: TerminalEvent) { state.withLock { $0.take }?(event) }
    func type(_ text: String) { send(.bytes(Array(text.utf8))) }

    /// Waits until this was written, colours and cursor movements included; a time limit of the test ends it too.
    func output(until text: String) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.output.contains(text) || Task.isCancelled { return true }
                    state.waiting.append((text, continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.continuation.resume() }
        }
    }
}
