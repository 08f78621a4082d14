internal import PeerConnect
internal import PeerModel
internal import PeerSystem

/// Gathers the facts for `doctor`: looks and asks, each for a few seconds at most, and leaves nothing behind.
struct DoctorExaminer: Sendable {
    /// The longest of all, since others may need some seconds to answer; the whole is to take less than 10 s.
    private static let trialSeconds = 5.0
    private static let daemonSeconds = 4.0
    /// For the kernel and the disk, which answer at once if they answer.
    private static let localSeconds = 3.0

    private let run: Run

    init(_ run: Run) { self.run = run }

    func facts() async -> DoctorFacts {
        var facts = DoctorFacts()
        facts.discovery = run.options.discovery
        facts.wantedInterfaces = run.options.interfaces
        facts.now = run.console.now()
        facts.interfaces = NetworkInterface.current()
        let up = Set(facts.interfaces.map(\.name))
        facts.interfacesDown = NetworkInterface.names().filter { !up.contains($0) }
        facts.isRoot = ThisProcess.isRoot
        facts.hasEmbedded = Diagnosis.hasEmbedded
        examineMachine(&facts)
        // Before anything here has the port itself.
        facts.responders = await BlockingThread.value("responders", within: 2, Self.responders) ?? []

        let running = await BlockingThread.value("running", within: 2, DoctorPortTrial.running) ?? []
        let usable = facts.usable, port = run.options.port, interfaces = run.options.interfaces
        async let daemon = Diagnosis.daemon(within: Self.daemonSeconds)
        async let trial = trial(watching: usable.map(\.name))
        async let multicast = Self.limited("multicast") { Self.multicast(on: usable) }
        async let tcp = Self.limited("port") { DoctorPortTrial.run(port, interfaces: interfaces, running: running) }
        async let firewall = Self.limited("firewall", Self.firewall)
        await examineFolders(&facts)
        facts.daemon = await daemon
        facts.trial = await trial
        facts.multicast = await multicast ?? []
        facts.port = await tcp ?? DoctorFacts.Port(bound: nil, problem: "that took too long", running: running)
        facts.firewall = await firewall ?? .unknown
        return facts
    }

    private static func limited<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await BlockingThread.value(name, within: localSeconds, body)
    }

    // MARK: The machine

    private func examineMachine(_ facts: inout DoctorFacts) {
        facts.hasSystemd = Paths.exists("/run/systemd/system")  // sd_booted(3)
        facts.services = facts.services.filter { Paths.exists("/etc/init.d/\($0)") }
        facts.hasApt = Self.program("apt-get") != nil
        facts.container = Self.container
        facts.hasRealDevice = Self.hasRealDevice(NetworkInterface.names(), in: "/sys/class/net")
        facts.isBusInstalled = ["dbus-daemon", "dbus-broker-launch"].contains { Self.program($0) != nil }
        facts.isDaemonInstalled = Self.program("avahi-daemon") != nil
        facts.bus = Self.bus(run.world.environment["DBUS_SYSTEM_BUS_ADDRESS"])
        facts.daemonSettings = Self.settings((try? TextFile.read(DoctorFacts.daemonConfiguration)) ?? "")
        if (try? TextFile.read("/etc/ufw/ufw.conf"))?.split(separator: "\n").contains("ENABLED=yes") == true {
            facts.firewallTool = .ufw
        } else if Paths.exists("/run/firewalld.pid") {
            facts.firewallTool = .firewalld
        }
    }

    /// Whether one of these is hardware, switched on or not.
    static func hasRealDevice(_ names: [String], in folder: String) -> Bool {
        names.contains { Paths.exists("\(folder)/\($0)/device") }
    }

    /// Users' search paths often lack the folders of the superuser's tools.
    private static func program(_ name: String) -> String? {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { "\($0)/\(name)" }.first(where: Paths.isExecutable)
    }

    private static var container: DoctorFacts.Container? {
        if Paths.exists("/run/.containerenv") { return .podman }
        if Paths.exists("/.dockerenv") { return .docker }
        let groups = (try? TextFile.read("/proc/1/cgroup")) ?? ""
        if groups.contains("/docker") { return .docker }
        if ["/lxc", "kubepods", "/libpod"].contains(where: groups.contains) { return .other }
        return Paths.exists("/run/systemd/container") ? .other : nil
    }

    /// Connects to the socket of the system bus, whose address may be in the environment (dbus-daemon(1)).
    private static func bus(_ address: String?) -> DoctorFacts.Bus {
        var path = "/run/dbus/system_bus_socket"
        if let address, let start = address.firstRange(of: "unix:path=") {
            path = String(address[start.upperBound...].prefix { $0 != "," && $0 != ";" })
        }
        do {
            try LocalSocket.probe(path)
            return .answers
        } catch {
            return error.isMissing ? .missing(path) : .refuses(error.reason)
        }
    }

    /// The lines `key=value` of avahi-daemon.conf(5); no key is in two of its sections.
    static func settings(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            if parts.count == 2 { found[parts[0]] = parts[1] }
        }
        return found
    }

    // MARK: Discovery

    private func trial(watching networks: [String]) async -> Diagnosis.Trial? {
        guard run.options.discovery != .off else { return nil }
        return await Diagnosis.trial(run.settings(into: nil), watching: networks, within: Self.trialSeconds)
    }

    private static func multicast(on interfaces: [NetworkInterface]) -> [DoctorFacts.Multicast] {
        // A machine with many containers has many interfaces, and there is not time for all.
        interfaces.prefix(8).flatMap { interface in
            [false, true].compactMap { isIPv6 in
                let hasAddress = interface.addresses.contains { prefix in
                    if case .v6 = prefix.address.ip { isIPv6 } else { !isIPv6 }
                }
                guard hasAddress else { return nil }
                let outcome = MulticastTrial.run(on: interface.name, isIPv6: isIPv6, seconds: 0.18)
                return DoctorFacts.Multicast(interface: interface.name, isIPv6: isIPv6, outcome: outcome)
            }
        }
    }

    private static func responders() -> [DoctorFacts.Responder] {
        let sockets = BoundSocket.udp(port: 5353)
        let holders = BoundSocket.holders(of: Set(sockets.map(\.inode)))
        return sockets.map { socket in
            DoctorFacts.Responder(
                program: holders[socket.inode], user: BoundSocket.login(of: socket.user) ?? "user \(socket.user)")
        }
    }

    private static func firewall() -> DoctorFacts.Firewall {
        guard let nft = program("nft"), let output = ChildProcess.run(nft, ["-j", "list", "ruleset"], seconds: 2)
        else { return .unknown }
        if output.status == 0, let rules = DoctorFirewall(output.text) { return .rules(rules) }
        return ThisProcess.isRoot ? .unknown : .forbidden
    }

    // MARK: Folders

    private func examineFolders(_ facts: inout DoctorFacts) async {
        let home = run.home
        do throws(PeerConnectError) {
            let folders = try Folders(
                home: run.options.home.map(run.world.absolute), environment: run.world.environment)
            let paths = [folders.data, folders.downloads, folders.cache]
            let places = await Self.limited("folders") { paths.map(Self.place) } ?? []
            if places.count == 3 { (facts.data, facts.downloads, facts.cache) = (places[0], places[1], places[2]) }
        } catch {
            facts.identityProblem = error
        }
        let problem = await Self.limited("identities") { () -> (PeerConnectError?, Set<PeerID>) in
            do throws(PeerConnectError) {
                return (nil, Set(try home.identities().map(\.peer.id)))
            } catch {
                return (error, [])
            }
        }
        guard let problem else {
            facts.identityProblem = PeerConnectError(
                .cannotStart, "The disk with the identities does not answer.",
                hint: "Check that disk, or the file server behind it.")
            return
        }
        facts.identityProblem = facts.identityProblem ?? problem.0
        facts.identities = problem.1
    }

    private static func place(_ path: String) -> DoctorFacts.Place {
        let existing = Paths.nearestExisting(path)
        let real = (try? Paths.real(existing)) ?? existing
        return DoctorFacts.Place(
            path: path, existing: existing, isWritable: Paths.isWritable(existing),
            free: try? Folder.open(existing).freeSpace(),
            mount: Mount.holding(real, in: (try? TextFile.read("/proc/self/mountinfo")) ?? ""))
    }
}
