import PeerModel
import Testing

@testable import PeerWire

@Suite struct ChatEventTests {
    static let time = hex("0000018bcfe56800")

    static let written: [(body: ChatEvent.Body, bytes: [UInt8])] = Array(
        zip(
            Fixture.events,
            [
                join([1], time, hex("006b"), SignedLayoutTests.joinBytes, bytes(6, 64)),
                join([2], time, bytes(1, 32), [3]),
                join([3], time, hex("000000a0"), SignedLayoutTests.say, bytes(6, 64)),
                join([4], time, hex("0000014e"), SignedLayoutTests.offer, bytes(6, 64)),
                join([5], time, bytes(5, 32), bytes(1, 32), [2, 1]),
                join([6], time, bytes(5, 32), bytes(1, 32), [4, 9]),
            ]))

    @Test("Each event has the bytes of the specification", arguments: written)
    func golden(body: ChatEvent.Body, bytes: [UInt8]) throws {
        let event = ChatEvent(time: 1_700_000_000_000, body: body)
        #expect(event.bytes() == bytes)
        #expect(try ChatEvent(parsing: bytes) == event)
        for end in bytes.indices {
            #expect(throws: WireError.truncated) { try ChatEvent(parsing: Array(bytes[..<end])) }
        }
        #expect(throws: WireError.badLayout) { try ChatEvent(parsing: bytes + [0]) }
    }

    @Test("The chain starts with chat and host, and goes on with hash and event")
    func chain() {
        let start = hex("70656572636f6e6e656374 2f 63686174 2f31 00") + bytes(1, 16) + bytes(2, 32)
        #expect(ChatEvent.chainStart(chat: Fixture.chat, host: Fixture.other) == start)
        #expect(ChatEvent.chainLink(previous: Fixture.digest, event: [9, 8]) == bytes(7, 32) + [9, 8])
    }

    @Test("An event of an unknown kind is read, whatever follows its time", arguments: [0, 7, 255] as [UInt8])
    func unknown(kind: UInt8) throws {
        #expect(try ChatEvent(parsing: [kind] + Self.time + [1, 2, 3]).body == .unknown(kind: kind))
        #expect(throws: WireError.truncated) { try ChatEvent(parsing: [kind] + Self.time.dropLast()) }
    }

    @Test("All reasons and states have the codes of the specification")
    func codes() throws {
        let departures: [DepartureReason] = [.left, .crashed, .timedOut, .kicked]
        for (index, reason) in departures.enumerated() {
            #expect(ChatEvent(time: 0, body: .left(Fixture.peer, reason)).bytes().last == UInt8(index + 1))
        }
        let states: [TransferStatus] = [.verified, .partial, .declined, .failed, .cancelled]
        let reasons: [TransferReason?] = [
            nil, .diskFull, .changed, .unreadable, .corrupt, .tooLarge, .stalled, .timeout, .left, .lost,
        ]
        for (state, status) in states.enumerated() {
            for (code, reason) in reasons.enumerated() {
                let event = ChatEvent(time: 0, body: .result(Fixture.transfer, of: Fixture.peer, status, reason))
                #expect(event.bytes().suffix(2) == [UInt8(state + 1), UInt8(code)])
                #expect(try ChatEvent(parsing: event.bytes()) == event)
            }
        }
    }

    static let ids = bytes(5, 32) + bytes(1, 32)
    static let wrongCodes: [[UInt8]] = [
        join([2], time, bytes(1, 32), [0]), join([2], time, bytes(1, 32), [5]),
        join([5], time, ids, [0, 0]), join([5], time, ids, [3, 0]), join([5], time, ids, [1, 2]),
        join([6], time, ids, [0, 0]), join([6], time, ids, [6, 0]), join([6], time, ids, [1, 12]),
    ]

    @Test("Unknown codes are refused", arguments: wrongCodes)
    func unknownCodes(bytes: [UInt8]) {
        #expect(throws: WireError.badLayout) { try ChatEvent(parsing: bytes) }
    }
}
