import PeerModel
import TestSupport
import Testing

@testable import PeerWire

/// 10,000 inputs from seeds, through everything that reads what peers send: each is read or refused, none traps.
@Suite struct RandomInputTests {
    private static let kinds = ControlMessage.Kind.allCases.map(\.rawValue)

    private func readAll(_ bytes: [UInt8]) -> Int {
        var count = 0
        if (try? Join(parsing: bytes)) != nil { count += 1 }
        if let statement = try? Statement(parsing: bytes) {
            #expect(statement.bytes() == bytes)
            if case .offer(let offer) = statement.body { _ = offer.summary }
            count += 1
        }
        if let event = try? ChatEvent(parsing: bytes) {
            if case .unknown = event.body {} else { #expect(event.bytes() == bytes) }
            count += 1
        }
        if let checkpoint = try? Checkpoint(parsing: bytes) { #expect(checkpoint.payload() == bytes) }
        if let end = try? StreamEnd(parsing: bytes) { #expect(end.payload() == bytes) }
        _ = try? PieceHeader(parsing: bytes)
        return count
    }

    @Test("Random bytes through the binary layouts", arguments: 0..<10 as Range<UInt64>)
    func randomBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let size = Int.random(in: 0...400, using: &random), top = UInt8.random(in: 1...255, using: &random)
            _ = readAll((0..<size).map { _ in UInt8.random(in: 0...top, using: &random) })
        }
    }

    @Test("Valid layouts with some bytes changed", arguments: 0..<10 as Range<UInt64>)
    func changedLayouts(seed: UInt64) {
        var random = SeededGenerator(seed: 100 + seed)
        let valid =
            [Fixture.join.bytes(), Fixture.say.bytes(), Fixture.offer.bytes()]
            + Fixture.events.map { ChatEvent(time: 1, body: $0).bytes() }
        var readable = 0
        for round in 0..<400 {
            var bytes = valid[round % valid.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            readable += readAll(bytes)
        }
        #expect(readable > 0)  // else nothing behind the first check was reached
    }

    @Test("Valid messages with some characters changed", arguments: 0..<10 as Range<UInt64>)
    func changedMessages(seed: UInt64) {
        var random = SeededGenerator(seed: 200 + seed)
        let characters = Array(#"{}[]",:\0123456789-.eEntfalsru +/="#.utf8) + [0, 0x80, 0xC3, 0xFF]
        var readable = 0
        for round in 0..<250 {
            var frame = ControlMessageTests.all[round % ControlMessageTests.all.count].0.encoded()
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let index = Int.random(in: 8..<frame.count, using: &random)
                frame[index] = characters.randomElement(using: &random) ?? 0
            }
            if let message = try? ControlMessage(RawFrame(kind: frame[4], payload: Array(frame[8...]))) {
                let again = Array(message.encoded()[8...])
                #expect((try? ControlMessage(RawFrame(kind: message.kind, payload: again))) == message)
                readable += 1
            }
        }
        #expect(readable > 0)
    }

    @Test("Random streams through the frame decoder and the messages", arguments: 0..<10 as Range<UInt64>)
    func randomStreams(seed: UInt64) {
        var random = SeededGenerator(seed: 300 + seed)
        for _ in 0..<50 {
            var decoder = FrameDecoder(maximumPayload: 64)
            for _ in 0..<8 {
                let size = Int.random(in: 0...24, using: &random)
                decoder.append(
                    [0, 0, 0, UInt8(size), Self.kinds.randomElement(using: &random) ?? 0]
                        + (0..<size).map { _ in UInt8.random(in: 0...127, using: &random) })
                while let frame = try? decoder.next() { _ = try? ControlMessage(frame) }
            }
        }
    }
}
