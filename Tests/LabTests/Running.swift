import Foundation
import Glibc
import Synchronization
import Testing

/// One program on one host: lines in, events out.
final class Running: Sendable {
    typealias Event = [String: any Sendable]

    private struct State {
        var events: [Event] = []
        /// Events that a test has had already.
        var used: Set<Int> = []
        /// Streams that have not ended.
        var open = 2
        var partial = Data()
        var lines: [String] = []
        var errors = ""
        var isInputOpen = true
        var status: Int32?
        var waiting: [UUID: CheckedContinuation<Void, Never>] = [:]
    }

    private let name: String
    private let child: Child
    private let state = Shared()

    /// Outlives the program object, for the threads that still read.
    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    init(name: String, script: String, state folder: String, home: String, arguments: [String]) throws {
        self.name = name
        child = try Child([script] + arguments, environment: ["LAN_DIR": folder])
        let (child, state) = (child, state)
        Thread {
            Child.read(child.output) { data in Running.took(data, state) }
            Running.change(state) { $0.open -= 1 }
        }.start()
        Thread {
            Child.read(child.errors) { data in
                Running.change(state) { $0.errors += String(decoding: data, as: UTF8.self) }
            }
            Running.change(state) { $0.open -= 1 }
        }.start()
        Thread {
            let status = child.wait()
            Running.change(state) { $0.status = status }
        }.start()
    }

    deinit {
        if state.value.withLock({ $0.status == nil }) { Glibc.kill(child.id, SIGKILL) }
        endInput()
    }

    private static func took(_ data: Data, _ shared: Shared) {
        change(shared) { state in
            state.partial += data
            while let end = state.partial.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(state.partial[..<end])
                state.partial = Data(state.partial[state.partial.index(after: end)...])
                state.lines.append(String(decoding: line, as: UTF8.self))
                if let event = try? JSONSerialization.jsonObject(with: line) as? Event { state.events.append(event) }
            }
        }
    }

    private static func change(_ shared: Shared, _ body: (inout State) -> Void) {
        let waiting = shared.value.withLock { state in
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
            if let value = state.value.withLock({ look(&$0) }) { return value }
            guard clock.now < limit else { throw Lab.Failure(text: "\(name): no \(what)\n\(story)") }
            let id = UUID()
            let alarm = Task {
                try await clock.sleep(until: limit)
                state.value.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
            }
            var found: Value?
            await withCheckedContinuation { continuation in
                found = state.value.withLock { state in
                    // Looking may use an event up, so what it gives must not be dropped.
                    if let value = look(&state) { return value }
                    state.waiting[id] = continuation
                    return nil
                }
                if found != nil { continuation.resume() }
            }
            alarm.cancel()
            if let found { return found }
        }
    }

    /// What it said last, for failures.
    private var story: String {
        state.value.withLock { ($0.lines.suffix(12) + [$0.errors]).joined(separator: "\n") }
    }

    /// Types a line.
    func send(_ line: String) { write(line + "\n") }

    /// Types exactly this.
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(child.input, bytes, bytes.count)
    }

    func endInput() {
        let wasOpen = state.value.withLock { state in
            defer { state.isInputOpen = false }
            return state.isInputOpen
        }
        if wasOpen { close(child.input) }
    }

    /// The process: everything between the tests and the program replaces itself by the next.
    var id: pid_t { child.id }

    func kill(_ signal: Int32) { Glibc.kill(child.id, signal) }

    /// The next event of this name that fits, and was not given before.
    @discardableResult
    func event(
        _ kind: String, within seconds: Double = 15, where fits: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async throws -> Event {
        try await event(oneOf: [kind], within: seconds, where: fits)
    }

    /// The same for the first of several kinds.
    @discardableResult
    func event(
        oneOf kinds: Set<String>, within seconds: Double = 15,
        where fits: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async throws -> Event {
        try await wait("event \(kinds.sorted().joined(separator: ", "))", within: seconds) { state in
            for (index, event) in state.events.enumerated()
            where kinds.contains(event.text("event") ?? "") && !state.used.contains(index) && fits(event) {
                state.used.insert(index)
                return event
            }
            return nil
        }
    }

    /// Waits until this has been written to standard output, or `again`: twice.
    func output(_ text: String, again: Bool = false, within seconds: Double = 15) async throws {
        _ = try await wait("output \(text)", within: seconds) { state in
            let all = state.lines + [String(decoding: state.partial, as: UTF8.self)]
            return all.reduce(0) { $0 + $1.ranges(of: text).count } > (again ? 1 : 0) ? true : nil
        }
    }

    func exitStatus(within seconds: Double = 20) async throws -> Int32 {
        try await wait("end", within: seconds) { $0.open == 0 ? $0.status : nil }
    }

    /// How many bytes it has read since its start, whatever from (proc_pid_io(5), `rchar`).
    var bytesRead: Int? {
        let text = try? String(contentsOfFile: "/proc/\(child.id)/io", encoding: .utf8)
        return text?.split(separator: "\n").first { $0.hasPrefix("rchar: ") }.flatMap { Int($0.dropFirst(7)) }
    }

    var lines: [String] { state.value.withLock { $0.lines } }
    var errors: String { state.value.withLock { $0.errors } }
    func first(_ kind: String) -> Event? { state.value.withLock { $0.events.first { $0.text("event") == kind } } }
    func count(of kind: String) -> Int { state.value.withLock { $0.events.count { $0["event"] as? String == kind } } }
}

extension Running.Event {
    func text(_ key: String) -> String? { self[key] as? String }
    func name(of key: String) -> String? { (self[key] as? Running.Event)?["name"] as? String }
}
