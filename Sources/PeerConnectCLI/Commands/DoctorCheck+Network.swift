internal import PeerModel
internal import PeerSystem

/// Whether the machine's network lets peers through.
extension DoctorCheck {
    static func interfaces(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "interfaces", mend = DoctorMend(facts)
        for wanted in facts.wantedInterfaces where !facts.interfaces.contains(where: { $0.name == wanted }) {
            if facts.interfacesDown.contains(wanted) {
                return .fail(name, "\(wanted) is switched off.", mend: mend.switchOn(wanted))
            }
            let names = (facts.interfaces.map(\.name) + facts.interfacesDown).sorted()
            return .fail(name, "There is no interface \(wanted), this machine has \(Amount.list(names)).")
        }
        let shown = facts.usable.map { interface in
            "\(interface.name) (\(interface.addresses.map(\.address.host).joined(separator: ", ")))"
        }
        if !shown.isEmpty { return .pass(name, "Peers can be found on \(shown.joined(separator: " and ")).") }
        let unplugged = facts.interfaces.filter { !$0.isLoopback && !$0.isPointToPoint && !$0.isRunning }
        if !facts.links.isEmpty {
            return .fail(
                name, "There is no local network, only a VPN or the like, and peers cannot be found through that.")
        }
        if let first = unplugged.first {
            return .fail(name, "There is no network: \(first.name) has no cable or no Wi-Fi.")
        }
        let bare = facts.interfaces.filter { !$0.isLoopback && $0.addresses.isEmpty }
        if let first = bare.first { return .fail(name, "There is no network: \(first.name) has no address.") }
        let off = facts.interfacesDown.filter { $0 != "lo" }
        if let first = off.first(where: { !isVirtual($0) }) ?? off.first {
            return .fail(name, "There is no network: \(first) is switched off.", mend: mend.switchOn(first))
        }
        return .fail(
            name, "There is no network: this machine has none but its own.", mend: mend.container("--network host …"))
    }

    /// What containers and virtual machines leave behind.
    private static func isVirtual(_ name: String) -> Bool {
        ["docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "tun", "tap", "wg"].contains { name.hasPrefix($0) }
    }

    static func pointToPoint(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "vpn"
        guard !facts.links.isEmpty else { return .pass(name, "No VPN is in the way.") }
        let names = facts.links.map(\.name).joined(separator: ", ")
        if facts.usable.isEmpty {
            return .fail(
                name,
                "Only a VPN or the like is up (\(names)): type the address of a peer behind it, as in /invite 10.0.0.7."
            )
        }
        return .warn(
            name,
            "A VPN is up (\(names)): peers behind it are reached by their address only, and some VPNs cut off the local "
                + "network; if peers are missing, try without it.")
    }

    static func container(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "container"
        guard facts.container != nil else { return .pass(name, "This is no container.") }
        if facts.hasRealDevice { return .pass(name, "This is a container with the network of its host.") }
        return .warn(
            name,
            "This is a container with a network of its own: peers outside are not seen unless it shares the host's.",
            mend: DoctorMend(facts).container("--network host …"))
    }

    static func multicast(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "udp"
        guard !facts.usable.isEmpty else { return .warn(name, "Multicast DNS cannot be tried without a network.") }
        let command = DoctorMend(facts).openMulticast(culprits(of: multicastPackets(facts), facts))
        for (interface, results) in grouped(facts.multicast) {
            // One IP version is enough to be found; the other may be switched off.
            if results.contains(where: { $0.outcome == .heard }) { continue }
            guard let first = results.first else { continue }
            switch first.outcome {
            case .heard: continue
            case .silent:
                return .fail(
                    name, "UDP port 5353 is blocked on \(interface), most likely by this machine's firewall.",
                    mend: command)
            case .failed(let error) where error.call == "bind":
                return .fail(
                    name, "UDP port 5353 cannot be used: \(error.reason)\(holders(facts)).",
                    mend: "ss -ulpn 'sport = :5353'")
            case .failed(let error) where error.call == "sendto":
                return .fail(
                    name,
                    "Nothing can be sent to UDP port 5353 on \(interface): \(error.reason), most likely by this "
                        + "machine's firewall.", mend: command)
            case .failed(let error):
                return .fail(name, "UDP port 5353 does not work on \(interface): \(error.reason) (\(error.call)).")
            }
        }
        let names = grouped(facts.multicast).map(\.0)
        guard !names.isEmpty else { return .warn(name, "UDP port 5353 could not be tried in time.") }
        return .pass(name, "Multicast DNS (UDP port 5353) works on \(names.joined(separator: ", ")).")
    }

    private static func grouped(_ results: [DoctorFacts.Multicast]) -> [(String, [DoctorFacts.Multicast])] {
        Dictionary(grouping: results, by: \.interface).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func holders(_ facts: DoctorFacts) -> String {
        let names = Set(facts.responders.compactMap(\.program)).sorted()
        return names.isEmpty ? "" : ", it is held by \(names.joined(separator: ", "))"
    }

    /// Programs that are known to share the port without answering for the whole machine.
    private static let guests = ["peerconnect", "chrome", "chromium", "firefox", "brave", "msedge", "spotify", "vlc"]

    static func responders(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "responders", mend = DoctorMend(facts)
        let isDaemon = { (responder: DoctorFacts.Responder) in
            responder.program.map { $0.hasPrefix("avahi-daemon") } ?? (responder.user == "avahi")
        }
        // Somebody has to be the daemon, whatever its login is here.
        let isHidden = facts.isDaemonRunning && !facts.responders.contains(where: isDaemon)
        let others = facts.responders.filter { responder in
            guard !isDaemon(responder), !(isHidden && responder.program == nil) else { return false }
            return !self.guests.contains { responder.program?.hasPrefix($0) ?? false }
        }
        guard let first = others.first else {
            return .pass(name, "No other multicast DNS software is in the way.")
        }
        if [first.program, first.user].contains(where: { $0?.hasPrefix("systemd-resolve") == true }) {
            return .warn(
                name, "systemd-resolved answers multicast DNS too, which confuses avahi-daemon.",
                mend: facts.usable.first.map { mend.asRoot("resolvectl mdns \($0.name) no") })
        }
        let who = first.program.map { "\($0) (of \(first.user))" } ?? "a program of \(first.user)"
        return .warn(
            name, "UDP port 5353 is also used by \(who); if peers are missing, end it.",
            mend: first.program == nil ? mend.asRoot("ss -ulpn 'sport = :5353'") : nil)
    }

    static func port(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "tcp"
        let running = facts.port.running.map { "\($0)" }
        if facts.port.tried > 0, facts.port.unreachable.count == facts.port.tried,
            let tested = running.first ?? facts.port.bound.map({ "\($0)" })
        {
            return .fail(
                name,
                "TCP port \(tested) cannot be reached, not even from this machine at "
                    + "\(facts.port.unreachable.joined(separator: ", ")).",
                mend: DoctorMend(facts).openPorts(culprits(of: connections(facts), facts)))
        }
        guard let bound = facts.port.bound else {
            if let wanted = facts.port.wanted, facts.port.running.contains(wanted) {
                return .pass(
                    name, "A peerconnect that runs listens on TCP port \(wanted); another one needs another port.")
            }
            let who = facts.port.holder.map { ", it is held by \($0)" } ?? ""
            let wanted = facts.port.wanted.map { "TCP port \($0)" } ?? "A TCP port"
            return .fail(
                name, "\(wanted) cannot be listened on: \(facts.port.problem ?? "it is taken")\(who).",
                mend: facts.port.holder == nil ? nil : "peerconnect --port 0")
        }
        if !running.isEmpty {
            let ports = "TCP port\(running.count == 1 ? "" : "s") \(Amount.list(running))"
            return .pass(name, "PeerConnect runs already and listens on \(ports); \(bound) is free for another one.")
        }
        if !Limits.ports.contains(bound), facts.port.wanted == Limits.defaultPort {
            return .warn(
                name,
                "TCP port \(bound) would be used, since all from \(Limits.ports.lowerBound) to "
                    + "\(Limits.ports.upperBound) are taken; a firewall that lets those in may stop it.")
        }
        if let wanted = facts.port.wanted, wanted != bound, wanted != 0 {
            let who = facts.port.holder.map { " by \($0)" } ?? ""
            return .pass(name, "TCP port \(bound) is free; \(wanted) is taken\(who).")
        }
        return .pass(name, "TCP port \(bound) is free and can be reached from this machine.")
    }
}
