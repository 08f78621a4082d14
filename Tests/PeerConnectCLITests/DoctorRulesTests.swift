import Foundation
import PeerModel
import PeerSystem
import Testing

@testable import PeerConnect
@testable import PeerConnectCLI

/// What `doctor` says of rules and settings.
struct DoctorRulesTests {
    /// The facts of a healthy machine with IPv4 and IPv6, and one chain `t c` on the input hook.
    private static func facts(_ family: String, _ policy: String, _ rules: String...) throws -> DoctorFacts {
        let listed = rules.map {
            #",{"rule":{"family":"\#(family)","table":"t","chain":"c","expr":[\#($0)]}}"#
        }
        let text = """
            {"nftables":[{"set":{"family":"\(family)","name":"open","table":"t","type":"inet_service","elem":[22,80]}},
            {"chain":{"family":"\(family)","table":"t","name":"c","hook":"input","policy":"\(policy)"}}
            \(listed.joined())]}
            """
        var facts = DoctorTests.healthy
        let local = PeerAddress(.v6([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7], scope: "eth0"), port: 0)
        facts.interfaces = [
            DoctorTests.network("eth0") { $0.addresses.append(NetworkInterface.Prefix(address: local, bits: 64)) }
        ]
        facts.multicast.append(.init(interface: "eth0", isIPv6: true, outcome: .heard))
        facts.firewall = .rules(try #require(DoctorFirewall(Array(text.utf8))))
        return facts
    }

    private static func port(_ transport: String, _ right: String) -> String {
        #"{"match":{"op":"==","left":{"payload":{"protocol":"\#(transport)","field":"dport"}},"right":\#(right)}}"#
    }

    private static let drop = #"{"drop":null}"#
    private static let accept = #"{"accept":null}"#
    private static let reject = #"{"reject":null}"#
    private static let source =
        #"{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"10.0.0.9"}}"#

    @Test("The port of the peerconnect that runs is judged, not the next free one")
    func runningPort() throws {
        var facts = try Self.facts("inet", "accept", Self.port("tcp", "27182") + "," + Self.drop)
        (facts.port.bound, facts.port.running, facts.port.holder) = (27183, [27182], "peerconnect (of ada)")
        let check = DoctorCheck.firewall(facts)
        #expect(check.verdict == .fail)
        #expect(
            check.sentence == "The firewall (inet t c) stops TCP port 27182, so peers cannot connect to this one.")
        #expect(check.mend == "sudo nft insert rule inet t c tcp dport 27182-27199 accept")
    }

    @Test("A port that was asked for is judged beside it, and its command names it")
    func wantedPort() throws {
        var facts = try Self.facts("inet", "accept", Self.port("tcp", "4000") + "," + Self.drop)
        (facts.port.bound, facts.port.wanted, facts.port.isAutomatic) = (4000, 4000, false)
        facts.port.running = [27182]
        let check = DoctorCheck.firewall(facts)
        #expect(check.verdict == .fail && check.sentence.contains("stops TCP port 4000,"))
        #expect(check.mend?.contains("tcp dport 4000 accept") == true)
    }

    @Test(
        "What is dropped in one IP version while the other works is a warning that names both",
        arguments: ["ip", "ip6"])
    func oneVersion(_ family: String) throws {
        let facts = try Self.facts(family, "accept", Self.port("udp", "5353") + "," + Self.drop)
        let check = DoctorCheck.firewall(facts)
        let (stopped, open) = family == "ip" ? ("IPv4", "IPv6") : ("IPv6", "IPv4")
        #expect(check.verdict == .warn)
        #expect(
            check.sentence == "The firewall (\(family) t c) stops multicast DNS over \(stopped), UDP port 5353, "
                + "so peers are found over \(open) only.")
        #expect(check.mend == "sudo nft insert rule \(family) t c udp dport 5353 accept")
        var deaf = facts
        deaf.multicast = deaf.multicast.map { .init(interface: $0.interface, isIPv6: $0.isIPv6, outcome: .silent) }
        #expect(DoctorCheck.firewall(deaf).verdict == .fail)
    }

    @Test("Both faults of a firewall are named in one run, and no command is given twice")
    func bothFaults() throws {
        var facts = try Self.facts("inet", "accept", Self.port("tcp", "22") + "," + Self.accept, Self.drop)
        facts.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .silent)]
        let checks = DoctorCheck.all(facts)
        let firewall = try #require(checks.first { $0.name == "firewall" })
        #expect(
            firewall.sentence == "The firewall (inet t c) stops multicast DNS, UDP port 5353, so no peer is found, "
                + "and TCP port 27182, so peers cannot connect to this one.")
        let commands = checks.compactMap(\.mend).flatMap { $0.components(separatedBy: " && ") }
        #expect(
            commands == [
                "sudo nft insert rule inet t c udp dport 5353 accept",
                "sudo nft insert rule inet t c tcp dport 27182-27199 accept",
            ])
    }

    @Test("A named set is looked up, and a rule of another protocol leaves no doubt")
    func namedSet() throws {
        let echo =
            #"{"match":{"op":"==","left":{"payload":{"protocol":"icmp","field":"type"}},"right":"echo-request"}}"#
        let facts = try Self.facts(
            "inet", "drop", echo + "," + Self.accept, Self.port("tcp", #""@open""#) + "," + Self.accept,
            Self.port("udp", "5353") + "," + Self.accept)
        let check = DoctorCheck.firewall(facts)
        #expect(check.verdict == .fail && check.sentence.contains("stops TCP port 27182"))
    }

    @Test("The chain of a rule that is not understood is named with the command to list it")
    func doubtfulRule() throws {
        var facts = try Self.facts("inet", "accept", Self.source + "," + Self.reject)
        let check = DoctorCheck.firewall(facts)
        #expect(check.verdict == .warn && check.sentence.contains("a rule of the chain inet t c is not understood"))
        #expect(check.mend == "sudo nft list chain inet t c")
        // Where it turns out to stop something, it is the one to mend.
        facts.port.unreachable = ["10.0.0.7"]
        #expect(DoctorCheck.port(facts).mend == "sudo nft insert rule inet t c tcp dport 27182-27199 accept")
    }

    @Test("Hardware is found whether it is switched on or not")
    func hardware() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/doctor-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder + "/eth0/device", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(DoctorExaminer.hasRealDevice(["eth0", "lo"], in: folder))
        #expect(!DoctorExaminer.hasRealDevice(["lo"], in: folder))
    }

    private static func completed(_ settings: String) throws -> (run: Run, problem: PeerConnectError?) {
        let home = ScriptedHome(node: ScriptedSession(me: try peer("me", 9)), settings: settings)
        let stage = Stage(home: home), world = stage.world()
        let arguments = ParsedArguments(command: "doctor")
        let run = Run(
            world: world, options: try GlobalOptions(arguments, environment: [:]), home: home)
        return try DoctorCommand(arguments, world).completed(run)
    }

    @Test("The settings of port and interface hold, and a broken file is a finding that names the line")
    func settings() throws {
        let (run, problem) = try Self.completed(#"{ "port": 4000, "interface": ["eth7"] }"#)
        #expect(problem == nil && run.options.interfaces == ["eth7"])
        guard case .exactly(4000) = run.options.port else {
            Issue.record("the port of the settings is not taken")
            return
        }
        let (other, broken) = try Self.completed("{\n  \"port\": \"many\"\n}")
        #expect(broken?.message.contains("config.json5, line 2: ") == true)
        #expect(other.options.interfaces.isEmpty)
    }
}
