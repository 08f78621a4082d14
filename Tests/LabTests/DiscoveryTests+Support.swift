import Foundation
import Testing

// MARK: - Scripts

extension DiscoveryTests {
    /// Adverts by another implementation, most of them wrong; ends with its input.
    static let strangers = """
        import socket, sys
        from zeroconf import ServiceInfo, Zeroconf
        address, real = sys.argv[1:]
        kind = "_peerconnect._tcp.local."
        z = Zeroconf(interfaces=[address])
        good = dict(txtvers="1", id="b" * 51 + "a", name="fine", pv="1-1", st="idle", kind="chat", run="abcdefgh-1")
        def publish(number, label, properties=None, text=None, **changes):
            values = {**good, **changes} if properties is None else properties
            values = {k: v for k, v in values.items() if v is not None}
            info = ServiceInfo(kind, f"{label}.{kind}", port=4000 + number, addresses=[socket.inet_aton(address)],
                server=f"stranger{number}.local.", properties=text if text is not None else values)
            z.registry.async_add(info)
            z.send(z.generate_service_broadcast(info, None))
        publish(1, "liar", id=real, name="liar")
        publish(2, "no id", id=None)
        publish(3, "bad id", id="nonsense")
        publish(4, "long id", id="b" * 53)
        publish(5, "controls", id="c" * 52, name="\\u001b[31mred\\u0007")
        publish(6, "newline", id="d" * 52, name="two\\nlines")
        publish(7, "bytes", id="e" * 52, name=b"\\xff\\xfe")
        publish(8, "long name", id="f" * 52, name="n" * 64)
        publish(9, "oversized", id="g" * 52, more="x" * 240, evenmore="y" * 240)
        publish(10, "nothing", properties={})
        publish(11, "garbage", text=bytes(range(1, 200)))
        publish(12, "versions", id="h" * 52, pv="9-1")
        publish(13, "run", id="i" * 52, run="-")
        publish(14, "fine")
        print('{"event":"ready"}', flush=True)
        sys.stdin.read()
        z.unregister_all_services()
        z.close()
        """

    /// Many peers on one host, each as if it were alone: they announce themselves and answer by packets of their own.
    static let many = """
        import base64, hashlib, socket, sys, threading, time
        from zeroconf import DNSIncoming, DNSOutgoing, ServiceInfo, const
        count, address = int(sys.argv[1]), sys.argv[2]
        group, kind = "224.0.0.251", "_peerconnect._tcp.local."
        packets = []
        for i in range(count):
            id = base64.b32encode(hashlib.sha256(str(i).encode()).digest()).decode().lower().rstrip("=")
            info = ServiceInfo(kind, f"peer {i} {id[:8]}.{kind}", port=4000 + i, addresses=[socket.inet_aton(address)],
                server=f"many{i}.local.", properties=dict(txtvers="1", id=id, name=f"peer {i}", pv="1-1", st="idle",
                kind="chat", run="abcdefgh-1"))
            out = DNSOutgoing(const._FLAGS_QR_RESPONSE | const._FLAGS_AA)
            for record in [info.dns_pointer(), info.dns_service(), info.dns_text(), *info.dns_addresses()]:
                out.add_answer_at_time(record, 0)
            packets += [(info.name, packet) for packet in out.packets()]

        def open_socket(bound):
            result = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            result.bind((bound, 5353))
            return result
        mouth, ear = open_socket(""), open_socket(group)
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(address))

        def say(seconds, known=()):
            for name, packet in packets:
                if name not in known:
                    mouth.sendto(packet, (group, 5353))
                    time.sleep(seconds / count)

        def answer():
            while True:
                asked, known = False, set()
                ear.settimeout(None)
                while True:  # what the asker knows comes in as many packets as it takes (RFC 6762, section 7.2)
                    try:
                        message = DNSIncoming(ear.recvfrom(9000)[0])
                    except TimeoutError:
                        break
                    if message.is_query():
                        asked = asked or any(q.name == kind and q.type == 12 for q in message.questions)
                        known |= {r.alias for r in message.answers if r.type == 12}
                        ear.settimeout(0.1 if message.flags & 0x200 else 0.02)
                if asked: say(0.1, known)
        say(1)
        threading.Thread(target=answer, daemon=True).start()
        print('{"event":"ready"}', flush=True)
        sys.stdin.read()
        """
}

// MARK: - Lists

extension Running {
    /// All events of a name so far, used or not.
    func all(_ kinds: String...) -> [Event] {
        lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? Event }
            .filter { kinds.contains($0.text("event") ?? "") }
    }

    /// One peer as it was told last.
    private typealias Row = (name: String, state: String, addresses: [String])

    /// The list as the events so far make it, by ID.
    private var list: [String: Row] {
        var list: [String: Row] = [:]
        for event in all("peer.found", "peer.updated", "peer.lost") {
            guard let peer = event["peer"] as? Event, let id = peer.text("id") else { continue }
            let addresses = event["addresses"] as? [String] ?? []
            list[id] =
                event.text("event") == "peer.lost"
                ? nil : (peer.text("name") ?? "", event.text("state") ?? "", addresses)
        }
        return list
    }

    /// Addresses by name.
    func listed() -> [String: [String]] { Dictionary(list.values.map { ($0.name, $0.addresses) }) { $1 } }

    /// IDs by name.
    func listedIDs() -> [String: String] { Dictionary(list.map { ($1.name, $0) }) { $1 } }

    /// Names by ID.
    func listedNames() -> [String: String] { list.mapValues(\.name) }

    /// States by name, as they were told last.
    func listedStates() -> [String: String] { Dictionary(list.values.map { ($0.name, $0.state) }) { $1 } }

    /// How many rows a reader has who adds one for each peer found and takes one away for each lost, by ID; one with none is left out.
    func rows() -> [String: Int] {
        var rows: [String: Int] = [:]
        for event in all("peer.found", "peer.lost") {
            guard let id = (event["peer"] as? Event)?.text("id") else { continue }
            rows[id, default: 0] += event.text("event") == "peer.found" ? 1 : -1
        }
        return rows.filter { $0.value != 0 }
    }

    func addresses(of id: String) -> [String] { list[id]?.addresses ?? [] }

    /// Waits until a peer is listed.
    func lists(_ name: String, within seconds: Double = 15) async throws {
        try await comes("\(name) in the list", within: seconds) { $0.listed()[name]?.isEmpty == false }
    }

    /// Waits until something is so.
    func comes(_ what: String, within seconds: Double, _ isSo: @Sendable (Running) -> Bool) async throws {
        let clock = ContinuousClock(), limit = clock.now + .seconds(seconds)
        while !isSo(self) {
            guard clock.now < limit else {
                throw Lab.Failure(
                    text: "there is not \(what), but \(listed())\n" + lines.suffix(12).joined(separator: "\n"))
            }
            try await clock.sleep(for: .milliseconds(20))
        }
    }
}

extension Running.Event {
    /// When it was, in seconds.
    var moment: Double? {
        text("time").flatMap { try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse($0) }?
            .timeIntervalSince1970
    }
}
