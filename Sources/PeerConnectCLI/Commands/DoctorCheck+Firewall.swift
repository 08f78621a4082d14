internal import PeerConnect
internal import PeerModel
internal import PeerSystem

/// Whether the rules of this machine let peers through.
extension DoctorCheck {
    typealias Chain = DoctorFirewall.Chain
    typealias Packet = DoctorFirewall.Packet

    static func firewall(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "firewall", mend = DoctorMend(facts)
        let tool = facts.firewallTool.map { $0 == .ufw ? "ufw" : "firewalld" }
        switch facts.firewall {
        case .forbidden:
            return .warn(
                name, "Only root may read the rules of \(tool ?? "the firewall"), so they were not checked.",
                mend: "sudo peerconnect doctor")
        case .unknown:
            guard let tool else { return .pass(name, "No firewall was found.") }
            return .warn(name, "\(tool) is on, and its rules cannot be read here.", mend: mend.openPorts([]))
        case .rules(let rules): return walls(facts, rules) ?? doubts(facts, rules)
        }
    }

    /// What the rules surely stop.
    private struct Wall {
        let chains: [Chain]
        /// The IP version that alone is stopped, where the other one works, and that one.
        let stopped, open: String?

        var isWhole: Bool { open == nil }
        var over: String { stopped.map { " over \($0)" } ?? "" }
    }

    private static func wall(
        _ facts: DoctorFacts, _ packets: (_ isIPv4: Bool) -> [Packet], works: (_ isIPv4: Bool) -> Bool
    ) -> Wall? {
        let versions = versions(facts)
        let stopped = versions.filter { !droppers(of: packets($0), facts).isEmpty }
        guard !stopped.isEmpty else { return nil }
        let chains = droppers(of: stopped.flatMap(packets), facts)
        let open = versions.first { !stopped.contains($0) && works($0) }
        return Wall(
            chains: chains, stopped: open.map { $0 ? "IPv6" : "IPv4" }, open: open.map { $0 ? "IPv4" : "IPv6" })
    }

    private static func walls(_ facts: DoctorFacts, _ rules: DoctorFirewall) -> DoctorCheck? {
        let name = "firewall", mend = DoctorMend(facts)
        let silencer = wall(facts) {
            multicastPackets(facts, isIPv4: $0)
        } works: { isIPv4 in
            facts.multicast.contains { $0.isIPv6 != isIPv4 && $0.outcome == .heard }
        }
        let barrier = wall(facts) {
            connections(facts, isIPv4: $0)
        } works: {
            connections(facts, isIPv4: $0).allSatisfy { rules.fates(of: $0) == [.accepted] }
        }
        var parts: [String] = [], commands: [String?] = []
        if let silencer {
            let effect = silencer.open.map { "peers are found over \($0) only" } ?? "no peer is found"
            parts.append("multicast DNS\(silencer.over), UDP port 5353, so \(effect)")
            commands.append(mend.openMulticast(silencer.chains))
        }
        if let barrier {
            let effect = barrier.open.map { "peers connect over \($0) only" } ?? "peers cannot connect to this one"
            let ports = facts.port.judged.filter { port in
                versions(facts).contains { !droppers(of: [connection(facts, to: port, isIPv4: $0)], facts).isEmpty }
            }.map { "\($0)" }
            parts.append("TCP port\(ports.count == 1 ? "" : "s") \(Amount.list(ports))\(barrier.over), so \(effect)")
            commands.append(mend.openPorts(barrier.chains))
        }
        guard !parts.isEmpty else { return nil }
        var places: [String] = []
        for case let chain? in [silencer?.chains.first, barrier?.chains.first] where !places.contains(chain.place) {
            places.append(chain.place)
        }
        // Each command once in a report: rules that are inserted twice are there twice.
        let shown = multicast(facts).mend
        let missing = commands.compactMap { $0 }.filter { $0 != shown }
        let isWhole = silencer?.isWhole == true || barrier?.isWhole == true
        return DoctorCheck(
            name: name, verdict: isWhole ? .fail : .warn,
            sentence: "The firewall (\(Amount.list(places))) stops \(parts.joined(separator: ", and ")).",
            mend: missing.isEmpty ? nil : missing.joined(separator: " && "))
    }

    private static func doubts(_ facts: DoctorFacts, _ rules: DoctorFirewall) -> DoctorCheck {
        let name = "firewall", mend = DoctorMend(facts)
        for packet in connections(facts) {
            guard let chain = rules.doubtful(about: packet).first else { continue }
            return .warn(
                name,
                "The firewall may stop TCP port \(packet.port): a rule of the chain \(chain.place) is not understood "
                    + "here.",
                mend: mend.openPorts([]) ?? mend.asRoot("nft list chain \(chain.place)"))
        }
        return .pass(name, rules.isEmpty ? "No firewall is in the way." : "The firewall lets peers in.")
    }

    /// Whether IPv4 is in use here, and IPv6: `true` is IPv4.
    private static func versions(_ facts: DoctorFacts) -> [Bool] {
        let addresses = facts.usable.flatMap(\.addresses)
        let found = [true, false].filter { isIPv4 in
            addresses.contains { if case .v4 = $0.address.ip { isIPv4 } else { !isIPv4 } }
        }
        return found.isEmpty ? [true] : found
    }

    static func multicastPackets(_ facts: DoctorFacts) -> [Packet] {
        versions(facts).flatMap { multicastPackets(facts, isIPv4: $0) }
    }

    private static func multicastPackets(_ facts: DoctorFacts, isIPv4: Bool) -> [Packet] {
        facts.usable.flatMap { interface in
            [true, false].map { .multicast(isIncoming: $0, on: interface.name, isIPv4: isIPv4) }
        }
    }

    static func connections(_ facts: DoctorFacts) -> [Packet] {
        versions(facts).flatMap { connections(facts, isIPv4: $0) }
    }

    private static func connections(_ facts: DoctorFacts, isIPv4: Bool) -> [Packet] {
        facts.port.judged.map { connection(facts, to: $0, isIPv4: isIPv4) }
    }

    private static func connection(_ facts: DoctorFacts, to port: UInt16, isIPv4: Bool) -> Packet {
        .connection(to: port, on: facts.usable.first?.name ?? "eth0", isIPv4: isIPv4)
    }

    /// The chains that surely drop one of these.
    static func droppers(of packets: [Packet], _ facts: DoctorFacts) -> [Chain] {
        guard case .rules(let rules) = facts.firewall else { return [] }
        return unique(packets.flatMap(rules.droppers))
    }

    /// Those, or when there are none, the chains that may drop one: for what is known to be stopped.
    static func culprits(of packets: [Packet], _ facts: DoctorFacts) -> [Chain] {
        let sure = droppers(of: packets, facts)
        guard sure.isEmpty, case .rules(let rules) = facts.firewall else { return sure }
        return unique(packets.flatMap(rules.doubtful))
    }

    private static func unique(_ chains: [Chain]) -> [Chain] {
        var found: [Chain] = []
        for chain in chains where !found.contains(chain) { found.append(chain) }
        return found
    }
}
