import PeerModel
import Testing

@Suite struct TypedAddressTests {
    private static let linkLocal: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    private static func v6(_ head: [UInt8], _ tail: [UInt8]) -> [UInt8] {
        head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    @Test(
        "Addresses and names are read with and without a port",
        arguments: [
            ("10.0.0.7", .ip(.v4([10, 0, 0, 7])), nil), ("10.0.0.7:27182", .ip(.v4([10, 0, 0, 7])), 27182),
            ("0.0.0.0:1", .ip(.v4([0, 0, 0, 0])), 1), ("255.255.255.255", .ip(.v4([255, 255, 255, 255])), nil),
            ("fe80::1%eth0", .ip(.v6(linkLocal, scope: "eth0")), nil),
            ("[fe80::1%eth0]:27182", .ip(.v6(linkLocal, scope: "eth0")), 27182),
            ("[fe80::1%eth0.5]", .ip(.v6(linkLocal, scope: "eth0.5")), nil),
            ("::", .ip(.v6(v6([], []), scope: nil)), nil),
            ("::1", .ip(.v6(v6([], [1]), scope: nil)), nil), ("[::1]:65535", .ip(.v6(v6([], [1]), scope: nil)), 65535),
            ("FD00::", .ip(.v6(v6([0xFD], []), scope: nil)), nil),
            ("1:2:3:4:5:6:7:8", .ip(.v6([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8], scope: nil)), nil),
            ("::ffff:10.0.0.7", .ip(.v6(v6([], [0xFF, 0xFF, 10, 0, 0, 7]), scope: nil)), nil),
            ("host", .name("host"), nil), ("host.local:80", .name("host.local"), 80),
            ("3com.example", .name("3com.example"), nil), ("my_host", .name("my_host"), nil),
            ("xn--bcher-kva.example", .name("xn--bcher-kva.example"), nil),
        ] as [(String, TypedAddress.Host, UInt16?)])
    func reads(text: String, host: TypedAddress.Host, port: UInt16?) throws {
        let address = try #require(TypedAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test(
        "What is neither an address nor a name is refused",
        arguments: [
            "", ":", ":80", "host:", "host:0", "host:65536", "host:+1", "host:8 0", "host:80:90", "a b", "höst",
            "-host", "host-", "a..b", ".a", "10.0.0.256", "10.7", "1.2.3.4.5", "10.0.0.07", "10.0.0.", "10.0.0.-1",
            "[::1", "[::1]80", "[::1]:", "[::1]:0", "[]", "[10.0.0.7]", "[host]:80", "::1]", ":::", "1::2::3",
            "::12345",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5", "::g",
            "::+1", "::１", "fe80::1%", "fe80::1%a/b", "fe80::1%0123456789abcdef", "\u{1B}[31m",
            String(repeating: "a", count: 64), String(repeating: "a.", count: 127),
        ])
    func refuses(text: String) { #expect(TypedAddress(text) == nil) }

    @Test("An address that is shown can be typed again", arguments: ["10.0.0.7:1", "[fe80::1%eth0]:27182", "[1::]:5"])
    func roundTrip(text: String) throws {
        let address = try #require(TypedAddress(text))
        guard case .ip(let ip) = address.host, let port = address.port else {
            Issue.record("no address with a port")
            return
        }
        #expect(PeerAddress(ip, port: port).description == text)
    }
}
