import Testing

@testable import PeerConnectCLI

/// What rules do to a packet, told from the list that nft prints.
struct DoctorFirewallTests {
    typealias Packet = DoctorFirewall.Packet

    private static let mdns = Packet.multicast(isIncoming: true, on: "eth0", isIPv4: true)
    private static let mdnsOut = Packet.multicast(isIncoming: false, on: "eth0", isIPv4: true)
    private static let peer = Packet.connection(to: 27182, on: "eth0", isIPv4: true)
    private static let peer6 = Packet.connection(to: 27182, on: "eth0", isIPv4: false)

    /// A table `t` with one chain `c` on a hook, with these expressions as its rules, and other chains and sets.
    private static func rules(
        _ expressions: String..., hook: String = "input", policy: String = "accept", family: String = "inet",
        others: String = ""
    ) throws -> DoctorFirewall {
        let all = expressions.map { rule("c", $0, family) }.joined()
        let text = """
            {"nftables":[{"metainfo":{"version":"1.0.6"}},{"table":{"family":"\(family)","name":"t"}},
            {"chain":{"family":"\(family)","table":"t","name":"c","hook":"\(hook)","policy":"\(policy)"}}
            \(all)\(others)]}
            """
        return try #require(DoctorFirewall(Array(text.utf8)))
    }

    private static func rule(_ chain: String, _ expression: String, _ family: String = "inet") -> String {
        #",{"rule":{"family":"\#(family)","table":"t","chain":"\#(chain)","expr":[\#(expression)]}}"#
    }

    private static func match(_ left: String, _ right: String, _ op: String = "==") -> String {
        #"{"match":{"op":"\#(op)","left":\#(left),"right":\#(right)}}"#
    }

    private static func port(_ transport: String, _ right: String, _ op: String = "==") -> String {
        match(#"{"payload":{"protocol":"\#(transport)","field":"dport"}}"#, right, op)
    }

    private static func meta(_ key: String, _ right: String, _ op: String = "==") -> String {
        match(#"{"meta":{"key":"\#(key)"}}"#, right, op)
    }

    private static let accept = #"{"accept":null}"#
    private static let drop = #"{"drop":null}"#
    private static let unknown = #"{"match":{"op":"==","left":{"fib":{"result":"type"}},"right":"local"}}"#

    @Test("Nothing is dropped without rules, and other packets' rules do not count")
    func others() throws {
        let none = try #require(DoctorFirewall(Array(#"{"nftables":[]}"#.utf8)))
        #expect(none.isEmpty && none.fates(of: Self.mdns) == [.accepted])
        #expect(none.droppers(of: Self.mdns).isEmpty)
        let rules = try Self.rules(
            Self.port("udp", "53") + "," + Self.drop, Self.port("tcp", "5353") + "," + Self.drop,
            Self.meta("iifname", #""lo""#) + "," + Self.drop, Self.meta("l4proto", #""icmp""#) + "," + Self.drop,
            Self.match(#"{"ct":{"key":"state"}}"#, #""invalid""#, "in") + "," + Self.drop,
            Self.meta("oifname", #""eth0""#) + "," + Self.drop)
        for packet in [Self.mdns, Self.mdnsOut, Self.peer, Self.peer6] {
            #expect(rules.fates(of: packet) == [.accepted])
        }
    }

    @Test("The chain that drops is named, by a rule or by its policy, and only on its way and for its family")
    func droppers() throws {
        let chain = DoctorFirewall.Chain(family: "inet", table: "t", name: "c")
        let byRule = try Self.rules(Self.port("udp", "5353") + #",{"counter":{}},"# + Self.drop)
        #expect(byRule.droppers(of: Self.mdns) == [chain])
        #expect(byRule.fates(of: Self.peer) == [.accepted] && byRule.fates(of: Self.mdnsOut) == [.accepted])
        let byPolicy = try Self.rules(Self.meta("iifname", #""lo""#) + "," + Self.accept, policy: "drop")
        #expect(byPolicy.droppers(of: Self.peer) == [chain])
        let out = try Self.rules(hook: "output", policy: "drop")
        #expect(out.droppers(of: Self.mdnsOut) == [chain] && out.droppers(of: Self.mdns).isEmpty)
        let ip = try Self.rules(policy: "drop", family: "ip")
        #expect(ip.droppers(of: Self.peer).count == 1 && ip.droppers(of: Self.peer6).isEmpty)
        let bridge = try Self.rules(policy: "drop", family: "bridge")
        #expect(bridge.droppers(of: Self.peer).isEmpty)
    }

    @Test(
        "What lets a packet through, in the ways that it is written",
        arguments: [
            port("tcp", "27182"), port("tcp", #"{"range":[27182,27199]}"#), port("tcp", #"{"set":[22,27182]}"#),
            port("tcp", #"{"set":[{"range":[1,30000]}]}"#), port("th", "27182"), port("tcp", #""@ports""#),
            port("tcp", #"{"set":[{"elem":{"val":27182}}]}"#), port("tcp", "22", "!="), meta("l4proto", #""tcp""#),
            meta("l4proto", "6"), meta("iifname", #""eth*""#), meta("iif", #""eth0""#), meta("nfproto", #""ipv4""#),
            match(#"{"payload":{"protocol":"ip","field":"protocol"}}"#, #""tcp""#),
            match(#"{"ct":{"key":"state"}}"#, #"["new","established"]"#, "in"),
        ])
    func accepts(_ match: String) throws {
        let set = #",{"set":{"family":"inet","table":"t","name":"ports","elem":[{"range":[1,3]},27182]}}"#
        let rules = try Self.rules(match + "," + Self.accept, policy: "drop", others: set)
        #expect(rules.fates(of: Self.peer) == [.accepted])
    }

    @Test("A group's address is recognised, alone and inside all of multicast")
    func groups() throws {
        for right in [#""224.0.0.251""#, #"{"prefix":{"addr":"224.0.0.0","len":4}}"#] {
            let match = Self.match(#"{"payload":{"protocol":"ip","field":"daddr"}}"#, right)
            let rules = try Self.rules(match + "," + Self.accept, policy: "drop")
            #expect(rules.fates(of: Self.mdns) == [.accepted])
            #expect(rules.fates(of: Self.peer6) == [.dropped])
        }
    }

    @Test("Jumps, gotos, returns and verdict maps lead where they say")
    func ways() throws {
        let match = Self.port("tcp", "27182")
        let jump = #"{"jump":{"target":"d"}}"#, goto = #"{"goto":{"target":"d"}}"#
        for (way, body, fate) in [
            (jump, Self.accept, DoctorFirewall.Fate.accepted), (jump, #"{"return":null}"#, .dropped),
            (goto, #"{"return":null}"#, .accepted), (jump, match + "," + Self.drop, .dropped),
        ] {
            let rules = try Self.rules(way, Self.drop, others: Self.rule("d", body))
            #expect(rules.fates(of: Self.peer) == [fate], "\(way) \(body)")
        }
        let key = #"{"payload":{"protocol":"tcp","field":"dport"}}"#
        let map = #"{"vmap":{"key":\#(key),"data":{"set":[[22,{"accept":null}],[27182,{"drop":null}]]}}}"#
        let rules = try Self.rules(map)
        #expect(rules.fates(of: Self.peer) == [.dropped] && rules.fates(of: Self.mdns) == [.accepted])
        let states = #"{"vmap":{"key":{"ct":{"key":"state"}},"data":{"set":[["established",{"accept":null}]]}}}"#
        #expect(try Self.rules(states, policy: "drop").fates(of: Self.peer) == [.dropped])
    }

    @Test("What is not understood is never taken for sure, and a circle ends")
    func uncertain() throws {
        #expect(try Self.rules(Self.unknown + "," + Self.drop).fates(of: Self.peer) == [.accepted, .dropped])
        #expect(
            try Self.rules(Self.unknown + "," + Self.accept, policy: "drop").fates(of: Self.peer)
                == [.accepted, .dropped])
        let foreign = try Self.rules(#"{"xt":{"type":"target","name":"REJECT"}}"#)
        #expect(foreign.fates(of: Self.peer) == [.accepted, .dropped])
        // Certain all the same: nothing between accepts it.
        #expect(
            try Self.rules(Self.unknown + "," + Self.drop, policy: "drop").fates(of: Self.peer) == [.dropped])
        let circle = try Self.rules(
            #"{"jump":{"target":"d"}}"#, others: Self.rule("d", #"{"jump":{"target":"d"}}"#))
        #expect(circle.fates(of: Self.peer).contains(.accepted))
        #expect(circle.droppers(of: Self.peer).isEmpty)
    }

    @Test("Anything but a list of rules is refused", arguments: ["", "x", "[]", "{}", #"{"nftables":3}"#])
    func garbage(_ text: String) { #expect(DoctorFirewall(Array(text.utf8)) == nil) }
}
