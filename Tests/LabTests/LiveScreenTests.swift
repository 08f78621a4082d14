import Foundation
import Glibc
import Testing

/// The built program in terminals that keep a screen, in chats by address on this machine alone.
@Suite(
    "The screen of a chat", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Tmux.obstacle == nil, Comment(rawValue: Tmux.obstacle ?? "")))
struct LiveScreenTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/peerconnect-screen-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// A chat at a terminal, under the name `ada`.
    private func terminal(
        _ columns: Int, _ rows: Int, keeping history: Int = 2000, port: Int = 0, _ options: String...
    ) throws -> Tmux {
        try Tmux(
            columns: columns, rows: rows, keeping: history,
            [Lab.binary, "chat", "--discovery", "off", "--port", "\(port)", "--home", folder + "/ada", "--name", "ada"]
                + options)
    }

    /// A program that takes every invitation and file, and its port.
    private func member(_ name: String, _ options: String...) async throws -> (program: Running, port: Int) {
        let program = try Running(
            name: name, script: Lab.binary, state: folder, home: folder,
            arguments: [
                "chat", "--json", "--discovery", "off", "--port", "0", "--home", "\(folder)/\(name)", "--name", name,
                "--accept", "all", "--accept-files", "all",
            ] + options)
        return (program, try #require(try await program.event("ready")["port"] as? Int))
    }

    /// A file of holes, which is sent as any other.
    private func makeFile(_ name: String, _ size: Int) throws -> String {
        let path = "\(folder)/\(name)"
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        try #require(truncate(path, size) == 0)
        return path
    }

    private func leave(_ terminal: Tmux, _ members: Running...) async throws {
        withExtendedLifetime(terminal) {}
        for member in members { member.endInput() }
        for member in members { _ = try await member.exitStatus() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test("Half a line and its cursor stay while lines and a file come in", arguments: [(80, 24), (40, 10)])
    func undisturbed(columns: Int, rows: Int) async throws {
        let (bob, port) = try await member("bob")
        let ada = try terminal(columns, rows, "--accept-files", "all", "--invite", "127.0.0.1:\(port)")
        try await ada.shows("hosting bob")
        try ada.type("half a line")
        try ada.press("Left", "Left", "Left")
        func isIntact(_ screen: Tmux.Screen) -> Bool {
            screen.input == "> half a line" && screen.column == 2 + 8 && screen.status.hasPrefix("hosting bob")
        }
        try await ada.screen("half a line", isIntact)

        // So large that it is under way however seldom a busy machine looks.
        bob.send("/send \(try makeFile("film.mkv", 4_000_000_000))")
        let number = try #require(try await bob.event("file.offered")["number"] as? Int)
        for number in 1...20 { bob.send("line \(number)") }
        var ticks: Set<String> = []
        try await ada.screen("under way") { screen in
            #expect(isIntact(screen), "\(screen.rows)")
            ticks.formUnion(screen.rows.filter { $0.hasPrefix("#") && $0.contains(" %") })
            return try ticks.count > 1 && ada.everything.contains("bob: line 20")
        }
        bob.send("/cancel \(number)")
        try await ada.screen("no transfer") { screen in
            #expect(isIntact(screen), "\(screen.rows)")
            return screen.rows.allSatisfy { !$0.hasPrefix("#") }
        }
        #expect(try isIntact(ada.screen))
        let everything = try ada.everything
        #expect(everything.filter { $0.hasPrefix("bob: line ") } == (1...20).map { "bob: line \($0)" })
        #expect(everything.allSatisfy { $0.count <= columns }, "\(everything)")

        try ada.press("X", "Enter")
        try await bob.event("message") { $0.text("text") == "half a lXine" }
        try await leave(ada, bob)
    }

    @Test("Someone types while two transfers run, and all of it is on the screen", arguments: [(80, 24), (40, 10)])
    func twoTransfers(columns: Int, rows: Int) async throws {
        let (bob, port) = try await member("bob")
        let ada = try terminal(columns, rows, "--accept-files", "all", "--invite", "127.0.0.1:\(port)")
        try await ada.shows("hosting bob")
        bob.send("said before")
        try await ada.shows("bob: said before")
        try ada.enter("/send \(try makeFile("holiday.tar", 800_000_000))")
        bob.send("/send \(try makeFile("film.mkv", 800_000_000))")
        try ada.type("and now I type")
        func progress(_ screen: Tmux.Screen) -> [String] {
            screen.rows.filter { $0.hasPrefix("#") && $0.contains(" %") && !$0.contains(" 0 %") }
        }
        try await ada.screen("both under way") { progress($0).count == 2 }
        bob.kill(SIGSTOP)  // both stand still now
        bob.send("said meanwhile")
        try ada.press("Left")
        let screen = try await ada.screen("the cursor") { $0.column == 2 + 13 }
        #expect(screen.input == "> and now I type" && screen.status.hasPrefix("hosting bob, you are ada"))
        #expect(progress(screen).count == 2, "\(screen.rows)")
        #expect(
            progress(screen).contains { $0.contains("film") } && progress(screen).contains { $0.contains("holiday") })
        #expect(screen.rows.allSatisfy { $0.count <= columns } && screen.rows.count == rows)
        bob.kill(SIGCONT)
        try await bob.event("file.received", within: 60)
        try await ada.screen("no transfer") { $0.rows.allSatisfy { !$0.hasPrefix("#") } }
        let end = try await ada.screen("the end") { $0.input == "> and now I type" }
        #expect(end.column == 2 + 13)
        let all = Tmux.words(try ada.everything)
        for words in ["bob: said before", "bob: said meanwhile", "film.mkv from bob.", "“holiday.tar”, 800 MB"] {
            #expect(all.contains(words), "\(words) in \(all)")
        }
        try await leave(ada, bob)
    }

    @Test("An invitation that arrives while someone types stands above the input", arguments: [(80, 24), (40, 10)])
    func invited(columns: Int, rows: Int) async throws {
        let free = try Self.freePort()
        let ada = try terminal(columns, rows, port: free)
        try await ada.shows("you are ada, not in a chat")
        try ada.type("/send half a na")
        try ada.press("Left", "Left")
        try await ada.screen("the cursor") { $0.column == 2 + 13 }
        let bob = try await member("bob").program
        bob.send("/invite 127.0.0.1:\(free)")
        let screen = try await ada.shows("invites you to chat")
        #expect(screen.input == "> /send half a na" && screen.column == 2 + 13)
        #expect(screen.status.hasPrefix("you are ada"))
        #expect(screen.words.contains("/accept 1 or /decline 1") && screen.words.contains("#1 bob"))
        #expect(screen.rows.allSatisfy { $0.count <= columns } && screen.rows.count == rows)
        try ada.press("End", "C-u")
        try ada.enter("/accept")
        let chat = try await ada.screen("the chat") { $0.status.hasPrefix("chat with bob (host), you are ada") }
        #expect(!chat.words.contains("/decline"))
        #expect(Tmux.words(try ada.everything).contains("You are ada"))
        try await leave(ada, bob)
    }

    /// A port that nobody has now.
    private static func freePort() throws -> Int {
        let socket = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in6(), size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        address.sin6_family = sa_family_t(AF_INET6)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) + getsockname(socket, $0, &size)
            }
        }
        try #require(code == 0)
        return Int(address.sin6_port.bigEndian)
    }

    @Test("A file of one byte leaves a line with its name, its size and each member", arguments: [(80, 24), (40, 10)])
    func oneByte(columns: Int, rows: Int) async throws {
        let (bob, port) = try await member("bob"), (carol, other) = try await member("carol")
        let ada = try terminal(
            columns, rows, "--invite", "127.0.0.1:\(port)", "--invite", "127.0.0.1:\(other)")
        try await ada.screen("both") { $0.status.contains("bob") && $0.status.contains("carol") }
        try ada.enter("/send \(try makeFile("tiny.txt", 1))")
        for program in [bob, carol] { try await program.event("file.received") }
        let screen = try await ada.screen("the end") { $0.words.contains("have it.") }
        #expect(screen.words.contains("Finished #1, “tiny.txt”, 1 byte."), "\(screen.rows)")
        #expect(["bob and carol have it.", "carol and bob have it."].contains { screen.words.contains($0) })
        // It is no part of the rows that are drawn anew.
        bob.send("after it")
        let later = try await ada.shows("bob: after it")
        #expect(later.words.contains("have it. bob: after it"), "\(later.rows)")
        try await leave(ada, bob, carol)
    }

    @Test("Of 3,000 lines the first can still be scrolled to, and none is missing or twice")
    func scrollback() async throws {
        let (bob, port) = try await member("bob")
        let ada = try terminal(80, 24, keeping: 10_000, "--invite", "127.0.0.1:\(port)")
        try await ada.shows("hosting bob")
        try ada.type("half")
        for number in 1...3000 { bob.send("line \(number)") }
        try await ada.screen("the last line") { $0.rows.contains("bob: line 3000") }
        let lines = try ada.everything
        #expect(lines.filter { $0.hasPrefix("bob: ") } == (1...3000).map { "bob: line \($0)" })
        #expect(lines.count { $0.hasPrefix("hosting bob") } == 1 && lines.last { !$0.isEmpty } == "> half")
        try await leave(ada, bob)
    }

    @Test(
        "Of two chats the status says what is unread in the other, and /switch shows it",
        arguments: [(80, 24), (40, 10)])
    func severalChats(columns: Int, rows: Int) async throws {
        let (bob, port) = try await member("bob"), (eve, other) = try await member("eve")
        let ada = try terminal(columns, rows, "--max-chats", "2", "--invite", "127.0.0.1:\(port)")
        try await ada.shows("hosting bob")
        try ada.enter("/switch 0")
        try await ada.shows("in no chat now")
        try ada.enter("/invite 127.0.0.1:\(other)")
        try await ada.screen("the second chat") { $0.status.hasPrefix("hosting chat 2 with eve, you are ada") }
        try ada.type("half a line")
        for number in 1...3 { bob.send("bob's \(number)") }
        eve.send("eve's")
        try await ada.shows("eve: eve's")
        let away = try await ada.screen("unread") { $0.status.hasPrefix("unread 3 in chat 1, hosting chat 2 with") }
        #expect(try away.input == "> half a line" && !Tmux.words(try ada.everything).contains("bob's"))
        try ada.press("C-u")
        try ada.enter("/switch 1")
        let back = try await ada.shows("bob: bob's 1 bob: bob's 2 bob: bob's 3")
        #expect(back.status.hasPrefix("hosting chat 1 with bob, you are ada"))
        try ada.enter("only bob")
        _ = try await bob.event("message") { $0.text("text") == "only bob" }
        bob.send("/leave")
        let left = try await ada.shows("What you type goes nowhere now. /switch 2 goes to chat 2 with eve.")
        #expect(left.status.hasPrefix("you are ada, in no chat now"))
        try ada.enter("whom?")
        try await ada.shows("> whom? You are in no chat now. /switch 2 goes to chat 2 with eve.")
        try ada.enter("/switch 2")
        try await ada.shows("What you type goes to chat 2 with eve now.")
        try ada.enter("only eve")
        _ = try await eve.event("message") { $0.text("text") == "only eve" }
        #expect(eve.count(of: "message") == 2 && bob.count(of: "message") == 4)
        try await leave(ada, bob, eve)
    }
}
