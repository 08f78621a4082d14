internal import PeerModel

/// The commands that mend what a check has found, as they have to be typed on this machine.
struct DoctorMend {
    private let facts: DoctorFacts

    init(_ facts: DoctorFacts) { self.facts = facts }

    /// A command of the superuser's.
    func asRoot(_ command: String) -> String { facts.isRoot ? command : "sudo " + command }

    /// Brings a service up, by whatever starts services here.
    func start(_ service: String) -> String {
        if facts.hasSystemd { return asRoot("systemctl start \(service)") }
        if facts.services.contains(service) { return asRoot("service \(service) start") }
        return asRoot(service == "dbus" ? "dbus-daemon --system --fork" : "\(service) --daemonize")
    }

    func restart(_ service: String) -> String {
        if facts.hasSystemd { return asRoot("systemctl restart \(service)") }
        if facts.services.contains(service) { return asRoot("service \(service) restart") }
        return asRoot("\(service) --kill") + " && " + start(service)
    }

    /// For an interface that was switched off by hand, or never on.
    func switchOn(_ interface: String) -> String { asRoot("ip link set \(interface) up") }

    /// `nil` where packages come by another way than Debian's.
    func install(_ package: String) -> String? {
        facts.hasApt ? asRoot("apt-get install \(package)") : nil
    }

    /// Changes a line of avahi-daemon.conf(5), and lets the daemon read it.
    func configure(_ key: String, _ value: String) -> String {
        let file = DoctorFacts.daemonConfiguration
        let edit = asRoot("sed -i 's/^ *\(key) *=.*/\(key)=\(value)/' \(file)")
        return edit + " && " + restart("avahi-daemon")
    }

    /// Lets multicast DNS through the firewall; `chains` are those that are known to drop it.
    func openMulticast(_ chains: [DoctorFirewall.Chain]) -> String? {
        switch facts.firewallTool {
        case .ufw: asRoot("ufw allow 5353/udp")
        case .firewalld: firewalld("--add-service=mdns")
        case nil: insert("udp dport 5353 accept", into: chains)
        }
    }

    /// Lets peers connect; all the ports a run may take, so that it holds for the next run too.
    func openPorts(_ chains: [DoctorFirewall.Chain]) -> String? {
        let usual = Limits.ports, dash = facts.firewallTool == .ufw ? ":" : "-"
        let others = facts.port.judged.filter { !usual.contains($0) }.map { "\($0)" }
        let isUsual = facts.port.judged.contains(where: usual.contains)
        let all = (isUsual ? ["\(usual.lowerBound)\(dash)\(usual.upperBound)"] : []) + others
        let commands = all.compactMap { ports in
            switch facts.firewallTool {
            case .ufw: asRoot("ufw allow \(ports)/tcp")
            case .firewalld: firewalld("--add-port=\(ports)/tcp")
            case nil: insert("tcp dport \(ports) accept", into: chains)
            }
        }
        return commands.isEmpty ? nil : commands.joined(separator: " && ")
    }

    private func firewalld(_ change: String) -> String {
        asRoot("firewall-cmd --permanent \(change)") + " && " + asRoot("firewall-cmd --reload")
    }

    private func insert(_ rule: String, into chains: [DoctorFirewall.Chain]) -> String? {
        let commands = chains.map { asRoot("nft insert rule \($0.family) \($0.table) \($0.name) \(rule)") }
        return commands.isEmpty ? nil : commands.joined(separator: " && ")
    }

    /// How a container gets what it was not started with.
    func container(_ options: String) -> String? {
        switch facts.container {
        case .docker: "docker run \(options)"
        case .podman: "podman run \(options)"
        case .other, nil: nil
        }
    }
}

extension DoctorFacts {
    static let daemonConfiguration = "/etc/avahi/avahi-daemon.conf"
}
