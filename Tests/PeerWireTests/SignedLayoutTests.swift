import PeerModel
import Testing

@testable import PeerWire

/// Bytes written by hand, so that the code cannot drift from `WIRE.md`.
@Suite struct SignedLayoutTests {
    static let joinBytes = join(
        hex("70656572636f6e6e656374 2f 6a6f696e 2f31 00"), bytes(1, 16), bytes(2, 32), bytes(3, 16), bytes(9, 16),
        hex("0002 0405 03 416461"))
    static let common = join(
        bytes(1, 16), bytes(2, 32), bytes(1, 32), hex("0000000000000008 0000000000000009"), bytes(7, 32),
        hex("0000018bcfe56800"))
    static let say = join(hex("70656572636f6e6e656374 2f 736179 2f31 00"), common, hex("00000002 6869"))
    static let offer = join(
        hex("70656572636f6e6e656374 2f 6f66666572 2f31 00"), common, bytes(5, 32), bytes(3, 16),
        hex("0000000000000102 00000003 00000002 0000000000000405"), bytes(7, 32),
        hex("0002"), bytes(1, 32), bytes(2, 32), hex("02 0001 61 0002 c3a9"))

    @Test("A join has the bytes of the specification")
    func goldenJoin() throws {
        #expect(Fixture.join.bytes() == Self.joinBytes)
        #expect(try Join(parsing: Self.joinBytes) == Fixture.join)
    }

    @Test("A say and an offer have the bytes of the specification")
    func goldenStatements() throws {
        #expect(Fixture.say.bytes() == Self.say)
        #expect(try Statement(parsing: Self.say) == Fixture.say)
        #expect(Fixture.offer.bytes() == Self.offer)
        #expect(try Statement(parsing: Self.offer) == Fixture.offer)
    }

    @Test("The author's clock may stand before 1970")
    func negativeTime() throws {
        let early = Statement(
            chat: Fixture.chat, host: Fixture.other, author: Fixture.peer, counter: 1,
            seen: EventReference(n: 0, hash: Fixture.digest), sent: -1, body: .say(text: "\n"))
        #expect(try Statement(parsing: early.bytes()) == early)
    }

    @Test("Cut anywhere, or with a byte more, a layout is refused", arguments: [joinBytes, say, offer])
    func cuts(whole: [UInt8]) {
        func parse(_ bytes: [UInt8]) throws {
            if whole == Self.joinBytes { _ = try Join(parsing: bytes) } else { _ = try Statement(parsing: bytes) }
        }
        for end in whole.indices { #expect(throws: WireError.self) { try parse(Array(whole[..<end])) } }
        #expect(throws: WireError.badLayout) { try parse(whole + [0]) }
    }

    @Test("One kind of signed bytes is never taken for another")
    func contexts() {
        #expect(throws: WireError.badLayout) { try Join(parsing: Self.say) }
        #expect(throws: WireError.self) { try Statement(parsing: Self.joinBytes) }
        var wrong = Self.offer
        wrong[16] = UInt8(ascii: "x")
        #expect(throws: WireError.badLayout) { try Statement(parsing: wrong) }
    }

    static let wrongJoins: [(offset: Int, value: [UInt8])] = [
        (99, [0, 0]), (99, [1, 1]),  // the key's length
        (103, [0]), (103, [4]), (103, [2]),  // the name's length
        (104, [0x20]), (104, [7]), (104, [0xFF]),  // the name
    ]
    static let wrongSays: [(offset: Int, value: [UInt8])] = [
        (98, bytes(0, 8)), (98, hex("8000000000000000")),  // the counter
        (106, hex("8000000000000000")),  // n
        (154, hex("00000000")), (154, hex("00004001")), (158, hex("c328")),  // the text
    ]
    static let wrongOffers: [(offset: Int, value: [UInt8])] = [
        (204, bytes(0xFF, 8)), (212, bytes(0, 4)), (212, hex("000f4241")), (216, hex("00000004")),  // size, counts
        (220, bytes(0, 8)), (220, hex("0000000008000001")),  // the manifest's length
        (260, hex("0000")), (260, hex("0041")), (262, bytes(3, 32)), (262, bytes(2, 32)),  // recipients
        (326, [0]), (326, [21]), (327, hex("0000")), (327, hex("0100")), (329, [0xFF]),  // names
    ]

    private func changed(_ layout: [UInt8], _ offset: Int, _ value: [UInt8]) -> [UInt8] {
        var wrong = layout
        wrong.replaceSubrange(offset..<offset + value.count, with: value)
        #expect(wrong != layout)
        return wrong
    }

    @Test("A value outside the specification is refused in a join", arguments: wrongJoins)
    func refusesJoin(offset: Int, value: [UInt8]) {
        #expect(throws: WireError.self) { try Join(parsing: changed(Self.joinBytes, offset, value)) }
    }

    @Test("A value outside the specification is refused in a say", arguments: wrongSays)
    func refusesSay(offset: Int, value: [UInt8]) {
        #expect(throws: WireError.badLayout) { try Statement(parsing: changed(Self.say, offset, value)) }
    }

    @Test("A value outside the specification is refused in an offer", arguments: wrongOffers)
    func refusesOffer(offset: Int, value: [UInt8]) {
        #expect(throws: WireError.self) { try Statement(parsing: changed(Self.offer, offset, value)) }
    }

    @Test("A text of exactly 16 KiB is taken, one byte more is not")
    func textLimit() throws {
        let longest = Fixture.statement(.say(text: String(repeating: "x", count: Limits.text)))
        #expect(try Statement(parsing: longest.bytes()) == longest)
        let longer = Fixture.statement(.say(text: String(repeating: "x", count: Limits.text + 1)))
        #expect(throws: WireError.badLayout) { try Statement(parsing: longer.bytes()) }
    }

    static let summaries: [(names: [String], text: String)] = [
        (["a"], "a"), (["a", "b", "c"], "a and 2 more"),
        (Array(repeating: "a", count: 25), "a and at least 19 more"),
    ]

    @Test("An offer's summary names the first entry and how many follow", arguments: summaries)
    func summary(names: [String], text: String) {
        let offer = OfferBody(
            transfer: Fixture.transfer, nonce: Fixture.nonce, size: 1, entries: 30, files: 25, manifestLength: 1,
            manifestHash: Fixture.digest, recipients: [Fixture.peer], names: names)
        #expect(offer.summary == OfferSummary(name: text, size: 1, files: 25))
    }
}
