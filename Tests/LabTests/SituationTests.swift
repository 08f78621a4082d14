import Foundation
import Glibc
import Testing

/// What users run into with names, ports and a machine that has no daemon, has slept or lies.
@Suite(
    "Situations of discovery", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct SituationTests {
    /// A further program on a host, as another user would run it.
    private func guest(_ lab: Lab, _ host: Int, _ number: Int, name: String, _ more: String...) throws -> Running {
        try lab.run(
            host,
            arguments: ["chat", "--json", "--home", "\(lab.folder)/guest\(number)", "--port", "0", "--name", name]
                + more)
    }

    @Test("Names of all kinds are listed byte for byte, namesakes on one host and on two told apart by their IDs")
    func names() async throws {
        let lab = try Lab(hosts: 2)
        let observer = try lab.run(1, "browse", "--watch", "--json")
        let names = [
            "Bob", "Bob", "a.b", "a\\b", "\"x\"", "🦊 zoë", ".lead", "a;b=c,d", String(repeating: "é", count: 31) + "x",
        ]
        var programs: [Running] = []
        for (number, name) in names.enumerated() { programs.append(try guest(lab, 2, number, name: name)) }
        for number in 100...101 { programs.append(try guest(lab, 1, number, name: "Bob")) }
        var expected: [String: String] = [:]
        for (program, name) in zip(programs, names + ["Bob", "Bob"]) {
            expected[try #require(try await program.event("ready").text("id"))] = name
        }
        #expect(expected.count == names.count + 2)
        let wanted = expected
        try await observer.comes("everyone", within: 15) { observer in
            let listed = observer.listedNames()
            return wanted.allSatisfy { id, name in listed[id].map { $0.utf8.elementsEqual(name.utf8) } ?? false }
        }
        #expect(observer.listedNames().count == wanted.count)
        for name in ["", "   ", String(repeating: "é", count: 32)] {
            let refused = try guest(lab, 2, 200, name: name)
            #expect(try await refused.exitStatus() == 2)
            let reason = name.utf8.count > 63 ? "the name has 64 bytes, 63 are allowed" : "at least one character"
            #expect(refused.lines.contains { $0.contains(reason) }, "\(refused.lines)")
        }
    }

    @Test("A state that changes 20 times is followed each time within 3 s")
    func toggles() async throws {
        let lab = try Lab(hosts: 2)
        let here = try await lab.chat(1), there = try await lab.chat(2)
        try await here.lists("p2")
        for round in 0..<20 {
            let isBusy = round % 2 == 0
            there.send("/dnd \(isBusy ? "on" : "off")")
            try await here.comes("round \(round)'s state", within: 3) {
                $0.listedStates()["p2"] == (isBusy ? "busy" : "idle")
            }
        }
    }

    @Test(
        "A machine that slept until the others hid it is listed again within 10 s of waking up",
        arguments: DiscoveryTests.BackEnd.allCases)
    func sleeps(backEnd: DiscoveryTests.BackEnd) async throws {
        let lab = try backEnd.lab(hosts: 2)
        let here = try await lab.chat(1), there = try await lab.chat(2, "--accept", "all")
        try await here.lists("p2")
        try await there.lists("p1")
        var daemon: pid_t?
        if backEnd == .daemon {
            daemon = try pid_t(lab.lan("exec", "2", "cat", "/run/avahi-daemon/pid").filter(\.isNumber))
        }
        there.kill(SIGSTOP)
        if let daemon { kill(daemon, SIGSTOP) }
        defer { if let daemon { kill(daemon, SIGCONT) } }
        here.send("/invite p2")
        #expect(try await here.event("invite.answered", within: 5).text("answer") == "unreachable")
        try await here.event("peer.lost", within: 10)
        // Not a wait: how long it sleeps, so that it is not asked again soon by itself.
        try await Task.sleep(for: .seconds(16))
        #expect(here.listedNames().isEmpty)
        if let daemon { kill(daemon, SIGCONT) }
        there.kill(SIGCONT)
        try await here.lists("p2", within: 10)
        #expect(there.listedNames().count == 1)
        here.send("/invite p2")
        for program in [here, there] { try await program.event("chat.started", within: 5) }
    }

    @Test(
        "A second network that comes is used within 10 s, and a peer on both that is restarted 5 times is one row",
        arguments: DiscoveryTests.BackEnd.allCases)
    func twoNetworks(backEnd: DiscoveryTests.BackEnd) async throws {
        let lab = try backEnd.lab(hosts: 2)
        let here = try await lab.chat(1)
        var there = try await lab.chat(2, "--accept", "all")
        let id = try #require(there.first("ready")?.text("id"))
        try await here.lists("p2")
        try lab.lan("wire", "1", "2")
        try await here.comes("the address on the new network", within: 10) {
            $0.addresses(of: id).contains("10.78.0.2:27182")
        }
        for round in 0..<5 {
            if round % 2 == 0 { there.kill(SIGKILL) } else { there.send("/quit") }
            _ = try await there.exitStatus()
            there = try await lab.chat(2, "--accept", "all")
            try await there.event("discovery") { $0.text("state") == "published" }
            try await there.lists("p1")
            try await here.comes("both networks, IPv4 and IPv6", within: 10) { here in
                let addresses = here.addresses(of: id)
                return ["10.77.0.2:27182", "10.78.0.2:27182"].allSatisfy(addresses.contains)
                    && ["%eth0]", "%eth1]"].allSatisfy { scope in addresses.contains { $0.contains(scope) } }
            }
            #expect(here.listedNames() == [id: "p2"] && there.listedNames().count == 1)
            #expect(here.rows() == [id: 1] && Array(there.rows().values) == [1], "\(here.rows()) \(there.rows())")
            // What the run before has left on the network is no clone.
            #expect(there.count(of: "warning") == 0)
        }
        // The first network goes, and the peer is reached by the second.
        try lab.lan("link", "2", "down")
        here.send("/invite p2")
        for program in [here, there] { try await program.event("chat.started", within: 5) }
    }

    @Test("What a killed program has left on the network is no clone to the next run, and no second row")
    func ownRemains() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let here = try await lab.chat(1), first = try await lab.chat(2)
        let id = try #require(first.first("ready")?.text("id"))
        try await here.lists("p2")
        first.kill(SIGKILL)
        _ = try await first.exitStatus()
        let second = try await lab.chat(2)
        try await second.event("discovery") { $0.text("state") == "published" }
        try await second.lists("p1")
        // Not a wait: how long nothing is to be said of it; asking what is left there takes 5 s.
        try await Task.sleep(for: .seconds(6))
        #expect(second.count(of: "warning") == 0 && here.count(of: "warning") == 0)
        #expect(here.rows() == [id: 1] && second.rows().count == 1, "\(here.rows()) \(second.rows())")
        try await here.lists("p2", within: 1)
    }

    @Test("A program does not invite itself: its own port is refused by the ID it finds there")
    func ownPort() async throws {
        let lab = try Lab(hosts: 1)
        let program = try await lab.chat(1)
        try await program.event("discovery") { $0.text("state") == "published" }
        for address in ["127.0.0.1", "10.77.0.1:27182"] {
            program.send("/invite \(address)")
            let answer = try await program.event("invite.answered", within: 6)
            #expect(answer.text("reason") == "that is this peer itself")
        }
        #expect(program.count(of: "peer.found") == 0 && program.count(of: "warning") == 0)
    }

    @Test("The port that is bound is the one advertised; a taken one is evaded, unless it was asked for")
    func ports() async throws {
        let lab = try Lab(hosts: 2)
        let observer = try lab.run(2, "browse", "--watch", "--json")
        let first = try await lab.chat(1)
        #expect(first.first("ready")?["port"] as? Int == 27182)
        let second = try lab.run(1, "chat", "--name", "second")
        try await observer.comes("the second's port", within: 10) {
            $0.listed()["second"]?.contains("10.77.0.1:27183") == true
        }
        let exact = try lab.run(1, "chat", "--json", "--name", "exact", "--port", "28001")
        #expect(try await exact.event("ready")["port"] as? Int == 28001)
        try await observer.comes("the third's port", within: 10) {
            $0.listed()["exact"]?.contains("10.77.0.1:28001") == true
        }
        second.endInput()
        #expect(try await second.exitStatus() == 0)
        #expect(second.errors.contains("Port 27182 is taken, so this listens on 27183."))
        let taken = try lab.run(1, "chat", "--name", "third", "--port", "27182")
        #expect(try await taken.exitStatus() == 6)
        #expect(taken.errors.contains("port 27182: address already in use"), "\(taken.errors)")
        let lost = try lab.run(1, "browse", "--interface", "nope")
        #expect(try await lost.exitStatus() == 6)
        #expect(lost.errors.contains("There is no interface nope.") && lost.errors.contains("eth0, lo"))
    }

    @Test("Without D-Bus, and with a D-Bus that refuses, the reasons differ, addresses work, and a daemon is noticed")
    func absences() async throws {
        let lab = try Lab(hosts: 2, "--no-avahi")
        let there = try await lab.chat(2, "--accept", "all")
        #expect(there.first("ready")?.text("discovery") == "embedded")
        let here = try await lab.chat(1, "--discovery", "daemon")
        #expect(here.first("ready")?.text("discovery") == "off")
        let down = try await here.event("discovery", within: 3) { $0.text("state") == "down" }
        #expect(down.text("reason") == "D-Bus is not running")
        here.send("/invite 10.77.0.2")
        for program in [here, there] { try await program.event("chat.started", within: 5) }
        var reasons: Set<String> = [try await blind(lab)]
        try Data(Self.denyingBus.utf8).write(to: URL(filePath: lab.folder + "/bus.conf"))
        let bus = try lab.tool(1, "/usr/bin/dbus-daemon", "--config-file=\(lab.folder)/bus.conf", "--nofork")
        try await here.comes("the other D-Bus", within: 5) { _ in
            (try? lab.lan("exec", "1", "test", "-S", "/run/dbus/system_bus_socket")) != nil
        }
        try lab.lan("avahi", "1", "start")
        reasons.insert(try await blind(lab))
        let other = try guest(lab, 2, 1, name: "other", "--accept", "all")
        let port = try #require(try await other.event("ready")["port"] as? Int)
        let denied = try guest(lab, 1, 2, name: "denied", "--discovery", "daemon")
        #expect(try await denied.event("ready").text("discovery") == "off")
        let refusal = try await denied.event("discovery", within: 3) { $0.text("state") == "down" }
        #expect(refusal.text("reason") == "D-Bus does not let avahi-daemon be asked")
        denied.send("/invite 10.77.0.2:\(port)")
        for program in [denied, other] { try await program.event("chat.started", within: 5) }
        for program in [denied, other] { program.endInput() }
        try lab.lan("avahi", "1", "stop")
        bus.kill(SIGKILL)
        _ = try await bus.exitStatus()
        try lab.lan("bus", "1", "start")
        reasons.insert(try await blind(lab))
        #expect(reasons.count == 3, "\(reasons)")
        try lab.lan("avahi", "1", "start")
        try await here.event("discovery", within: 10) { $0.text("state") == "published" }
        try await here.lists("p2", within: 10)
        try await there.lists("p1", within: 10)
        #expect(here.count(of: "chat.ended") == 0)
    }

    @Test("A D-Bus that dies while the daemon is being told things is noticed, and its successor used within 10 s")
    func busDiesInACall() async throws {
        let lab = try Lab(hosts: 2)
        let here = try await lab.chat(1), there = try await lab.chat(2)
        for program in [here, there] { try await program.event("discovery") { $0.text("state") == "published" } }
        try await here.lists("p2")
        try await there.lists("p1")
        // The moment matters: the call has to find D-Bus gone before the loop does.
        for round in 1...3 {
            let before = there.all("discovery").count { $0.text("state") == "published" }
            there.send((0..<200).map { "/dnd " + ($0 % 2 == round % 2 ? "off" : "on") }.joined(separator: "\n"))
            try lab.lan("bus", "2", "stop")
            try lab.lan("bus", "2", "start")
            try lab.lan("avahi", "2", "start")
            try await there.comes("published again", within: 10) {
                $0.all("discovery").count { $0.text("state") == "published" } > before
            }
            try await here.comes("the change meanwhile", within: 10) {
                $0.listedStates() == ["p2": round % 2 == 1 ? "idle" : "busy"]
            }
        }
        try await there.lists("p1", within: 10)
    }

    /// What a look that cannot work says.
    private func blind(_ lab: Lab) async throws -> String {
        let browse = try lab.run(1, "browse", "--discovery", "daemon", "--for", "1")
        #expect(try await browse.exitStatus() == 6)
        #expect(browse.errors.hasPrefix("Nobody could be looked for, because "), "\(browse.errors)")
        return browse.errors
    }

    /// A system bus on which avahi-daemon may not be talked to.
    private static let denyingBus = """
        <busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/><deny send_destination="org.freedesktop.Avahi"/></policy></busconfig>
        """

    @Test("--verbose tells what the responder inside does on standard error, and nothing of it is there without")
    func verbose() async throws {
        let lab = try Lab(hosts: 1, "--no-avahi")
        for more in [[], ["--verbose"]] {
            let browse = try lab.run(1, arguments: ["browse", "--json", "--for", "1"] + more)
            #expect(try await browse.exitStatus() == 0)
            #expect(browse.first("ready")?.text("discovery") == "embedded")
            #expect(browse.errors.contains("discovery: embedded is used") == !more.isEmpty, "\(browse.errors)")
            #expect(browse.errors.isEmpty == more.isEmpty)
        }
    }

    @Test("A link-local address with its interface can be typed where there is neither IPv4 nor discovery")
    func linkLocal() async throws {
        let lab = try Lab(hosts: 2, "--ipv6-only", "--no-avahi")
        let there = try await lab.chat(2, "--accept", "all", "--discovery", "off")
        let here = try await lab.chat(1, "--discovery", "off")
        let listing = try lab.lan("exec", "2", "ip", "-6", "-o", "addr", "show", "dev", "eth0")
        let address = try #require(
            listing.split(separator: " ").first { $0.hasPrefix("fe80:") }?.split(separator: "/").first)
        here.send("/invite [\(address)%eth0]:27182")
        for program in [here, there] { try await program.event("chat.started", within: 5) }
    }
}
