import Foundation
import Testing

/// One machine that announces thousands of peers that are none.
@Suite(
    "A flood on real hosts", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct FloodTests {
    @Test(
        "Beside 2,200 false adverts a real peer is listed within 5 s, and sees the others",
        arguments: DiscoveryTests.BackEnd.allCases)
    func newcomer(backEnd: DiscoveryTests.BackEnd) async throws {
        try await QuietMachine.come()
        let lab = try backEnd.lab(hosts: 3)
        // The flood's own machine needs no daemon, which would only cost time here.
        if backEnd == .daemon { try lab.lan("avahi", "2", "stop") }
        let here = try await lab.chat(1)
        try await here.event("discovery") { $0.text("state") == "published" }
        let script = lab.folder + "/flood.py"
        try Data(Self.flood.utf8).write(to: URL(filePath: script))
        let flood = try lab.tool(2, "/usr/bin/python3", script, "10.77.0.2")
        try await flood.event("many")
        // The machine may be busy with other tests, so the best of three counts; all are found every time.
        var times: [Double] = []
        for number in 1...3 where times.allSatisfy({ $0 > 5 }) {
            let there = try await lab.chat(3, "--accept", "all", "--name", "real \(number)")
            let start = try #require(
                try await there.event("discovery", within: 60) { $0.text("state") == "published" }.moment)
            let found = try await here.event("peer.found", within: 60) { $0.name(of: "peer") == "real \(number)" }
            times.append(try #require(found.moment) - start)
            try await there.lists("p1", within: 60)
            here.send("/invite 'real \(number)'")
            for program in [here, there] { try await program.event("chat.started", within: 5) }
            here.send("/end")
            try await here.event("chat.ended")
            there.send("/quit")
            #expect(try await there.exitStatus() == 0)
        }
        #expect((times.min() ?? 9) < 5, "\(times)")
        #expect(here.listed().count <= 2000)
        flood.kill(SIGKILL)
    }

    /// Three of eleven fakes say where they are: two on this host, where nobody listens, and others on a host without addresses.
    ///
    /// avahi-daemon keeps 4,096 records of an interface, and drops all that come after: these are fewer.
    private static let flood = """
        import base64, hashlib, itertools, socket, sys, time
        from zeroconf import DNSOutgoing, ServiceInfo, const
        address, count, kind = sys.argv[1], 2200, "_peerconnect._tcp.local."
        mouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        mouth.bind(("", 5353))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        def packet(i):
            id = base64.b32encode(hashlib.sha256(str(i).encode()).digest()).decode().lower().rstrip("=")
            info = ServiceInfo(kind, f"fake {i} {id[:8]}.{kind}", port=4000, addresses=[socket.inet_aton(address)],
                server="fakes.local." if i % 11 < 2 else "nowhere.local.", properties=dict(txtvers="1", id=id,
                name=f"fake {i}", pv="1-1", st="idle", kind="chat", run="abcdefgh-1"))
            out = DNSOutgoing(const._FLAGS_QR_RESPONSE | const._FLAGS_AA)
            records = [info.dns_pointer()]
            if i % 11 < 4: records += [info.dns_service(), info.dns_text()]
            if i % 11 < 2: records += info.dns_addresses()
            for record in records: out.add_answer_at_time(record, 0)
            return out.packets()[0]
        packets = [packet(i) for i in range(count)]
        for n in itertools.count():
            mouth.sendto(packets[n % count], ("224.0.0.251", 5353))
            if n == 1000: print('{"event":"many"}', flush=True)
            time.sleep(1 / 250 if n < 1000 else 1 / 100)
        """
}
