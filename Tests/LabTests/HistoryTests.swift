import CSQLite
import Foundation
import Testing

/// What is kept of chats and peers, across processes and hosts.
@Suite(
    "History and known peers", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct HistoryTests {
    /// Two programs in a chat that the first one hosts.
    private func pair(in lab: Lab, _ options: String...) async throws -> (Running, Running) {
        let first = try lab.run(1, arguments: ["chat", "--json", "--name", "p1", "--discovery", "off"] + options)
        let second = try lab.run(
            2, arguments: ["chat", "--json", "--name", "p2", "--discovery", "off", "--accept", "all"] + options)
        for program in [first, second] { try await program.event("ready") }
        first.send("/invite 10.77.0.2")
        for program in [first, second] { try await program.event("chat.started") }
        return (first, second)
    }

    private func end(_ programs: Running...) async throws {
        for program in programs { program.endInput() }
        for program in programs { #expect(try await program.exitStatus() == 0) }
    }

    @Test("A chat is listed and found afterwards in another process, on both sides, and while it runs")
    func kept() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let (first, second) = try await pair(in: lab)
        first.send("the heron has landed")
        try await second.event("message")
        second.send("/history heron")
        let reply = try await second.event("reply")
        #expect((reply["history"] as? [Running.Event])?.first?.text("text") == "the heron has landed")
        try await end(first, second)
        for host in 1...2 {
            let list = try lab.run(host, "history", "--json")
            #expect(try await list.exitStatus() == 0)
            let chat = try #require(list.first("history.chat"))
            #expect(chat.text("reason") != nil)
            let search = try lab.run(host, "history", "search", "HERON")
            #expect(try await search.exitStatus() == 0)
            #expect(search.lines.count == 1 && search.lines[0].hasSuffix("p1: the heron has landed"))
            let known = try lab.run(host, "peers", "--json")
            #expect(try await known.exitStatus() == 0)
            #expect(known.first("known")?.name(of: "peer") == "p\(3 - host)")
        }
    }

    @Test(
        "A group's lines and files are there after a restart, in a private file below the XDG folder, and the group again"
    )
    func group() async throws {
        let lab = try Lab(hosts: 3)
        /// In the folders of the XDG variables, as a user has it who sets no home.
        func run(_ host: Int, _ arguments: String...) throws -> Running {
            let home = lab.home(host)
            let variables =
                ["HOME=\(home)"]
                + ["STATE", "DATA", "CONFIG", "CACHE"].map { "XDG_\($0)_HOME=\(home)/xdg-\($0.lowercased())" }
            return try lab.tool(
                host, ["/usr/bin/env", "-u", "PEERCONNECT_HOME"] + variables + [Lab.binary] + arguments)
        }
        func chats() async throws -> [Running] {
            let programs = try (1...3).map {
                try run($0, "chat", "--json", "--name", "p\($0)", "--accept", "all", "--accept-files", "all")
            }
            for program in programs { try await program.event("ready") }
            for other in ["p2", "p3"] { try await programs[0].event("peer.found") { $0.name(of: "peer") == other } }
            return programs
        }
        let programs = try await chats()
        programs[0].send("/invite p2 p3")
        for program in programs { try await program.event("chat.started") }
        programs[1].send("the heron\thas landed")
        for program in programs { try await program.event("message") }
        let plan = lab.folder + "/plan.txt"
        try Data("plan\n".utf8).write(to: URL(filePath: plan))
        programs[0].send("/send \(plan)")
        for program in programs { try await program.event("file.done", within: 30) }
        programs[2].send("got it")
        for program in programs { try await program.event("message") { $0.text("text") == "got it" } }
        try await programs[2].event("message.delivered")
        programs[0].endInput()
        #expect(try await programs[0].exitStatus() == 0)
        for program in programs.dropFirst() { program.endInput() }
        for program in programs.dropFirst() { #expect(try await program.exitStatus() == 0) }

        var invitation = ""
        for host in 1...3 {
            let folder = lab.home(host) + "/xdg-state/peerconnect", list = try run(host, "history")
            #expect(try await list.exitStatus() == 0)
            #expect(list.errors == "The history is in \(folder)/history.db.\n")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/history.db")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
            let chat = try #require(list.lines.first?.split(separator: "\t").first)
            let show = try run(host, "history", "show", String(chat))
            #expect(try await show.exitStatus() == 0)
            let course = show.lines.dropFirst().joined(separator: "\n")
            for text in ["p2: the heron", "p3: got it", "p1 offered “plan.txt”", "Finished with “plan.txt”"] {
                #expect(course.contains(text), "h\(host): \(course)")
            }
            #expect(course.contains("Received /") == (host > 1))
            if host == 1 { invitation = show.errors.split(separator: "\n").last.map(String.init) ?? "" }
        }
        let again = try await chats()
        again[0].send(invitation)
        for program in again {
            #expect((try await program.event("chat.started")["members"] as? [Running.Event])?.count == 2)
        }
    }

    @Test("A database that another program holds costs the end two seconds at most, and what is lost is said")
    func held() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let (first, second) = try await pair(in: lab)
        second.send("/history nothing")
        try await second.event("reply")
        var opened: OpaquePointer?
        #expect(sqlite3_open_v2(lab.home(2) + "/state/history.db", &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(opened) }
        #expect(sqlite3_exec(opened, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        first.send("unheard of")
        try await second.event("message")
        let clock = ContinuousClock(), start = clock.now
        second.endInput()
        #expect(try await second.exitStatus() == 0)
        #expect(clock.now - start < .seconds(4), "the node's end and the journal's two seconds")
        #expect(second.lines.suffix(2).first?.contains("could not be stored: The database ") == true)
        first.endInput()
    }

    @Test("What was written survives a killed program")
    func killed() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let (first, second) = try await pair(in: lab)
        first.send("before the end")
        try await second.event("message")
        second.send("/history before")
        try await second.event("reply")
        second.kill(SIGKILL)
        _ = try await second.exitStatus()
        let search = try lab.run(2, "history", "search", "before")
        #expect(try await search.exitStatus() == 0)
        #expect(search.lines.count == 1)
        first.endInput()
    }

    @Test("A blocked peer is answered declined without asking, also when another process blocks it")
    func blocked() async throws {
        let lab = try Lab(hosts: 2)
        let first = try await lab.chat(1), second = try await lab.chat(2, "--accept", "all")
        try await second.event("peer.found")
        first.send("/invite 10.77.0.2")
        #expect(try await first.event("invite.answered").text("answer") == "accepted")
        for program in [first, second] { try await program.event("chat.started") }
        first.send("/end")
        for program in [first, second] { try await program.event("chat.ended") }
        let block = try lab.run(2, "peers", "block", "p1")
        #expect(try await block.exitStatus() == 0)
        try await second.event("peer.updated") { $0.text("known") == "blocked" }
        first.send("/invite 10.77.0.2")
        #expect(try await first.event("invite.answered").text("answer") == "declined")
        #expect(second.count(of: "invite.received") == 0)
        #expect(first.lines.allSatisfy { !$0.contains("blocked") }, "it is not told")
        second.send("/unblock p1")
        #expect(try await second.event("reply")["ok"] as? Bool == true)
        first.send("/invite 10.77.0.2")
        #expect(try await first.event("invite.answered").text("answer") == "accepted")
    }

    @Test("An impostor under a known name is called out, and the name alone never means it")
    func impostor() async throws {
        let lab = try Lab(hosts: 3, "--no-avahi")
        let (first, second) = try await pair(in: lab)
        try await end(first, second)
        let victim = try lab.run(1, arguments: ["chat", "--json", "--name", "p1", "--discovery", "off"])
        try await victim.event("ready")
        let impostor = try lab.run(3, arguments: ["chat", "--json", "--name", "P2", "--discovery", "off"])
        try await impostor.event("ready")
        impostor.send("/invite 10.77.0.1")
        #expect(try await victim.event("invite.received").text("known") == "other-key")
        #expect(try await victim.event("warning").text("code") == "other-key")
        victim.send("/accept")
        try await victim.event("chat.started")
        #expect(try await victim.event("warning").text("code") == "other-key")
        let plain = try lab.run(1, "peers")
        #expect(try await plain.exitStatus() == 0)
        #expect(plain.lines.count == 2, "both are known now, and told apart by ID")
    }

    @Test("A visible impostor is answered wrong-key, with the ID to type instead")
    func wrongKey() async throws {
        let lab = try Lab(hosts: 3)
        let first = try await lab.chat(1), second = try await lab.chat(2, "--accept", "all")
        try await first.event("peer.found") { $0.name(of: "peer") == "p2" }
        first.send("/invite p2")
        try await first.event("chat.started")
        #expect(try await first.event("peer.updated") { $0.text("known") == "known" }.name(of: "peer") == "p2")
        try await end(second)
        try await first.event("peer.lost")
        let impostor = try lab.run(3, arguments: ["chat", "--json", "--name", "p2", "--accept", "all"])
        let id = try #require(try await impostor.event("ready").text("id"))
        #expect(try await first.event("peer.found") { $0.text("known") == "other-key" }.name(of: "peer") == "p2")
        try await first.event("reply")
        first.send("/invite p2")
        let refusal = try await first.event("reply")
        #expect(refusal.text("code") == "wrong-key")
        #expect(refusal.text("hint")?.contains(id) == true)
        first.send("/invite \(id)")
        try await first.event("chat.started")
    }

    @Test("Files of trusted peers are taken, and those of others not; that is what receive does unless told")
    func trusted() async throws {
        let lab = try Lab(hosts: 2)
        let id = try #require(try await lab.chatID(1))
        let file = lab.folder + "/note.txt"
        try Data("hello\n".utf8).write(to: URL(filePath: file))
        let receiver = try lab.run(2, "receive", "--json", "--name", "inbox")
        try await receiver.event("ready")
        let stranger = try lab.run(1, "send", file, "--to", "inbox", "--name", "p1", "--wait", "15")
        #expect(try await stranger.exitStatus() == 4)
        let trust = try lab.run(2, "peers", "trust", id)
        #expect(try await trust.exitStatus() == 0)
        receiver.kill(SIGTERM)
        _ = try await receiver.exitStatus()
        let again = try lab.run(2, "receive", "--name", "inbox", "--once")
        let friend = try lab.run(1, "send", file, "--to", "inbox", "--name", "p1", "--wait", "15")
        #expect(try await friend.exitStatus() == 0)
        #expect(try await again.exitStatus() == 0)
        let files = try lab.run(2, "history", "files", "note")
        #expect(try await files.exitStatus() == 0)
        #expect(files.lines.count == 1)
        // People read local time (POSIX turns the sign of an offset round).
        var hours: [Int] = []
        for zone in ["UTC0", "XYZ-5"] {
            let home = "PEERCONNECT_HOME=\(lab.home(2))"
            let local = try lab.tool(2, "env", "TZ=\(zone)", home, Lab.binary, "history", "files", "note")
            #expect(try await local.exitStatus() == 0)
            let time = try #require(local.lines.first?.split(separator: "\t").dropFirst().first)
            hours.append(try #require(Int(time.dropFirst("2026-11-30 ".count).prefix(2))))
        }
        #expect((hours[0] + 5) % 24 == hours[1])
    }

    @Test("Without history no word that was said is in any file")
    func noTrace() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let (first, second) = try await pair(in: lab, "--no-history")
        first.send("xyzzy-plugh")
        try await second.event("message")
        try await end(first, second)
        for host in 1...2 {
            let found = FileManager.default.enumerator(atPath: lab.home(host))?.compactMap { $0 as? String } ?? []
            #expect(found.contains { $0.hasSuffix("peers.db") })
            for name in found {
                let path = lab.home(host) + "/" + name
                let bytes = FileManager.default.contents(atPath: path) ?? Data()
                #expect(bytes.range(of: Data("xyzzy-plugh".utf8)) == nil, "\(path)")
            }
            #expect(!FileManager.default.fileExists(atPath: lab.home(host) + "/state/history.db"))
        }
    }
}
