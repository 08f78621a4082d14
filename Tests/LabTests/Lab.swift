import Foundation
import Glibc
import Testing

/// A network of real hosts, each with its own D-Bus and avahi-daemon; see the script `lan` beside this file.
final class Lab: Sendable {
    let folder: String
    private let state: String

    /// Why the lab cannot be had here; `nil` when it can.
    ///
    /// On a build server it must be there.
    static var obstacle: String? {
        if ProcessInfo.processInfo.environment["CI"] == "true" { return nil }
        if geteuid() != 0 { return "needs root" }
        let tools = ["/usr/sbin/nft", "/usr/sbin/avahi-daemon", "/usr/bin/dbus-daemon", "/usr/bin/nsenter"]
        return tools.first { access($0, X_OK) != 0 }.map { "needs \($0)" }
    }

    /// Hosts with the script's options; goes when nobody holds it any more.
    convenience init(hosts: Int, _ options: String...) throws { try self.init(hosts: hosts, options: options) }

    init(hosts: Int, options: [String]) throws {
        folder = FileManager.default.temporaryDirectory.path + "/peerconnect-lab-\(UUID().uuidString.prefix(8))"
        state = folder + "/lan"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try lan("up", String(hosts), options: options)
    }

    deinit {
        _ = try? lan("down")
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().path + "/lan"

    /// The program that was built with these tests.
    static let binary: String = {
        if let path = ProcessInfo.processInfo.environment["PEERCONNECT_BINARY"] { return path }
        let bundle = URL(filePath: CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.bundlePath)
        return bundle.deletingLastPathComponent().appending(path: "peerconnect").path
    }()

    /// Runs the script; its own words are the error.
    @discardableResult
    func lan(_ arguments: String..., options: [String] = []) throws -> String {
        // The daemons it starts keep its pipes, so its words go to a file.
        let words = folder + "/lan-\(UUID().uuidString.prefix(8)).log"
        let line = ([Self.script] + arguments + options).map { "'\($0)'" }.joined(separator: " ")
        let child = try Child(
            ["/bin/sh", "-c", "exec \(line) >'\(words)' 2>&1 </dev/null"], environment: ["LAN_DIR": state])
        for end in [child.input, child.output, child.errors] { close(end) }
        let status = child.wait()
        let text = (try? String(contentsOfFile: words, encoding: .utf8)) ?? ""
        guard status == 0 else { throw Failure(text: "lan \(arguments): \(text)") }
        return text
    }

    struct Failure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    func home(_ host: Int) -> String { "\(folder)/h\(host)" }
    func downloads(_ host: Int) -> String { home(host) + "/downloads" }

    /// Starts the program on a host.
    func run(_ host: Int, _ arguments: String...) throws -> Running { try run(host, arguments: arguments) }

    func run(_ host: Int, arguments: [String]) throws -> Running {
        try Running(
            name: "h\(host)", script: Self.script, state: state, home: home(host),
            arguments: ["exec", String(host), "env", "PEERCONNECT_HOME=\(home(host))", Self.binary] + arguments)
    }

    /// The words that start the program on a host, for a terminal of its own.
    func command(_ host: Int, home: String, _ arguments: String...) -> [String] {
        [
            "/usr/bin/env", "LAN_DIR=\(state)", Self.script, "exec", String(host), "env", "PEERCONNECT_HOME=\(home)",
            Self.binary,
        ]
            + arguments
    }

    /// Starts another program on a host, by its whole path.
    func tool(_ host: Int, _ command: String...) throws -> Running { try tool(host, command) }

    func tool(_ host: Int, _ command: [String]) throws -> Running {
        try Running(
            name: "h\(host)", script: Self.script, state: state, home: home(host),
            arguments: ["exec", String(host)] + command)
    }

    /// A chat program on a host, that says its events as JSON; `more` are its further options.
    func chat(_ host: Int, _ more: String...) async throws -> Running {
        let program = try Running(
            name: "h\(host)", script: Self.script, state: state, home: home(host),
            arguments: ["exec", String(host), "env", "PEERCONNECT_HOME=\(home(host))", Self.binary, "chat", "--json"]
                + ["--name", "p\(host)"] + more)
        _ = try await program.event("ready")
        return program
    }
}
