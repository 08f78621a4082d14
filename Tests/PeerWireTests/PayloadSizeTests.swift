import PeerModel
import Testing

@testable import PeerWire

/// The largest valid messages fit the frames they travel in.
@Suite struct PayloadSizeTests {
    private func payload(_ message: ControlMessage) throws -> Int {
        let frame = message.encoded()
        let raw = RawFrame(kind: frame[4], payload: Array(frame[8...]))
        #expect(try ControlMessage(raw) == message)
        return raw.payload.count
    }

    @Test("A welcome with 64 members of the longest names and keys, and as many counters as there may be, fits")
    func welcome() throws {
        let name = try DisplayName(String(repeating: "\"", count: 63))
        let key = bytes(4, Int(Join.keySizes.upperBound))
        let join = Fixture.signed(
            Join(
                chat: Fixture.chat, host: Fixture.other, nonce: Fixture.nonce, memberNonce: Fixture.memberNonce,
                key: key, name: name
            ).bytes())
        let event = ChatEvent(time: .max, body: .joined(join)).bytes()
        let before = EventReference(n: WireNumber.maximum, hash: Fixture.digest)
        let counters = Dictionary(
            uniqueKeysWithValues: (0..<Limits.authors).map { (Fixture.peer($0), WireNumber.maximum) })
        for new in [1, Limits.peersAtMost] {
            let message = ControlMessage.welcome(
                Welcome(
                    chat: Fixture.chat, before: before,
                    members: Array(repeating: join, count: Limits.peersAtMost - new),
                    joined: Array(repeating: event, count: new), counters: counters))
            #expect(try payload(message) <= Limits.controlPayload)
        }
    }

    @Test("A hello with the longest name and addresses fits a first frame")
    func hello() throws {
        let name = try DisplayName(String(repeating: "\\", count: 63))
        let address = "[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff%" + String(repeating: "\u{1}", count: 15) + "]:27182"
        let message = ControlMessage.hello(
            Hello(
                min: 65535, max: 65535, run: Fixture.run, name: name, port: 65535,
                addresses: Array(repeating: address, count: 16)))
        #expect(try payload(message) <= Limits.firstPayload)
    }

    @Test("An invitation with the longest name fits a first frame, a longer one is cut")
    func invite() throws {
        func invite(_ count: Int) -> ControlMessage {
            let offer = OfferSummary(
                name: String(repeating: "\u{1}", count: count), size: WireNumber.maximum, files: Limits.entries)
            return .invite(Invite(chat: Fixture.chat, nonce: Fixture.nonce, purpose: .message, offer: offer))
        }
        #expect(try payload(invite(512)) <= Limits.firstPayload)
        #expect(invite(5000).encoded() == invite(512).encoded())
    }

    @Test("The longest line fits, as it is said and as an event")
    func say() throws {
        let statement = Fixture.statement(.say(text: String(repeating: "x", count: Limits.text)))
        let signed = Fixture.signed(statement.bytes())
        #expect(try payload(.say(signed)) <= Limits.controlPayload)
        let event = ChatEvent(time: .max, body: .said(signed)).bytes()
        #expect(try payload(.event(n: WireNumber.maximum, bytes: event)) <= Limits.controlPayload)
    }

    @Test("The largest offer fits, as it is said and as an event")
    func offer() throws {
        let offer = OfferBody(
            transfer: Fixture.transfer, nonce: Fixture.nonce, size: .max >> 12, entries: UInt32(Limits.entries),
            files: 1, manifestLength: UInt64(Limits.manifest), manifestHash: Fixture.digest,
            recipients: (0..<Limits.peersAtMost).map(Fixture.peer),
            names: (0..<30).map { _ in String(repeating: "n", count: 300) })
        let signed = Fixture.signed(Fixture.statement(.offer(offer)).bytes())
        #expect(try payload(.say(signed)) <= Limits.controlPayload)
        let event = ChatEvent(time: .max, body: .offered(signed)).bytes()
        #expect(try payload(.event(n: WireNumber.maximum, bytes: event)) <= Limits.controlPayload)
    }

    @Test("A long reason is cut to what the reader takes")
    func rejected() throws {
        let frame = ControlMessage.rejected(counter: 1, reason: String(repeating: "ä", count: 300)).encoded()
        let read = try ControlMessage(RawFrame(kind: 36, payload: Array(frame[8...])))
        #expect(read == .rejected(counter: 1, reason: String(repeating: "ä", count: 127)))
    }
}
