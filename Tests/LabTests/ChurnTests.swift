import Foundation
import Testing

/// Days of coming and going, in less than a minute.
@Suite(
    "Peers that come and go", .serialized, .timeLimit(.minutes(8)),
    .enabled(if: Lab.obstacle == nil, Comment(rawValue: Lab.obstacle ?? "")))
struct ChurnTests {
    private static let waves = 30, inWave = 100
    /// Until then memory grows to what a list of that size takes.
    private static let settled = 5

    @Test(
        "3,000 peers that come and go leave neither memory, descriptors nor rows",
        arguments: DiscoveryTests.BackEnd.allCases
    )
    func flat(backEnd: DiscoveryTests.BackEnd) async throws {
        let lab = try backEnd.lab(hosts: 2)
        let program = try lab.run(1, "browse", "--watch", "--json")
        try await program.event("ready")
        let script = lab.folder + "/churn.py"
        try Data(Self.churn.utf8).write(to: URL(filePath: script))
        let peers = try lab.tool(2, "/usr/bin/python3", script, "10.77.0.2", "\(Self.inWave)")
        try await peers.event("ready")
        var settled: (memory: Int, descriptors: Int)?
        for wave in 1...Self.waves {
            peers.send("next")
            try await program.comes("wave \(wave)", within: 20) { $0.count(of: "peer.found") == wave * Self.inWave }
            if wave == Self.settled { settled = try usage(program) }
        }
        peers.send("next")
        try await program.comes("nobody", within: 20) { $0.count(of: "peer.lost") == Self.waves * Self.inWave }
        let (end, start) = (try usage(program), try #require(settled))
        #expect(end.memory - start.memory < 8 << 10, "\(start.memory) KiB, then \(end.memory) KiB")
        #expect(end.descriptors == start.descriptors)
        #expect(program.rows().isEmpty && program.listedNames().isEmpty)
        program.kill(SIGTERM)
        peers.endInput()
    }

    /// Resident memory in KiB, and open descriptors (proc(5)).
    private func usage(_ program: Running) throws -> (memory: Int, descriptors: Int) {
        let status = try String(contentsOfFile: "/proc/\(program.id)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return (
            try #require(Int(line.filter(\.isNumber))),
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.id)/fd").count
        )
    }

    /// For each line of input the peers there are say goodbye (RFC 6762, section 10.1), and as many others come.
    private static let churn = """
        import base64, hashlib, socket, sys, time
        from zeroconf import DNSOutgoing, ServiceInfo, const
        address, count, kind = sys.argv[1], int(sys.argv[2]), "_peerconnect._tcp.local."
        mouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        mouth.bind(("", 5353))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        def say(wave, isThere):
            for i in range(wave * count, (wave + 1) * count):
                id = base64.b32encode(hashlib.sha256(str(i).encode()).digest()).decode().lower().rstrip("=")
                info = ServiceInfo(kind, f"peer {i} {id[:8]}.{kind}", port=4000, addresses=[socket.inet_aton(address)],
                    server=f"churn{i}.local.", properties=dict(txtvers="1", id=id, name=f"peer {i}", pv="1-1",
                    st="idle", kind="chat", run="abcdefgh-1"))
                out = DNSOutgoing(const._FLAGS_QR_RESPONSE | const._FLAGS_AA)
                ttl = None if isThere else 0
                for record in [info.dns_pointer(ttl), info.dns_service(ttl), info.dns_text(ttl), *info.dns_addresses(ttl)]:
                    out.add_answer_at_time(record, 0)
                mouth.sendto(out.packets()[0], ("224.0.0.251", 5353))
                time.sleep(0.002)
        print('{"event":"ready"}', flush=True)
        for wave, _ in enumerate(sys.stdin):
            if wave > 0: say(wave - 1, False)
            if wave < 30: say(wave, True)
        """
}
