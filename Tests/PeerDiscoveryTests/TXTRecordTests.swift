import PeerModel
import Testing

@testable import PeerDiscovery

/// An advert of the peer whose ID is full of `number`.
func advert(
    _ number: UInt8, name: String = "Ada", isBusy: Bool = false, run: String = "abcd2345", port: UInt16 = 0
) throws -> Advert {
    let digest = try #require(Digest([UInt8](repeating: number, count: 32)))
    return Advert(
        id: PeerID(digest), name: name, versions: 1...2, isBusy: isBusy, kind: .inbox, run: run, revision: 3,
        port: port)
}

@Suite("TXT records")
struct TXTRecordTests {
    func strings(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    func own(without key: String = "", name: String = "Ada") throws -> [String] {
        TXTRecord.strings(of: try advert(1, name: name)).filter { key.isEmpty || !$0.hasPrefix(key + "=") }
    }

    func read(_ texts: [String]) -> Advert? { TXTRecord.advert(from: strings(texts)) }

    @Test(
        "A record is read back as it was written",
        arguments: ["Ada", "a=b", "Zoë 🦊", String(repeating: "é", count: 31)])
    func roundTrip(name: String) throws {
        for isBusy in [false, true] {
            let written = try advert(1, name: name, isBusy: isBusy)
            let texts = TXTRecord.strings(of: written)
            let wire = texts.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            #expect(wire.count <= 400)
            #expect(TXTRecord.advert(from: try #require(TXTRecord.split(wire))) == written)
        }
    }

    @Test("The longest values there can be fit in their strings and in the record, and are read back")
    func longest() throws {
        let written = Advert(
            id: try advert(255).id, name: String(repeating: "é", count: 31) + "x", versions: 1...Int.max, isBusy: true,
            kind: .inbox, run: "zzzzzzzz", revision: Int.max, port: 0)
        let strings = TXTRecord.strings(of: written)
        #expect(strings.allSatisfy { $0.utf8.count <= 255 })
        #expect(strings.reduce(0) { $0 + $1.utf8.count + 1 } <= 400)
        #expect(read(strings) == written)
    }

    @Test("A record without a key that must be there is none", arguments: ["txtvers", "id", "name", "pv", "run"])
    func missing(key: String) throws { #expect(read(try own(without: key)) == nil) }

    @Test("A record without state and kind is that of an idle chat")
    func defaults() throws {
        let texts = try own(without: "st").filter { !$0.hasPrefix("kind=") }
        let found = try #require(read(texts))
        #expect(!found.isBusy)
        #expect(found.kind == .chat)
    }

    @Test("The first of a repeated key counts, in whatever case it is written")
    func duplicates() throws {
        #expect(read(try own() + ["name=Eve", "NAME=Eve"])?.name == "Ada")
        #expect(read(["NAME=Eve"] + (try own()))?.name == "Eve")
    }

    @Test("Unknown keys and strings without a value are skipped")
    func unknown() throws { #expect(read(["new=1", "flag", ""] + (try own())) == (try advert(1))) }

    @Test("A string that is not UTF-8 is skipped")
    func badText() throws {
        let bad = Array("name=".utf8) + [0xFF, 0xC0]
        #expect(TXTRecord.advert(from: [bad] + strings(try own())) == (try advert(1)))
        #expect(TXTRecord.advert(from: [bad] + strings(try own(without: "name"))) == nil)
    }

    @Test("A name that no peer may have is refused", arguments: ["", " ", "a\u{1B}[31m", "a\nb", "a\u{0}", "\u{9B}x"])
    func badNames(name: String) throws { #expect(read(try own(without: "name") + ["name=" + name]) == nil) }

    @Test("A name may have 63 bytes and not one more")
    func nameLength() throws {
        #expect(read(try own(name: String(repeating: "a", count: 63))) != nil)
        #expect(read(try own(name: String(repeating: "a", count: 64))) == nil)
    }

    @Test(
        "Values that cannot be meant are refused",
        arguments: [
            "txtvers=2", "id=abc", "pv=1", "pv=2-1", "pv=0-1", "pv=1-2-3", "pv=-1-1", "pv=1-99999999999999999999",
            "st=away", "kind=printer", "run=abcd2345", "run=abcd234-1", "run=abcd2345--1", "run=ABCD234!-1",
        ])
    func badValues(text: String) throws {
        let key = String(text.prefix { $0 != "=" })
        #expect(read(try own(without: key) + [text]) == nil)
    }

    @Test("A record of more than 400 bytes is refused")
    func totalLength() throws {
        let used = try own().reduce(0) { $0 + $1.utf8.count + 1 }
        let room = 400 - used
        let first = min(room, 200), second = room - first
        let filling = [first, second].filter { $0 > 0 }.map { "x=" + String(repeating: "y", count: $0 - 3) }
        #expect(read(try own() + filling) != nil)
        #expect(read(try own() + filling + [""]) == nil)
    }

    @Test("Lengths on the wire that do not fit are refused, empty strings are skipped")
    func split() {
        #expect(TXTRecord.split([]) == [])
        #expect(TXTRecord.split([0, 2, 97, 98, 0]) == [[97, 98]])
        #expect(TXTRecord.split([3, 97, 98]) == nil)
        #expect(TXTRecord.split([255]) == nil)
        #expect(TXTRecord.split([UInt8](repeating: 0, count: 801)) == nil)
    }

    @Test(
        "An instance name fits a DNS label and ends in the start of the ID",
        arguments: [
            "A", String(repeating: "a", count: 63), String(repeating: "é", count: 31), "👩‍👩‍👧‍👦👩‍👩‍👧‍👦x",
            String(repeating: "🦊", count: 15),
        ])
    func instanceName(name: String) throws {
        let written = try advert(1, name: name)
        #expect(written.instanceName.utf8.count <= 63)
        #expect(written.instanceName.hasSuffix(" " + written.id.description.prefix(8)))
        #expect(name.hasPrefix(written.instanceName.dropLast(9)))
    }
}
