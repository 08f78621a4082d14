import Foundation
import Glibc
import Testing

/// `peerconnect doctor` on hosts that are broken in one way each.
@Suite(
    "Doctor", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct DoctorTests {
    /// What it says about each check, its exit code, and how long it took.
    private func diagnose(
        _ lab: Lab, _ more: String...
    ) async throws -> (checks: [String: Running.Event], status: Int32) {
        let clock = ContinuousClock(), start = clock.now
        let doctor = try lab.run(1, arguments: ["doctor", "--json"] + more)
        let status = try await doctor.exitStatus(within: 30)
        // 7 s at most by itself; other tests run beside it.
        #expect(clock.now - start < .seconds(20))
        let checks = doctor.lines.compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? Running.Event
        }.filter { $0.text("event") == "check" }
        return (Dictionary(checks.map { ($0.text("name") ?? "", $0) }) { first, _ in first }, status)
    }

    private func failures(_ checks: [String: Running.Event]) -> Set<String> {
        Set(checks.filter { $0.value.text("status") == "fail" }.keys)
    }

    @Test("A healthy host passes, sees another peer, and nothing is left on the disk or in that peer's list")
    func healthy() async throws {
        try await QuietMachine.come()
        let lab = try Lab(hosts: 2)
        defer { withExtendedLifetime(lab) {} }
        let other = try await lab.chat(2)
        try await other.event("discovery") { $0.text("state") == "published" }
        let (checks, status) = try await diagnose(lab)
        #expect(status == 0 && failures(checks).isEmpty, "\(checks)")
        #expect(checks["avahi-daemon"]?.text("message") == "avahi-daemon is running, version 0.8.")
        #expect(checks["backend"]?.text("message") == "Peers are found by avahi-daemon.")
        #expect(checks["udp"]?.text("message") == "Multicast DNS (UDP port 5353) works on eth0.")
        #expect(checks["advert"]?.text("message") == "This peer is visible on the network.")
        #expect(checks["peers"]?.text("message") == "One other peer is visible.")
        #expect(checks["firewall"]?.text("message") == "No firewall is in the way.")
        #expect(!FileManager.default.fileExists(atPath: lab.home(1)))
        #expect(other.count(of: "peer.found") == 0)
    }

    @Test("A firewall that stops UDP port 5353 and TCP is named for both at once; the commands given mend it")
    func firewall() async throws {
        let lab = try Lab(hosts: 1)
        defer { withExtendedLifetime(lab) {} }
        try lab.lan("cut", "1")
        let (cut, cutStatus) = try await diagnose(lab)
        #expect(cutStatus == 1 && failures(cut).isSuperset(of: ["udp", "firewall", "advert"]))
        #expect(
            cut["firewall"]?.text("message")
                == "The firewall (inet lab in) stops multicast DNS, UDP port 5353, so no peer is found, "
                + "and TCP port 27182, so peers cannot connect to this one.")
        for check in ["udp", "firewall"] {
            try lab.lan("exec", "1", "sh", "-c", try #require(cut[check]?.text("command")))
        }

        let (open, openStatus) = try await diagnose(lab)
        #expect(openStatus == 0 && open["firewall"]?.text("message") == "The firewall lets peers in.")
    }

    @Test("Where a program runs already, its own port is the one that is judged, and named when a firewall stops it")
    func running() async throws {
        let lab = try Lab(hosts: 1)
        defer { withExtendedLifetime(lab) {} }
        let program = try await lab.chat(1, "--port", "28001")
        let (open, openStatus) = try await diagnose(lab)
        #expect(openStatus == 0 && failures(open).isEmpty, "\(open)")
        #expect(
            open["tcp"]?.text("message")
                == "PeerConnect runs already and listens on TCP port 28001; 27182 is free for another one.")
        try lab.lan(
            "exec", "1", "nft",
            "table inet site { chain in { type filter hook input priority 0; iifname eth0 tcp dport 28001 drop; }; }")
        let (shut, shutStatus) = try await diagnose(lab)
        #expect(shutStatus == 1 && failures(shut) == ["firewall"], "\(shut)")
        let message = shut["firewall"]?.text("message") ?? ""
        #expect(message.contains("inet site in") && message.contains("TCP port 28001"), "\(message)")
        program.endInput()
    }

    @Test(
        "A stuck daemon, no daemon and no D-Bus are told apart; the responder inside the program is enough"
    )
    func noDaemon() async throws {
        let lab = try Lab(hosts: 1)
        defer { withExtendedLifetime(lab) {} }
        let daemon = try #require(Int32(try lab.lan("exec", "1", "cat", "/run/avahi-daemon/pid").filter(\.isNumber)))
        kill(daemon, SIGSTOP)
        let (stuck, stuckStatus) = try await diagnose(lab)
        kill(daemon, SIGCONT)
        #expect(stuckStatus == 1 && failures(stuck) == ["avahi-daemon", "backend", "publishing", "advert"], "\(stuck)")
        #expect(stuck["backend"]?.text("command") == "peerconnect --discovery embedded")
        try lab.lan("avahi", "1", "stop")
        let (absent, absentStatus) = try await diagnose(lab, "--discovery", "daemon")
        #expect(absentStatus == 1)
        #expect(absent["dbus"]?.text("status") == "pass")
        #expect(absent["avahi-daemon"]?.text("message") == "avahi-daemon is not running.")
        let command = absent["avahi-daemon"]?.text("command") ?? ""
        #expect(
            ["service avahi-daemon start", "avahi-daemon --daemonize"].contains(command)
                || command.hasPrefix("systemctl"))
        try lab.lan("bus", "1", "stop")
        let (alone, aloneStatus) = try await diagnose(lab, "--discovery", "daemon")
        #expect(aloneStatus == 1)
        #expect(alone["dbus"]?.text("message")?.hasPrefix("D-Bus cannot be reached: connection refused") == true)
        #expect(alone["dbus"]?.text("command")?.contains("dbus") == true)
        #expect(alone["backend"]?.text("command") == "peerconnect --discovery auto")
        let (embedded, status) = try await diagnose(lab)
        #expect(status == 0 && failures(embedded).isEmpty, "\(embedded)")
        #expect(embedded["backend"]?.text("message") == "Peers are found by the responder inside this program.")
        #expect(embedded["advert"]?.text("status") == "pass")
    }

    @Test("A daemon that may not publish, a taken port and a VPN as the only link are named")
    func refusals() async throws {
        let lab = try Lab(hosts: 1)
        defer { withExtendedLifetime(lab) {} }
        try lab.lan("avahi", "1", "stop")
        let settings = "/run/avahi.conf", usual = "/etc/avahi/avahi-daemon.conf"
        let edit = "sed -i 's/^publish-hinfo=no/disable-publishing=yes/' \(settings)"
        // Where everybody looks for it; the host has a mount namespace of its own.
        try lab.lan("exec", "1", "sh", "-c", "\(edit) && mount --bind \(settings) \(usual)")
        try lab.lan("avahi", "1", "start")
        let holder = try lab.tool(1, "/usr/bin/env", "python3", "-c", Self.listener)
        _ = try await holder.event("ready")
        let (checks, status) = try await diagnose(lab, "--port", "27182")
        #expect(status == 1 && failures(checks) == ["publishing", "advert", "tcp"], "\(checks)")
        #expect(checks["publishing"]?.text("message")?.contains("disable-publishing=yes") == true)
        #expect(
            checks["tcp"]?.text("message")
                == "TCP port 27182 cannot be listened on: address already in use, it is held by python3 (of root).")
        let (more, _) = try await diagnose(lab)
        #expect(more["tcp"]?.text("message") == "TCP port 27183 is free; 27182 is taken by python3 (of root).")
        holder.endInput()

        try lab.lan(
            "exec", "1", "sh", "-c",
            "ip tuntap add dev tun0 mode tun && ip addr add 10.9.0.2 peer 10.9.0.1 dev tun0"
                + " && ip link set tun0 up && ip link set eth0 down")
        let (vpn, vpnStatus) = try await diagnose(lab)
        #expect(vpnStatus == 1 && failures(vpn).isSuperset(of: ["interfaces", "vpn"]))
        #expect(vpn["vpn"]?.text("message")?.hasPrefix("Only a VPN or the like is up (tun0)") == true)
    }

    /// Listens on the usual port until its input ends.
    private static let listener = """
        import socket, sys
        s = socket.create_server(("", 27182), family=socket.AF_INET6, dualstack_ipv6=True)
        print('{"event":"ready"}', flush=True)
        sys.stdin.read()
        """

    @Test("Where UDP port 5353 is blocked, a list that stays empty for 10 s says why, and a typed address connects")
    func emptyList() async throws {
        let lab = try Lab(hosts: 2)
        defer { withExtendedLifetime(lab) {} }
        try lab.lan(
            "exec", "1", "nft",
            "table inet site { chain in { type filter hook input priority 0; udp dport 5353 drop; }; "
                + "chain out { type filter hook output priority 0; udp dport 5353 drop; }; }")
        let browse = try lab.run(1, "browse", "--for", "12")
        let chat = try lab.run(2, "chat", "--name", "p2", "--accept", "all")
        #expect(try await browse.exitStatus(within: 30) == 0)
        #expect(browse.lines.isEmpty)
        #expect(browse.errors.contains("firewall") && browse.errors.contains("peerconnect doctor"))
        #expect(chat.errors.contains("peerconnect doctor"))
        let typed = try lab.run(1, "chat", "--json", "--name", "p1", "--invite", "10.77.0.2")
        try await typed.event("chat.started", within: 5)
        chat.endInput()
        #expect(try await chat.exitStatus() == 0)
    }
}
