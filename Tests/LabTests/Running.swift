import Foundation
import Glibc
import Synchronization
import Testing

/// One program on one host: lines in, events out.
final class Running: Sendable {
    typealias Event = [String: any Sendable]

    private struct State {
        var events: [Event] = []
        /// How far each kind of event was looked at, so that the next wait begins behind the last one.
        var seen: [String: Int] = [:]
        var partial = Data()
        var lines: [String] = []
        var errors = ""
        var status: Int32?
        var waiting: [UUID: CheckedContinuation<Void, Never>] = [:]
    }

    private let name: String
    private let process: Process
    private let input = Pipe()
    private let state = Mutex(State())

    init(name: String, script: String, state folder: String, home: String, arguments: [String]) throws {
        self.name = name
        let process = Process(), output = Pipe(), errors = Pipe()
        process.executableURL = URL(filePath: script)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["LAN_DIR": folder]) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        self.process = process
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil } else { self?.took(data) }
        }
        errors.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.change { $0.errors += String(decoding: data, as: UTF8.self) }
        }
        process.terminationHandler = { [weak self] process in
            self?.change { $0.status = process.terminationStatus }
        }
        try process.run()
    }

    deinit { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

    private func took(_ data: Data) {
        change { state in
            state.partial += data
            while let end = state.partial.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(state.partial[..<end])
                state.partial = Data(state.partial[state.partial.index(after: end)...])
                state.lines.append(String(decoding: line, as: UTF8.self))
                if let event = try? JSONSerialization.jsonObject(with: line) as? Event { state.events.append(event) }
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until `look` gives something; it is asked again after every change.
    private func wait<Value: Sendable>(
        _ what: String, within seconds: Double, _ look: @Sendable (inout State) -> Value?
    ) async throws -> Value {
        let clock = ContinuousClock(), limit = clock.now + .seconds(seconds)
        while true {
            if let value = state.withLock({ look(&$0) }) { return value }
            guard clock.now < limit else { throw Lab.Failure(text: "\(name): no \(what)\n\(story)") }
            let id = UUID()
            let alarm = Task {
                try await clock.sleep(until: limit)
                state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
            }
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if look(&state) != nil { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isThere { continuation.resume() }
            }
            alarm.cancel()
        }
    }

    /// What it said last, for failures.
    private var story: String {
        state.withLock { ($0.lines.suffix(12) + [$0.errors]).joined(separator: "\n") }
    }

    /// Types a line.
    func send(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    func endInput() { try? input.fileHandleForWriting.close() }

    func kill(_ signal: Int32) { Glibc.kill(process.processIdentifier, signal) }

    /// The next event of this name that fits, behind the last one of the name that was asked for.
    @discardableResult
    func event(
        _ kind: String, within seconds: Double = 15, where fits: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async throws -> Event {
        try await wait("event \(kind)", within: seconds) { state in
            let start = state.seen[kind] ?? 0
            guard
                let index = state.events[start...].firstIndex(where: { $0["event"] as? String == kind && fits($0) })
            else { return nil }
            let event = state.events[index]
            state.seen[kind] = index + 1
            return event
        }
    }

    func exitStatus(within seconds: Double = 20) async throws -> Int32 {
        try await wait("end", within: seconds) { $0.status }
    }

    var lines: [String] { state.withLock { $0.lines } }
    var errors: String { state.withLock { $0.errors } }
    func count(of kind: String) -> Int { state.withLock { $0.events.count { $0["event"] as? String == kind } } }
}

extension Running.Event {
    func text(_ key: String) -> String? { self[key] as? String }
    func name(of key: String) -> String? { (self[key] as? Running.Event)?["name"] as? String }
}
