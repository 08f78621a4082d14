internal import PeerConnect
internal import PeerModel
internal import PeerSystem

/// Whether peers can be found, and find this one.
extension DoctorCheck {
    static func bus(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "dbus", mend = DoctorMend(facts)
        let problem: String
        switch facts.bus {
        case .answers: return .pass(name, "D-Bus can be reached.")
        case .missing(let path): problem = "D-Bus is not running, there is no \(path)"
        case .refuses(let reason): problem = "D-Bus cannot be reached: \(reason)"
        }
        let command = facts.isBusInstalled ? mend.start("dbus") : mend.install("dbus")
        if facts.mayEmbed { return substitute(name, problem, facts, mend: command) }
        return .fail(name, problem + ", so avahi-daemon cannot be asked.", mend: command)
    }

    static func daemon(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "avahi-daemon", mend = DoctorMend(facts)
        let isMuted = facts.isDaemonInstalled && isSet("enable-dbus", to: "no", facts)
        let problem: String
        var command: String?
        switch facts.daemon {
        case .running(let version): return running(name, version, facts)
        case .absent where facts.bus != .answers, .unreachable where facts.bus != .answers:
            problem =
                facts.isDaemonInstalled ? "avahi-daemon cannot be asked without D-Bus" : "avahi-daemon is not installed"
            command = facts.isDaemonInstalled ? nil : mend.install("avahi-daemon")
        case .absent where isMuted, .unreachable where isMuted:
            problem = "avahi-daemon is told not to answer on D-Bus"
            command = mend.configure("enable-dbus", "yes")
        case .absent:
            problem = "avahi-daemon is not \(facts.isDaemonInstalled ? "running" : "installed")"
            command = facts.isDaemonInstalled ? mend.start("avahi-daemon") : mend.install("avahi-daemon")
        case .unreachable(let reason): problem = "avahi-daemon cannot be asked: \(reason)"
        case .silent:
            // Then it is there, and nothing takes its place.
            let sentence = "avahi-daemon, or D-Bus before it, does not answer."
            guard facts.discovery != .embedded else { return .warn(name, sentence) }
            return .fail(name, sentence, mend: mend.restart("avahi-daemon"))
        }
        if facts.mayEmbed { return substitute(name, problem, facts, mend: command) }
        return .fail(name, problem + ".", mend: command)
    }

    /// Where the responder inside this program takes over; nothing to mend in a container, which is what it is for.
    private static func substitute(
        _ name: String, _ problem: String, _ facts: DoctorFacts, mend: String?
    ) -> DoctorCheck {
        if facts.container != nil || facts.discovery == .embedded {
            return .pass(name, problem + "; this program does without.")
        }
        return .warn(
            name, problem + "; this program does without, but then each program looks for peers by itself.", mend: mend)
    }

    /// The daemon may be told to leave the interfaces alone on which peers are.
    private static func running(_ name: String, _ version: String, _ facts: DoctorFacts) -> DoctorCheck {
        let allowed = list("allow-interfaces", facts), denied = list("deny-interfaces", facts)
        let ignored = facts.usable.map(\.name).filter { interface in
            denied.contains(interface) || (!allowed.isEmpty && !allowed.contains(interface))
        }
        guard !ignored.isEmpty else {
            return .pass(name, "avahi-daemon is running, version \(number(in: version)).")
        }
        let sentence =
            "avahi-daemon is told not to use \(Amount.list(ignored)): see allow-interfaces and deny-interfaces in "
            + "\(DoctorFacts.daemonConfiguration)."
        return ignored.count == facts.usable.count ? .fail(name, sentence) : .warn(name, sentence)
    }

    private static func list(_ key: String, _ facts: DoctorFacts) -> [String] {
        (facts.daemonSettings[key] ?? "").split(separator: ",").map(String.init)
    }

    /// `0.8` of `avahi 0.8`.
    private static func number(in version: String) -> String {
        version.split(separator: " ").last.map(String.init) ?? version
    }

    private static func isSet(_ key: String, to value: String, _ facts: DoctorFacts) -> Bool {
        facts.daemonSettings[key]?.lowercased() == value
    }

    static func publishing(_ trial: Diagnosis.Trial, _ facts: DoctorFacts) -> DoctorCheck {
        let name = "publishing", mend = DoctorMend(facts)
        if facts.usable.isEmpty { return .warn(name, "Without a network nobody can be told that this peer is there.") }
        if trial.isPublished { return .pass(name, "The network can be told that this peer is there.") }
        if facts.isDaemonRunning {
            for key in ["disable-publishing", "disable-user-service-publishing"] where isSet(key, to: "yes", facts) {
                return .fail(
                    name, "avahi-daemon is told by \(key)=yes not to publish, so nobody sees this peer.",
                    mend: mend.configure(key, "no"))
            }
        }
        guard let problem = trial.problem else {
            return .fail(name, "The network could not be told within 5 seconds that this peer is there.")
        }
        return .fail(name, "The network cannot be told that this peer is there: \(problem).")
    }

    static func backend(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "backend", mend = DoctorMend(facts)
        guard let trial = facts.trial else {
            return .warn(name, "Discovery is switched off: peers are reached by their address only.")
        }
        switch trial.backend {
        case "daemon"?: return .pass(name, "Peers are found by avahi-daemon.")
        case "embedded"?: return .pass(name, "Peers are found by the responder inside this program.")
        default: break
        }
        if facts.discovery == .embedded || facts.discovery == .auto, !facts.hasEmbedded {
            let start = facts.discovery == .auto ? "avahi-daemon does not serve and " : ""
            return .fail(
                name, "Nothing can look for peers: \(start)the library libavahi-core7 is not installed.",
                mend: mend.install("libavahi-core7"))
        }
        let reason = trial.problem.map { ": " + $0 } ?? ""
        // A daemon that is stuck is waited for, so `auto` does not help then.
        let other = facts.daemon == .silent ? "embedded" : facts.discovery == .daemon ? "auto" : nil
        let instead =
            facts.hasEmbedded && facts.discovery != .embedded ? other.map { "peerconnect --discovery \($0)" } : nil
        return .fail(name, "Nothing can look for peers\(reason).", mend: instead)
    }

    static func advert(_ trial: Diagnosis.Trial, _ facts: DoctorFacts) -> DoctorCheck {
        let name = "advert"
        // What is seen then is seen inside this machine.
        guard !facts.usable.isEmpty else { return .warn(name, "Others do not see this peer without a network.") }
        guard trial.isPublished else { return .fail(name, "Nobody can see this peer, because nothing was published.") }
        guard trial.isSeen else {
            let isHeard = facts.multicast.contains { $0.outcome == .heard }
            let outgoing = multicastPackets(facts).filter { !$0.isIncoming }
            let isStopped =
                facts.multicast.contains { if case .failed = $0.outcome { true } else { false } }
                || !droppers(of: outgoing, facts).isEmpty
            if !isHeard, isStopped { return .fail(name, "Others do not see this peer: UDP port 5353 does not work.") }
            if !isHeard, !facts.multicast.isEmpty {
                // What is sent may well arrive.
                return .warn(
                    name, "This machine hears nobody, see above, so it cannot be told whether others see this peer.")
            }
            return .fail(name, "Others do not see this peer: its advert does not come back from the network.")
        }
        let isWhole = trial.watcher == "embedded"
        return .pass(name, isWhole ? "This peer is visible on the network." : "avahi-daemon shows this peer.")
    }

    static func peers(_ trial: Diagnosis.Trial, _ facts: DoctorFacts) -> DoctorCheck {
        let name = "peers"
        // What is seen then is inside this machine, or on interfaces that were not asked for.
        if facts.usable.isEmpty { return .warn(name, "Other peers cannot be seen without a network.") }
        // A chat that runs here under an own identity proves nothing about the network.
        switch trial.others.subtracting(facts.identities).count {
        case 0:
            return .warn(
                name,
                "No other peer is seen. If one is running, run peerconnect doctor there too; a guest Wi-Fi may also "
                    + "keep its devices apart.")
        case 1: return .pass(name, "One other peer is visible.")
        case let count: return .pass(name, "\(count) other peers are visible.")
        }
    }
}
