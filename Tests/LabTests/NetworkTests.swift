import Foundation
import Testing

/// Machines with more, or less, than one cable to one network.
@Suite(
    "Networks of all kinds", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct NetworkTests {
    /// Runs a command on a host and waits for its end.
    private func on(_ host: Int, in lab: Lab, _ command: String) async throws {
        let tool = try lab.tool(host, "sh", "-c", command)
        #expect(try await tool.exitStatus() == 0, "\(command): \(tool.errors)")
    }

    @Test("A machine whose cable was out for 30 s sees the others again within 10 s, and is seen, without a key press")
    func cable() async throws {
        let lab = try Lab(hosts: 2)
        // Both back ends at once, so that the cable is out only once.
        func program(_ host: Int, _ backEnd: DiscoveryTests.BackEnd) throws -> Running {
            try lab.run(
                host, "chat", "--json", "--name", "\(backEnd) \(host)", "--home", "\(lab.home(host)) \(backEnd)",
                "--port", "0", "--accept", "all", "--discovery", backEnd.rawValue)
        }
        let here = try DiscoveryTests.BackEnd.allCases.map { try program(1, $0) }
        let there = try DiscoveryTests.BackEnd.allCases.map { try program(2, $0) }
        for program in here + there {
            try await program.comes("everybody", within: 15) { $0.listedNames().count == 3 }
        }
        try lab.lan("link", "2", "down")
        for program in there {
            try await program.comes("nobody of the other machine", within: 10) { program in
                program.listed().keys.allSatisfy { $0.hasSuffix(" 2") }
            }
        }
        // Not a wait: how long the cable is out.
        try await Task.sleep(for: .seconds(30))
        try lab.lan("link", "2", "up")
        for (programs, address) in [(here, "10.77.0.2:"), (there, "10.77.0.1:")] {
            for program in programs {
                try await program.comes("everybody on the other machine", within: 10) { program in
                    program.listed().values.count { $0.contains { $0.hasPrefix(address) } } == 2
                }
            }
        }
        for program in here + there {
            #expect(program.rows().count == 3 && program.rows().values.allSatisfy { $0 == 1 }, "\(program.rows())")
        }
        for (index, backEnd) in DiscoveryTests.BackEnd.allCases.enumerated() {
            here[index].send("/invite '\(backEnd) 2'")
            for program in [here[index], there[index]] { try await program.event("chat.started") }
        }
    }

    @Test("The same address on every machine, as containers' bridges have it, leads nobody astray")
    func sharedAddress() async throws {
        let lab = try Lab(hosts: 2)
        for host in [1, 2] {
            try await on(
                host, in: lab,
                "ip link add docker0 type veth peer name docker1 && ip link set docker1 up && ip link set docker0 up && "
                    + "ip addr add 172.17.0.1/16 dev docker0")
        }
        let here = try await lab.chat(1), there = try await lab.chat(2, "--accept", "all")
        try await here.event("peer.found") { $0.name(of: "peer") == "p2" }
        here.send("/invite p2")
        for program in [here, there] { try await program.event("chat.started", within: 2) }
        // It answered itself there, which is nobody's fault.
        #expect(here.count(of: "warning") == 0 && there.count(of: "warning") == 0)
    }

    @Test("With a VPN that takes the default route, peers of the own network are found and reached all the same")
    func vpn() async throws {
        let lab = try Lab(hosts: 2)
        for host in [1, 2] {
            try await on(
                host, in: lab,
                "ip link add vpn0 type veth peer name vpn1 && ip link set vpn1 up && ip link set vpn0 multicast off up && "
                    + "ip addr add 10.9.0.\(host)/32 dev vpn0 && ip route replace default dev vpn0")
        }
        let here = try await lab.chat(1), there = try await lab.chat(2, "--accept", "all")
        try await here.event("peer.found") { $0.name(of: "peer") == "p2" }
        here.send("/invite p2")
        for program in [here, there] { try await program.event("chat.started", within: 3) }
    }

    @Test("A network without IPv6 does")
    func onlyIPv4() async throws {
        let lab = try Lab(hosts: 3, "--ipv4-only")
        let programs = try await lab.group(3)
        let file = lab.folder + "/ten.bin"
        try lab.makeFile(file, megabytes: 10)
        programs[1].send("/send \(file)")
        try await programs[1].event("file.done", within: 30)
        for host in [1, 3] { #expect(Lab.areEqual(file, lab.downloads(host) + "/ten.bin")) }
        let addresses = programs[0].all("peer.found").compactMap { $0["addresses"] as? [String] }.flatMap(\.self)
        #expect(!addresses.isEmpty && addresses.allSatisfy { !$0.hasPrefix("[") })
    }

    @Test("A name that takes all of its 63 bytes is found and reached; and so are two of one name")
    func names() async throws {
        let lab = try Lab(hosts: 3)
        let long = String(repeating: "é", count: 31) + "x"
        let here = try await lab.chat(1)
        let there = try await lab.chat(2, "--accept", "all", "--name", long)
        let third = try await lab.chat(3, "--name", long)
        defer { third.endInput() }
        for _ in 0..<2 { try await here.event("peer.found") { $0.name(of: "peer") == long } }
        here.send("/invite \(long)")
        #expect(try await here.event("reply").text("code") == "ambiguous")
        here.send("/invite \(there.first("ready")?.text("id") ?? "")")
        for program in [here, there] { try await program.event("chat.started") }
    }
}
