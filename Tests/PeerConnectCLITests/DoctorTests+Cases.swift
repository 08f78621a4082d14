import PeerModel
import PeerSystem

@testable import PeerConnect
@testable import PeerConnectCLI

/// One fault each.
extension DoctorTests {
    static let network: [Case] = [
        Case("interfaces", .fail, "There is no interface eth9, this machine has eth0, eth1 and lo.", nil) {
            ($0.wantedInterfaces, $0.interfacesDown) = (["eth9"], ["eth1"])
        },
        Case("interfaces", .fail, "eth1 is switched off", "sudo ip link set eth1 up") {
            ($0.wantedInterfaces, $0.interfacesDown) = (["eth1"], ["eth1"])
        },
        Case("interfaces", .fail, "this machine has none but its own", nil) { $0.interfaces = [network("lo")] },
        Case("interfaces", .fail, "this machine has none but its own", "podman run --network host …") {
            ($0.interfaces, $0.container) = ([network("lo")], .podman)
        },
        Case("interfaces", .fail, "There is no network: wlan0 is switched off", "ip link set wlan0 up") {
            ($0.interfaces, $0.interfacesDown, $0.isRoot) = ([network("lo")], ["docker0", "wlan0"], true)
        },
        Case("interfaces", .fail, "eth0 has no cable or no Wi-Fi", nil) {
            $0.interfaces = [network("lo"), network("eth0") { $0.isRunning = false }]
        },
        Case("interfaces", .fail, "eth0 has no address", nil) {
            $0.interfaces = [network("eth0") { $0.addresses = [] }]
        },
        Case("interfaces", .fail, "only a VPN or the like", nil) { $0.interfaces = [network("tun0")] },
        Case("vpn", .fail, "Only a VPN or the like is up (tun0)", nil) { $0.interfaces = [network("tun0")] },
        Case("publishing", .warn, "Without a network", nil) { $0.interfaces = [network("lo")] },
        Case("advert", .warn, "do not see this peer without a network", nil) { $0.interfaces = [network("lo")] },
        Case("peers", .warn, "seen without a network", nil) {
            $0.interfaces = [network("lo")]
            $0.trial?.others = []
        },
        Case("peers", .warn, "Other peers cannot be seen without a network.", nil) { $0.wantedInterfaces = ["eth7"] },
        Case("settings", .fail, "/c/config.json5, line 3: a comma is missing; other commands do not start", nil) {
            $0.settingsProblem = SettingsFile.broken("/c/config.json5", 3, "a comma is missing")
        },
        Case("vpn", .warn, "A VPN is up (tun0)", nil) { $0.interfaces.append(network("tun0")) },
        Case("container", .warn, "a container with a network of its own", "docker run --network host …") {
            ($0.container, $0.hasRealDevice) = (.docker, false)
        },
        Case("container", .pass, "with the network of its host", nil) { $0.container = .podman },
        Case("udp", .fail, "UDP port 5353 is blocked on eth0", nil) {
            $0.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .silent)]
        },
        Case("udp", .fail, "UDP port 5353 is blocked on eth0", "sudo ufw allow 5353/udp") {
            $0.firewallTool = .ufw
            $0.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .silent)]
        },
        Case("udp", .pass, "works on eth0", nil) {
            $0.multicast.append(.init(interface: "eth0", isIPv6: true, outcome: .silent))
        },
        Case("udp", .fail, "it is held by dnsmasq", "ss -ulpn 'sport = :5353'") {
            $0.responders = [.init(program: "dnsmasq", user: "root")]
            let error = SystemError(call: "bind", code: 98)
            $0.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .failed(error))]
        },
        Case("udp", .fail, "Nothing can be sent to UDP port 5353 on eth0: operation not permitted", nil) {
            let error = SystemError(call: "sendto", code: 1)
            $0.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .failed(error))]
        },
        Case("udp", .warn, "could not be tried in time", nil) { $0.multicast = [] },
        Case("responders", .warn, "systemd-resolved answers", "sudo resolvectl mdns eth0 no") {
            $0.responders.append(.init(program: nil, user: "systemd-resolve"))
        },
        Case("responders", .warn, "also used by mdnsd (of root)", nil) {
            $0.responders.append(.init(program: "mdnsd", user: "root"))
        },
        Case("responders", .pass, "No other", nil) { $0.responders = [.init(program: nil, user: "root")] },
        Case("responders", .warn, "by a program of root", "sudo ss -ulpn 'sport = :5353'") {
            $0.responders.append(.init(program: nil, user: "root"))
        },
        Case("responders", .pass, "No other", nil) { $0.responders.append(.init(program: "chrome", user: "ada")) },
        Case("tcp", .fail, "TCP port 80 cannot be listened on: permission denied.", nil) {
            $0.port = .init(bound: nil, problem: "permission denied", wanted: 80, tried: 0)
        },
        Case("tcp", .fail, "it is held by nginx (of root)", "peerconnect --port 0") {
            $0.port = .init(bound: nil, problem: "address already in use", holder: "nginx (of root)", wanted: 80)
        },
        Case("tcp", .fail, "not even from this machine at 10.0.0.7", "sudo ufw allow 27182:27199/tcp") {
            $0.firewallTool = .ufw
            $0.port.unreachable = ["10.0.0.7"]
        },
        Case("tcp", .pass, "27183 is free; 27182 is taken by peerconnect (of ada)", nil) {
            ($0.port.bound, $0.port.holder) = (27183, "peerconnect (of ada)")
        },
        Case("tcp", .pass, "PeerConnect runs already and listens on TCP port 27182; 27183 is free", nil) {
            ($0.port.bound, $0.port.holder, $0.port.running) = (27183, "peerconnect (of ada)", [27182])
        },
        Case("tcp", .pass, "A peerconnect that runs listens on TCP port 4000", nil) {
            $0.port = .init(bound: nil, holder: "peerconnect (of ada)", wanted: 4000, running: [4000])
        },
        Case("tcp", .fail, "TCP port 27182 cannot be reached, not even from this machine", nil) {
            ($0.port.bound, $0.port.running, $0.port.unreachable) = (27183, [27182], ["10.0.0.7"])
        },
        Case("tcp", .warn, "TCP port 40000 would be used", nil) { $0.port.bound = 40000 },
        Case("firewall", .warn, "Only root may read", "sudo peerconnect doctor") { $0.firewall = .forbidden },
        Case(
            "firewall", .warn, "firewalld is on",
            "sudo firewall-cmd --permanent --add-port=27182-27199/tcp && sudo firewall-cmd --reload"
        ) { $0.firewallTool = .firewalld },
    ]

    static let discovery: [Case] = [
        Case("dbus", .warn, "D-Bus is not running, there is no /run/bus", "sudo systemctl start dbus") {
            $0.bus = .missing("/run/bus")
        },
        Case("dbus", .fail, "so avahi-daemon cannot be asked", "service dbus start") {
            ($0.bus, $0.hasEmbedded, $0.hasSystemd, $0.isRoot) = (.missing("/run/bus"), false, false, true)
        },
        Case("dbus", .fail, "permission denied", "sudo apt-get install dbus") {
            ($0.bus, $0.discovery, $0.isBusInstalled) = (.refuses("permission denied"), .daemon, false)
        },
        Case("dbus", .pass, "this program does without", nil) {
            ($0.bus, $0.container) = (.missing("/run/bus"), .docker)
        },
        Case("avahi-daemon", .warn, "is not running", "sudo systemctl start avahi-daemon") { $0.daemon = .absent },
        Case("avahi-daemon", .warn, "is not running", "sudo service avahi-daemon start") {
            ($0.daemon, $0.hasSystemd) = (.absent, false)
        },
        Case("avahi-daemon", .warn, "is not running", "avahi-daemon --daemonize") {
            ($0.daemon, $0.hasSystemd, $0.services, $0.isRoot) = (.absent, false, [], true)
        },
        Case("avahi-daemon", .fail, "is not running", "sudo systemctl start avahi-daemon") {
            ($0.daemon, $0.discovery) = (.absent, .daemon)
        },
        Case("avahi-daemon", .warn, "is not installed", "sudo apt-get install avahi-daemon") {
            ($0.daemon, $0.isDaemonInstalled) = (.absent, false)
        },
        Case("avahi-daemon", .warn, "is not installed", nil) {
            ($0.daemon, $0.isDaemonInstalled, $0.hasApt) = (.absent, false, false)
        },
        Case(
            "avahi-daemon", .warn, "told not to answer on D-Bus",
            "sudo sed -i 's/^ *enable-dbus *=.*/enable-dbus=yes/' /etc/avahi/avahi-daemon.conf"
                + " && sudo systemctl restart avahi-daemon"
        ) { ($0.daemon, $0.daemonSettings) = (.absent, ["enable-dbus": "no"]) },
        Case("avahi-daemon", .warn, "cannot be asked: access denied", nil) {
            $0.daemon = .unreachable(reason: "access denied")
        },
        Case("avahi-daemon", .fail, "does not answer", "sudo systemctl restart avahi-daemon") { $0.daemon = .silent },
        Case("avahi-daemon", .warn, "does not answer", nil) { ($0.daemon, $0.discovery) = (.silent, .embedded) },
        Case("backend", .fail, "does not answer", "peerconnect --discovery embedded") {
            $0.daemon = .silent
            $0.trial?.backend = nil
            $0.trial?.problem = "avahi-daemon does not answer"
        },
        Case("avahi-daemon", .fail, "told not to use eth0", nil) { $0.daemonSettings = ["deny-interfaces": "eth0"] },
        Case("avahi-daemon", .fail, "told not to use eth0", nil) { $0.daemonSettings = ["allow-interfaces": "wlan0"] },
        Case("avahi-daemon", .pass, "version 0.8", nil) { $0.daemonSettings = ["allow-interfaces": "eth0,wlan0"] },
        Case(
            "publishing", .fail, "told by disable-user-service-publishing=yes",
            "sed -i 's/^ *disable-user-service-publishing *=.*/disable-user-service-publishing=no/'"
                + " /etc/avahi/avahi-daemon.conf && systemctl restart avahi-daemon"
        ) {
            ($0.isRoot, $0.daemonSettings) = (true, ["disable-user-service-publishing": "yes"])
            $0.trial?.isPublished = false
        },
        Case("publishing", .fail, "is there: not permitted.", nil) {
            $0.trial?.isPublished = false
            $0.trial?.problem = "not permitted"
        },
        Case("publishing", .fail, "within 5 seconds", nil) { $0.trial?.isPublished = false },
        Case("backend", .pass, "inside this program", nil) { $0.trial?.backend = "embedded" },
        Case("backend", .fail, "libavahi-core7 is not installed", "sudo apt-get install libavahi-core7") {
            ($0.hasEmbedded, $0.daemon) = (false, .absent)
            $0.trial?.backend = nil
        },
        Case("backend", .fail, "avahi-daemon is not running", "peerconnect --discovery auto") {
            $0.discovery = .daemon
            $0.trial?.backend = nil
            $0.trial?.problem = "avahi-daemon is not running"
        },
        Case("backend", .warn, "by their address only", nil) { ($0.discovery, $0.trial) = (.off, nil) },
        Case("advert", .fail, "nothing was published", nil) { $0.trial?.isPublished = false },
        Case("advert", .fail, "does not come back from the network", nil) { $0.trial?.isSeen = false },
        Case("advert", .warn, "hears nobody, see above, so it cannot be told whether others see this peer", nil) {
            $0.trial?.isSeen = false
            $0.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .silent)]
        },
        Case("advert", .fail, "Others do not see this peer: UDP port 5353 does not work", nil) {
            $0.trial?.isSeen = false
            let error = SystemError(call: "sendto", code: 1)
            $0.multicast = [.init(interface: "eth0", isIPv6: false, outcome: .failed(error))]
        },
        Case("advert", .pass, "avahi-daemon shows this peer", nil) { $0.trial?.watcher = "daemon" },
        Case("peers", .warn, "run peerconnect doctor there too", nil) { $0.trial?.others = [] },
        Case("peers", .warn, "No other peer is seen", nil) { $0.identities = [id(1), id(2)] },
        Case("peers", .pass, "One other peer is visible", nil) { $0.trial?.others = [id(1)] },
    ]

    static let storage: [Case] = [
        Case("data", .fail, "not yours alone", "chmod -R go= '/d/i'") {
            $0.identityProblem = PeerConnectError(
                .cannotStart, "/d/i holds a private key, but it is not yours alone.",
                hint: "Make it private with: chmod -R go= '/d/i'. If others could read it, better make a new identity.")
        },
        Case("data", .fail, "belongs to another user", "sudo chown -R 1000 '/d/i'") {
            $0.identityProblem = PeerConnectError(
                .cannotStart, "/d/i holds a private key and belongs to another user.",
                hint: "Take it over with: sudo chown -R 1000 '/d/i'. Or run this as that user.")
        },
        Case("data", .fail, "is damaged", nil) {
            $0.identityProblem = PeerConnectError(.cannotStart, "x is damaged.", hint: "Put back a copy of it.")
        },
        Case("data", .fail, "/data, cannot be made in /it's.", "ls -ld '/it'\\''s'") {
            ($0.data.isWritable, $0.data.existing) = (false, "/it's")
        },
        Case("identity", .pass, "The first chat makes an identity", nil) { $0.identities = [] },
        Case("identity", .warn, "lost with this container", "podman run --volume peerconnect:'/data' …") {
            ($0.container, $0.data.mount) = (.podman, Mount(place: "/", type: "overlay"))
        },
        Case("identity", .pass, "on a volume, /data", nil) {
            ($0.container, $0.data.mount) = (.docker, Mount(place: "/data", type: "ext4"))
        },
        Case("downloads", .fail, "/downloads cannot be written", "peerconnect chat --into DIR") {
            $0.downloads.isWritable = false
        },
        Case("downloads", .fail, "/downloads has 67.1 MB left", "df -h '/downloads'") {
            $0.downloads.free = Limits.reservedSpace
        },
        Case("cache", .warn, "/cache has 500 MB left", "df -h '/cache'") { $0.cache.free = 500_000_000 },
        Case("cache", .warn, "It cannot be told", nil) { $0.cache.free = nil },
        Case("clock", .warn, "The clock is wrong, it says 1970-01-01", "sudo timedatectl set-ntp true") { $0.now = 0 },
    ]
}
