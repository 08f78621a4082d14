import PeerModel
import PeerSystem
import Synchronization
import Testing

@testable import PeerConnect
@testable import PeerConnectCLI

/// What `doctor` says of a machine, from facts that are made up.
struct DoctorTests {
    typealias Change = @Sendable (inout DoctorFacts) -> Void

    static func network(_ name: String, _ changes: (inout NetworkInterface) -> Void = { _ in })
        -> NetworkInterface
    {
        let address = NetworkInterface.Prefix(address: PeerAddress(.v4([10, 0, 0, 7]), port: 0), bits: 24)
        var interface = NetworkInterface(
            name: name, isLoopback: name == "lo", isPointToPoint: name.hasPrefix("tun"), isMulticast: name != "lo",
            isRunning: true, addresses: [address])
        changes(&interface)
        return interface
    }

    static func id(_ byte: UInt8) -> PeerID {
        do { return PeerID(try digest(byte)) } catch { fatalError("32 bytes make a digest") }
    }

    /// A machine on which everything is well.
    static var healthy: DoctorFacts {
        var facts = DoctorFacts()
        facts.interfaces = [network("lo"), network("eth0")]
        var trial = Diagnosis.Trial()
        (trial.backend, trial.isPublished, trial.watcher, trial.isSeen, trial.others) =
            ("daemon", true, "embedded", true, [id(1), id(2)])
        facts.trial = trial
        facts.identities = [id(9)]
        facts.multicast = [DoctorFacts.Multicast(interface: "eth0", isIPv6: false, outcome: .heard)]
        facts.responders = [DoctorFacts.Responder(program: "avahi-daemon", user: "avahi")]
        return facts
    }

    private static func checks(_ change: Change) -> [DoctorCheck] {
        var facts = healthy
        change(&facts)
        return DoctorCheck.all(facts)
    }

    @Test("A healthy machine passes every check, each of which has a name of its own")
    func health() {
        let checks = Self.checks { _ in }
        #expect(checks.allSatisfy { $0.verdict == .pass && $0.mend == nil && $0.sentence.hasSuffix(".") })
        #expect(Set(checks.map(\.name)).count == checks.count)
        #expect(checks.count == 19)
    }

    /// One thing that is wrong and the first check that says so.
    struct Case: Sendable, CustomTestStringConvertible {
        let check: String
        let verdict: DoctorCheck.Verdict
        let words: String
        let mend: String?
        let change: Change
        var testDescription: String { "\(check): \(words)" }

        init(
            _ check: String, _ verdict: DoctorCheck.Verdict, _ words: String, _ mend: String?, change: @escaping Change
        ) {
            (self.check, self.verdict, self.words, self.mend, self.change) = (check, verdict, words, mend, change)
        }
    }

    @Test("What is wrong is said, with the command that mends it", arguments: network + discovery + storage)
    func faults(_ fault: Case) throws {
        let check = try #require(Self.checks(fault.change).first { $0.name == fault.check })
        #expect(check.verdict == fault.verdict)
        #expect(check.sentence.contains(fault.words), "\(check.sentence)")
        #expect(check.mend == fault.mend)
    }

    @Test("Without discovery nothing is said of adverts and peers, and nothing fails")
    func off() {
        let checks = Self.checks { ($0.discovery, $0.trial) = (.off, nil) }
        #expect(!checks.contains { ["advert", "peers", "publishing"].contains($0.name) })
        #expect(checks.filter { $0.verdict != .pass }.map(\.name) == ["backend"])
    }

    @Test("Sentences go to standard output with the mend below them, and a failure is exit code 1")
    func plain() async throws {
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9))))
        let console = stage.world().console
        #expect(DoctorCommand.tell([.pass("a", "Fine."), .warn("b", "So\u{1B} so.")], on: console) == .done)
        #expect(DoctorCommand.tell([.fail("c", "Bad.", mend: "mend it")], on: console) == .failed)
        #expect(DoctorCommand.tell([.warn("b", "So so."), .fail("c", "Bad.")], on: console) == .failed)
        #expect(stage.out.hasPrefix("pass  Fine.\nwarn  So␛ so.\nFAIL  Bad.\n      try: mend it\n"))
        #expect(
            stage.err == "1 warning; begin with the first.\n1 failure; begin with the first.\n"
                + "1 failure and 1 warning; begin with the first failure.\n")
    }

    @Test("Scripts get a record a check")
    func json() async throws {
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9))))
        var console = stage.world().console
        console.isJSON = true
        #expect(DoctorCommand.tell([.fail("c", "Bad.", mend: "mend it")], on: console) == .failed)
        let fields = #""name":"c","status":"fail","message":"Bad.","command":"mend it"}"#
        #expect(stage.out == #"{"event":"check","time":"2026-11-30T00:53:20.123Z","# + fields + "\n")
        #expect(stage.err.isEmpty)
    }

    @Test("The daemon's settings are read without their comments and sections")
    func daemonSettings() {
        let text = "[server]\n#enable-dbus=no\nuse-ipv4 = yes\n[publish]\ndisable-publishing=yes\n\n=\nx"
        #expect(DoctorExaminer.settings(text) == ["use-ipv4": "yes", "disable-publishing": "yes"])
    }
}

@Suite(.timeLimit(.minutes(8)))
struct EmptyListHintTests {
    private func stage() throws -> (Stage, ScriptedSession) {
        let node = ScriptedSession(me: try peer("me", 9))
        return (Stage(home: ScriptedHome(node: node)), node)
    }

    @Test("A browse that finds nobody says why on standard error, and not with --json or without discovery")
    func browse() async throws {
        let (stage, _) = try stage()
        #expect(await stage.run("browse", "--for", "1") == 0)
        #expect(stage.out.isEmpty && stage.err.hasSuffix(EmptyListHint.lines.map { $0 + "\n" }.joined()))
        #expect(stage.err.contains("peerconnect doctor"))
        let (other, _) = try self.stage()
        #expect(await other.run("browse", "--for", "1", "--json") == 0)
        #expect(other.err.isEmpty)
    }

    @Test("The hint names the reason where a VPN is the only network, or none is there, in two lines")
    func reasons() {
        let lo = DoctorTests.network("lo"), tun = DoctorTests.network("tun0"), eth = DoctorTests.network("eth0")
        #expect(EmptyListHint.lines([lo, tun]).first?.contains("only a VPN or the like is up (tun0)") == true)
        #expect(EmptyListHint.lines([lo]).first?.contains("this machine has no network") == true)
        #expect(EmptyListHint.lines([eth, lo, tun]).first?.contains("a firewall, a VPN, a guest Wi-Fi") == true)
        for interfaces in [[lo, tun], [lo], [eth, lo]] {
            let lines = EmptyListHint.lines(interfaces)
            #expect(lines.count == 2 && lines.last?.contains("peerconnect doctor") == true)
        }
    }

    /// Lines that are typed at their times.
    private final class TimedInput: LineSource {
        private let lines: Mutex<ArraySlice<(Double, String)>>
        private let time = Mutex(Instant(nanoseconds: 0))

        init(_ lines: (Double, String)...) { self.lines = Mutex(lines[...]) }

        var now: Instant { time.withLock { $0 } }

        func next() async -> InputLine? {
            guard let (seconds, text) = lines.withLock({ $0.popFirst() }) else { return nil }
            time.withLock { $0 = Instant(nanoseconds: 0) + seconds }
            return .text(text)
        }
    }

    @Test("/peers says from the tenth second without anybody on why that may be, in two lines; not without discovery")
    func peersCommand() async throws {
        for more in [[], ["--json"], ["--discovery", "off"]] {
            let (stage, _) = try stage()
            let input = TimedInput((9.9, "/peers"), (10, "/who"), (10, "/peers"))
            // The hint that comes by itself stays away.
            var world = stage.world(sleep: { _ in throw CancellationError() })
            world.input = input
            world.clock = { input.now }
            #expect(await execute(["chat"] + more, in: world) == 0)
            let nobody = "Nobody is there yet."
            if more.isEmpty {
                #expect(stage.outLines == [nobody, nobody] + EmptyListHint.lines)
            } else {
                #expect(!(stage.out + stage.err).contains("peerconnect doctor"), "\(more)")
            }
        }
        var state = ChatState()
        let ada = ListedPeer(peer: try peer("ada", 1), number: 1, isBusy: false, kind: "chat", addresses: [])
        for (second, event) in [(1.0, NodeEvent.peerFound(ada)), (7, .peerLost(ada, reason: "gone"))] {
            state.note(event, at: Instant(nanoseconds: 0) + second)
            #expect(state.listedAt == Instant(nanoseconds: 0) + second)
        }
        state.note(.discovery(backend: "daemon", state: .up, reason: nil), at: Instant(nanoseconds: 0) + 9)
        #expect(state.listedAt == Instant(nanoseconds: 0) + 7)
    }

    @Test("A browse that could not look is no empty network: exit code 6 and the reason", arguments: [false, true])
    func blind(isOff: Bool) async throws {
        let node = ScriptedSession(me: try peer("me", 9), discovery: "off")
        let stage = Stage(home: ScriptedHome(node: node))
        node.emit(.discovery(backend: "daemon", state: .down, reason: "avahi-daemon is not running"))
        await node.stop()  // ends its events, and so the look
        let line = ["browse", "--for", "1"] + (isOff ? ["--discovery", "off"] : [])
        let world = stage.world(sleep: { _ in try await Task.sleep(for: .seconds(600)) })
        #expect(await execute(line, in: world) == 6)
        let reason = isOff ? "discovery is switched off" : "avahi-daemon is not running"
        #expect(stage.err.hasPrefix("Nobody could be looked for, because \(reason).\n"))
        #expect(stage.out.isEmpty)
    }

    @Test("A chat says so after 10 s")
    func chat() async throws {
        let (stage, node) = try stage()
        let (waits, sink) = AsyncStream.makeStream(of: Duration.self)
        let world = stage.world(input: ScriptedInput([.text("/peers")]), sleep: { sink.yield($0) })
        #expect(await execute(["chat"], in: world) == 0)
        sink.finish()
        #expect(await waits.contains(.seconds(10)))
        #expect(node.isStopped)
    }
}
