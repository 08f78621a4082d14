import Foundation
import Glibc
import Testing

/// The built program at a pseudo-terminal; needs no network.
@Suite(
    "The program at a terminal", .timeLimit(.minutes(8)),
    .enabled(if: access("/usr/bin/script", X_OK) == 0, "needs script(1)"))
struct TerminalTests {
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case quit, interrupt, end, stopped
        case int, term, hup, quitSignal, abrt, segv

        var testDescription: String { rawValue }
        /// That is sent from outside.
        var signal: CInt? {
            switch self {
            case .quit, .interrupt, .end, .stopped: nil
            case .int: SIGINT
            case .term: SIGTERM
            case .hup: SIGHUP
            case .quitSignal: SIGQUIT
            case .abrt: SIGABRT
            case .segv: SIGSEGV
            }
        }
    }

    @Test("The terminal is as it was before, whichever way the chat ends", arguments: Way.allCases)
    func restores(way: Way) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-tty-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The shell outlives the program, so that the terminal does too; it has jobs, to bring a stopped one back.
        let steps = """
            ulimit -c 0; trap : INT; stty cols 80 rows 24 -ixon; stty -a >'\(folder)/before'
            sh -c 'echo $$ >"\(folder)/pid"; exec "\(Lab.binary)" chat --discovery off --port 0'
            code=$?; stty -a >'\(folder)/after'
            if [ '\(way)' = stopped ]; then echo in between; cp '\(folder)/after' '\(folder)/meanwhile'; fg; code=$?; fi
            echo $code >'\(folder)/code'; stty -a >'\(folder)/after'
            """
        try steps.write(toFile: folder + "/steps", atomically: false, encoding: .utf8)
        let environment = [
            "TERM": "xterm-256color", "PEERCONNECT_HOME": folder + "/home",
            // What is asked for is no crash, also where crashes are examined.
            "SWIFT_BACKTRACE": way == .quitSignal ? "enable=yes,interactive=no" : "enable=no",
        ]
        let shell = "exec /bin/bash --norc --noprofile -m '\(folder)/steps'"
        let program = try Running(
            name: "tty", script: "/usr/bin/env", state: folder, home: folder,
            arguments: environment.map { "\($0)=\($1)" } + ["/usr/bin/script", "-qfc", shell, "/dev/null"])

        // The first run asks in the terminal's own line mode; what is typed later belongs to the live prompt.
        try await program.output("Your name")
        program.send("ada")
        try await program.output("/help lists every command")
        try await program.output("you are ")
        switch way {
        case .quit: program.write("/quit\r")
        case .end: program.write("\u{4}")
        case .interrupt:
            program.write("half a line\u{3}\u{3}")
            try await program.output("Ctrl-C again leaves")
            let text = try String(contentsOfFile: folder + "/pid", encoding: .utf8)
            let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            // A machine that stands still for 3 s between the two makes the second one a first one again.
            for _ in 0..<5 where kill(pid, 0) == 0 {
                program.write("\u{3}")
                for _ in 0..<40 where kill(pid, 0) == 0 { try await Task.sleep(for: .milliseconds(50)) }
            }
        case .stopped:
            program.write("\u{1A}")
            try await program.output("in between")
            try await program.output("you are ada", again: true)
            program.write("/quit\r")
        case .int, .term, .hup, .quitSignal, .abrt, .segv:
            let text = try String(contentsOfFile: folder + "/pid", encoding: .utf8)
            let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            kill(pid, try #require(way.signal))
        }
        _ = try await program.exitStatus()
        func said(_ name: String) throws -> String { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
        #expect(try said("after") == said("before"))
        let all = program.lines.joined() + program.errors
        #expect(!all.contains("crash") && !all.contains("Backtrac"))
        if way == .stopped { #expect(try said("meanwhile") == said("before")) }
        // Two Ctrl-C are what SIGINT is where the terminal keeps its line mode.
        let signal = way == .interrupt ? SIGINT : way.signal
        #expect(try said("code") == "\(signal.map { 128 + $0 } ?? 0)\n")
    }

    /// What makes a chat plain: the option, or a terminal that can do nothing else.
    enum Plainness: String, CaseIterable, CustomTestStringConvertible {
        case option = "xterm-256color", dumb
        var testDescription: String { self == .dumb ? "TERM=dumb" : "--plain" }
        var options: [String] { self == .dumb ? [] : ["--plain"] }
    }

    @Test(
        "In plain lines the first Ctrl-C or Ctrl-D says what would end, the second ends it, and the terminal keeps its modes",
        arguments: [
            ("half a line\u{3}", "Ctrl-C again leaves, which ends the chat for 1 member.", 130),
            ("\u{4}", "Quitting ends the chat for 1 member.", 0),
        ], Plainness.allCases)
    func plainLeaving(_ way: (key: String, warning: String, code: Int), plainness: Plainness) async throws {
        let (key, warning, code) = way
        let folder = FileManager.default.temporaryDirectory.path + "/peerconnect-int-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let options = ["chat", "--discovery", "off", "--port", "0", "--no-history"]
        let member = try Running(
            name: "member", script: "/usr/bin/env", state: folder, home: folder,
            arguments: [Lab.binary] + options + ["--json", "--home", folder + "/b", "--name", "bob", "--accept", "all"])
        let port = try #require(try await member.event("ready")["port"] as? Int)
        let words = (options + plainness.options).joined(separator: " ")
        let command =
            "trap : INT; tty >'\(folder)/tty'; stty -a >'\(folder)/before'; "
            + "'\(Lab.binary)' \(words) --home '\(folder)/a' --name ada "
            + "--invite 127.0.0.1:\(port); echo $? >'\(folder)/code'"
        let program = try Running(
            name: "tty", script: "/usr/bin/env", state: folder, home: folder,
            arguments: [
                "TERM=\(plainness.rawValue)", "/usr/bin/script", "-qfc",
                "exec /bin/bash -c \"\(command.replacing("$", with: "\\$"))\"",
                "/dev/null",
            ])
        try await program.output("Chat started with bob")
        func said(_ name: String) throws -> String { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
        let terminal = try said("tty").trimmingCharacters(in: .newlines)
        #expect(try Tmux.shell("stty -a -F \(terminal)") == said("before"))
        program.write(key)
        try await program.output(warning)
        if code == 0 {
            // What is typed behind an end of input is read as before, and asks anew.
            program.write("still here\n")
            _ = try await member.event("message")
            program.write(key)
            try await program.output(warning, again: true)
        }
        // Beside many others the second one may come late, and then only warns again.
        for attempt in 0..<20 {
            program.write(String(key.suffix(1)))
            if (try? await program.exitStatus(within: attempt < 19 ? 1 : 20)) != nil { break }
        }
        #expect(try said("code") == "\(code)\n")
        #expect(!program.lines.joined().contains("\u{1B}"), "\(program.lines)")
        _ = try await member.event("chat.ended")
        member.send("/quit")
        _ = try await member.exitStatus()
    }
}
