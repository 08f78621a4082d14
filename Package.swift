// swift-tools-version: 6.2
import PackageDescription

// One list for every Swift target, so that no target is laxer than another.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]
// Opt in, because packages that depend on this one are built with -suppress-warnings, which conflicts.
let settings = strict + (Context.environment["PEERCONNECT_WERROR"] == nil ? [] : [.treatAllWarnings(as: .error)])

func module(_ name: String, _ dependencies: String...) -> Target {
    .target(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: String...) -> Target {
    .testTarget(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: settings)
}

let package = Package(
    name: "PeerConnect",
    products: [
        .library(name: "PeerConnect", targets: ["PeerConnect"]),
        .executable(name: "peerconnect", targets: ["peerconnect"]),
    ],
    targets: [
        // C libraries, all from Debian. No pkgConfig for Avahi: it asks for -D_REENTRANT, which SwiftPM refuses.
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev", "libavahi-core-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CSystem"),
        .target(name: "CTerminal"),
        // Pure: no system module, no clock, no socket.
        module("PeerModel"),
        .target(name: "PeerWire", dependencies: ["PeerModel"], exclude: ["WIRE.md"], swiftSettings: settings),
        module("PeerProtocol", "PeerModel", "PeerWire"),
        // One module per outside world; they do not know each other.
        module("PeerSystem", "CSystem", "PeerModel"),
        module("PeerTLS", "COpenSSL", "PeerModel"),
        module("PeerDiscovery", "CAvahi", "PeerModel"),
        module("PeerStore", "CSQLite", "PeerModel"),
        module("PeerTerminal", "CTerminal", "PeerModel"),
        // Where they meet.
        module("PeerLink", "PeerModel", "PeerWire", "PeerProtocol", "PeerSystem", "PeerTLS", "PeerDiscovery"),
        module(
            "PeerConnect", "PeerModel", "PeerProtocol", "PeerSystem", "PeerTLS", "PeerDiscovery", "PeerStore",
            "PeerLink"),
        module("PeerConnectCLI", "PeerModel", "PeerSystem", "PeerStore", "PeerTerminal", "PeerConnect"),
        .executableTarget(name: "peerconnect", dependencies: ["PeerConnectCLI"], swiftSettings: settings),
        // What the tests of several modules share.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        tests("PeerModelTests", "PeerModel"),
        tests("PeerWireTests", "PeerModel", "PeerWire", "TestSupport"),
        tests("PeerProtocolTests", "PeerModel", "PeerWire", "PeerProtocol", "PeerTLS", "TestSupport"),
        tests("PeerSystemTests", "PeerModel", "PeerSystem"),
        tests("PeerTLSTests", "COpenSSL", "PeerModel", "PeerTLS"),
        tests("PeerDiscoveryTests", "CAvahi", "PeerModel", "PeerDiscovery"),
        tests("PeerStoreTests", "CSQLite", "PeerModel", "PeerStore", "TestSupport"),
        tests("PeerTerminalTests", "PeerModel", "PeerTerminal", "TerminalProbe", "TestSupport"),
        // A program for the tests of PeerTerminal to end in every way, inside a terminal of theirs.
        .executableTarget(
            name: "TerminalProbe", dependencies: ["PeerModel", "PeerTerminal"], path: "Tests/TerminalProbe",
            swiftSettings: settings),
        tests(
            "PeerLinkTests", "PeerModel", "PeerWire", "PeerProtocol", "PeerSystem", "PeerTLS", "PeerLink", "TestSupport"
        ),
        tests("PeerConnectTests", "CSQLite", "PeerModel", "PeerStore", "PeerConnect"),
        tests(
            "PeerConnectCLITests", "CSQLite", "PeerModel", "PeerSystem", "PeerStore", "PeerTerminal", "PeerConnect",
            "PeerConnectCLI"),
        // The built program on several real hosts, see Tests/LabTests/lan.
        .testTarget(
            name: "LabTests", dependencies: ["CSQLite", "peerconnect"], exclude: ["lan"], swiftSettings: settings),
    ]
)
