import PeerModel
import Testing

@testable import PeerDiscovery

@Suite("Names and records on the wire")
struct DNSNameTests {
    @Test("Any instance name goes to Avahi and back as it is", arguments: ["a.b", "a\\b", "\"x\"", "Zoë 🦊", ".a", " "])
    func roundTrip(label: String) {
        #expect(DNSName.instance(FakeBackend.pointer(label)) == label)
        let text = DNSName.text([Array(label.utf8)])
        #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_\\".contains($0)) })
    }

    @Test("Special bytes are escaped as three digits")
    func escapes() {
        #expect(DNSName.text([[0, 46, 92, 255], Array("Local-1_".utf8)]) == "\\000\\046\\092\\255.Local-1_")
    }

    @Test(
        "Bytes that are no name are refused",
        arguments: [
            [], [1], [1, 97], [2, 97, 0], [64] + [UInt8](repeating: 97, count: 64) + [0], [0xC0, 0],
            [3, 255, 255, 255, 0],
        ] as [[UInt8]])
    func refuses(bytes: [UInt8]) { #expect(DNSName.instance(bytes) == nil) }

    @Test("A name of more than 255 bytes is refused")
    func long() {
        let label: [UInt8] = [63] + [UInt8](repeating: 97, count: 63)
        #expect(DNSName.labels(label + label + label + [0]) != nil)
        #expect(DNSName.labels(label + label + label + label + [0]) == nil)
    }

    @Test("Where a service is, is read from its record, and nothing from a shorter or senseless one")
    func service() {
        let bytes: [UInt8] = [0, 0, 0, 0, 0x6A, 0x2E] + FakeBackend.wire(["h one", "local"])
        let record = ServiceRecord(bytes)
        #expect(record?.port == 27182)
        #expect(record?.host == "h\\032one.local")
        for length in 0..<bytes.count { #expect(ServiceRecord(Array(bytes.prefix(length))) == nil) }
        #expect(ServiceRecord([0, 0, 0, 0, 0, 0] + FakeBackend.wire(["h", "local"])) == nil)
    }

    @Test("Of records that follow each other the last one that is there counts, and few are kept")
    func settling() {
        var records = SeenRecords()
        let one = Sighting(1, 0), two = Sighting(2, 0)
        records.add([1], one)
        records.add([1], two)
        records.add([2], one)
        #expect(records.all.last == [2])
        records.remove([2], one)
        #expect(records.all.last == [1])
        records.remove([1], one)
        #expect(records.all.last == [1])
        records.remove([1], two)
        #expect(records.all.last == nil)
        for byte in UInt8(0)..<100 { records.add([byte], one) }
        records.remove([99], one)
        for byte in UInt8(0)..<92 { records.remove([byte], one) }
        #expect(records.all.last == [98])
    }
}
