import PeerModel
import TestSupport
import Testing

@testable import PeerWire

@Suite struct FrameDecoderTests {
    static let stream =
        encodeFrame(kind: 32, payload: [1, 2, 3]) + encodeFrame(kind: 3, payload: [])
        + encodeFrame(kind: 200, payload: [9])

    @Test("A frame has the bytes of the specification")
    func golden() {
        #expect(ControlMessage.ping.encoded() == hex("00000002 03 00 0000 7b7d"))
        #expect(ControlMessage.seen(n: 5).encoded() == hex("00000007 22 00 0000 7b 226e22 3a 35 7d"))
        #expect(encodeFrame(kind: 1, payload: bytes(0, 0x0102)).prefix(8) == hex("00000102 01 00 0000")[...])
    }

    @Test("Frames do not depend on how the bytes are cut", arguments: 1...stream.count)
    func anyChunking(size: Int) throws {
        var decoder = FrameDecoder()
        var frames: [RawFrame] = []
        for start in stride(from: 0, to: Self.stream.count, by: size) {
            decoder.append(Self.stream[start..<min(start + size, Self.stream.count)])
            while let frame = try decoder.next() { frames.append(frame) }
        }
        try decoder.finish()
        #expect(
            frames == [
                RawFrame(kind: 32, payload: [1, 2, 3]), RawFrame(kind: 3, payload: []),
                RawFrame(kind: 200, payload: [9]),
            ])
    }

    @Test("A stream that ends inside a frame is truncated, one that ends behind a frame is not")
    func finishing() throws {
        for end in 0...Self.stream.count {
            var decoder = FrameDecoder()
            decoder.append(Array(Self.stream[..<end]))
            while try decoder.next() != nil {}
            if [0, 11, 19, 28].contains(end) {
                try decoder.finish()
            } else {
                #expect(throws: WireError.truncated) { try decoder.finish() }
            }
        }
    }

    @Test("A longer payload than allowed is refused from its header on", arguments: [4097, 0x7FFF_FFFF, 0xFFFF_FFFF])
    func hostileLength(length: Int) {
        var decoder = FrameDecoder()
        decoder.append(withUnsafeBytes(of: UInt32(length).bigEndian, Array.init) + [1, 0, 0])
        #expect(throws: Never.self) { try decoder.next() }
        decoder.append([0])
        for _ in 1...2 { #expect(throws: WireError.payloadTooLarge(length)) { try decoder.next() } }
    }

    @Test("The longest allowed payload passes, also after the limit was raised")
    func limits() throws {
        var decoder = FrameDecoder()
        decoder.append(encodeFrame(kind: 1, payload: bytes(1, Limits.firstPayload)))
        #expect(try decoder.next()?.payload.count == Limits.firstPayload)
        decoder.append(encodeFrame(kind: 1, payload: bytes(1, Limits.controlPayload)))
        decoder.maximumPayload = Limits.controlPayload
        #expect(try decoder.next()?.payload.count == Limits.controlPayload)
        #expect(try decoder.next() == nil)
    }

    @Test("Flags and reserved bytes are ignored")
    func flags() throws {
        var decoder = FrameDecoder()
        decoder.append([0, 0, 0, 1, 9, 0xFF, 0xFF, 0xFF, 7])
        #expect(try decoder.next() == RawFrame(kind: 9, payload: [7]))
    }

    @Test("What lies behind the last frame can be taken over")
    func rest() throws {
        var decoder = FrameDecoder()
        decoder.append(Self.stream)
        _ = try decoder.next()
        #expect(decoder.takeRest() == Array(Self.stream[11...]))
        #expect(try decoder.next() == nil)
        try decoder.finish()
    }

    @Test("Many frames through one decoder keep their order and bytes")
    func manyFrames() throws {
        var decoder = FrameDecoder(), random = SeededGenerator(seed: 1)
        var expected: [RawFrame] = [], pending: [UInt8] = [], received: [RawFrame] = []
        for number in 0..<500 {
            let frame = RawFrame(kind: UInt8(number % 256), payload: bytes(UInt8(number % 251), number % 70))
            expected.append(frame)
            pending += encodeFrame(kind: frame.kind, payload: frame.payload)
        }
        while !pending.isEmpty {
            let size = min(Int.random(in: 1...300, using: &random), pending.count)
            decoder.append(pending[..<size])
            pending.removeFirst(size)
            if Bool.random(using: &random), let frame = try decoder.next() { received.append(frame) }
        }
        while let frame = try decoder.next() { received.append(frame) }
        #expect(received == expected)
    }
}
