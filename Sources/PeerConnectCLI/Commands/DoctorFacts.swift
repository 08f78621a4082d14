internal import PeerConnect
internal import PeerModel
internal import PeerSystem

/// Everything the checks of `doctor` look at, gathered before any of them judges.
///
/// As it stands here it is a machine on which everything is well.
struct DoctorFacts: Sendable {
    enum Bus: Equatable, Sendable {
        case answers
        /// There is no socket at this path.
        case missing(String)
        case refuses(String)
    }

    /// One attempt to hear an own multicast packet.
    struct Multicast: Equatable, Sendable {
        let interface: String
        let isIPv6: Bool
        let outcome: MulticastTrial.Outcome
    }

    /// Something that has UDP port 5353.
    struct Responder: Equatable, Sendable {
        /// The program, if that could be found out.
        let program: String?
        /// The login it runs under, or its number.
        let user: String
    }

    struct Port: Equatable, Sendable {
        /// The one a chat would listen on now; `nil` when it could not.
        var bound: UInt16? = Limits.defaultPort
        var problem: String?
        /// Who has the port that was wanted, when it is not free.
        var holder: String?
        var wanted: UInt16? = Limits.defaultPort
        /// Own addresses at which a connection was tried, and those where it failed.
        var tried = 1
        var unreachable: [String] = []
        /// Whether none was asked for.
        var isAutomatic = true
        /// Those on which a peerconnect listens that runs already; a connection is tried to the first.
        var running: [UInt16] = []

        /// Those that peers have to reach: of what runs, or else of the next run.
        var judged: [UInt16] {
            let next = bound ?? wanted ?? Limits.defaultPort
            return running + (running.isEmpty || (!isAutomatic && !running.contains(next)) ? [next] : [])
        }
    }

    enum Firewall: Sendable {
        case rules(DoctorFirewall)
        /// Only the superuser may read them.
        case forbidden
        /// The tool to read them is not there, or does not answer.
        case unknown
    }

    enum FirewallTool: Equatable, Sendable {
        case ufw, firewalld
    }

    enum Container: String, Equatable, Sendable {
        case docker, podman
        case other = "container"
    }

    struct Place: Equatable, Sendable {
        var path: String
        /// The nearest folder that is there already.
        var existing: String
        var isWritable = true
        /// `nil` when it cannot be told.
        var free: UInt64? = 1 << 40
        var mount: Mount?
    }

    // What was asked for.
    var discovery = NodeSettings.Discovery.auto
    var wantedInterfaces: [String] = []
    /// Why the settings' file cannot be used.
    var settingsProblem: PeerConnectError?

    // The machine.
    var isRoot = false
    var hasSystemd = true
    /// Without it: what can be started by service(8).
    var services: Set<String> = ["dbus", "avahi-daemon"]
    var hasApt = true
    var container: Container?
    /// Whether a container has the network of its host.
    var hasRealDevice = true
    var isBusInstalled = true
    var isDaemonInstalled = true
    /// Milliseconds since 1970.
    var now: Int64 = 1_800_000_000_000

    // Discovery.
    var bus = Bus.answers
    var daemon = Diagnosis.Daemon.running(version: "avahi 0.8")
    /// Of avahi-daemon.conf(5): keys without their sections.
    var daemonSettings: [String: String] = [:]
    var hasEmbedded = true
    /// `nil` when discovery is off.
    var trial: Diagnosis.Trial?
    var multicast: [Multicast] = []
    var responders: [Responder] = []

    // The network.
    var interfaces: [NetworkInterface] = []
    /// Those that are switched off.
    var interfacesDown: [String] = []
    var port = Port()
    var firewall = Firewall.unknown
    var firewallTool: FirewallTool?

    // Folders.
    /// Why the stored identities cannot be used.
    var identityProblem: PeerConnectError?
    var identities: Set<PeerID> = []
    var data = Place(path: "/data", existing: "/data")
    var downloads = Place(path: "/downloads", existing: "/downloads")
    var cache = Place(path: "/cache", existing: "/cache")

    /// Those on which peers can be found: up, with a carrier, an address, and multicast.
    var usable: [NetworkInterface] {
        interfaces.filter { interface in
            !interface.isLoopback && !interface.isPointToPoint && interface.isMulticast && interface.isRunning
                && !interface.addresses.isEmpty
                && (wantedInterfaces.isEmpty || wantedInterfaces.contains(interface.name))
        }
    }

    /// VPNs and the like, where multicast does not go.
    var links: [NetworkInterface] {
        interfaces.filter { $0.isPointToPoint && !$0.isLoopback && !$0.addresses.isEmpty }
    }

    /// Whether discovery inside this program takes the daemon's place.
    var mayEmbed: Bool { hasEmbedded && (discovery == .auto || discovery == .embedded) }

    var isDaemonRunning: Bool { if case .running = daemon { true } else { false } }
}
