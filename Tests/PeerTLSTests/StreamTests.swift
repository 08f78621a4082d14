import PeerTLS
import Testing

@Suite struct StreamTests {
    @Test("Much data goes both ways, however it is cut", arguments: [1000, 16_401, 70_000, .max])
    func bigData(size: Int) throws {
        var pair = Pair(.data)
        try pair.connect()
        let there = noise(seed: 1, count: 3_000_001), back = noise(seed: 2, count: 1_500_007)
        for start in stride(from: 0, to: there.count, by: 65_536) {
            try pair.dialler.write(Array(there[start..<min(start + 65_536, there.count)]))
        }
        try pair.listener.write(back)
        let arrived = try pair.listener.readAll(pair.dialler.takeOutput(), size: size)
        #expect(arrived.bytes == there)
        let returned = try pair.dialler.readAll(pair.listener.takeOutput(), size: size)
        #expect(returned.bytes == back)
    }

    @Test("One byte at a time arrives whole")
    func byteByByte() throws {
        var pair = Pair()
        try pair.connect()
        try pair.listener.write(Array("hello".utf8))
        try pair.listener.write([])
        try pair.listener.write(Array(" ada".utf8))
        let arrived = try pair.dialler.readAll(pair.listener.takeOutput(), size: 1)
        #expect(arrived.bytes == Array("hello ada".utf8))
    }

    @Test("Data behind the last bytes of the handshake waits until it is read")
    func earlyData() throws {
        var pair = Pair()
        _ = try pair.dialler.handshake()
        _ = try pair.listener.exchange(pair.dialler.takeOutput())
        let done = try pair.dialler.exchange(pair.listener.takeOutput())
        #expect(done)
        try pair.dialler.write([1, 2, 3])
        let listened = try pair.listener.exchange(pair.dialler.takeOutput())
        #expect(listened)
        let arrived = try pair.listener.readAll([])
        #expect(arrived.bytes == [1, 2, 3])
    }

    @Test("64 KiB leave in one piece of output, and what was not sent stays in order")
    func gathering() throws {
        var pair = Pair()
        try pair.connect()
        let plain = noise(seed: 3, count: 65_536)
        var sent: [UInt8] = [], largest = 0
        for _ in 1...40 {
            try pair.dialler.write(plain)
            for part in [1, 30_000, 7] {
                pair.dialler.drain { (waiting: UnsafeRawBufferPointer) -> Int in
                    largest = max(largest, waiting.count)
                    sent += waiting.prefix(part)
                    return part
                }
            }
        }
        #expect(largest > 65_536)
        sent += pair.dialler.takeOutput()
        let left = pair.dialler.pendingOutput
        #expect(left == 0)
        let arrived = try pair.listener.readAll(sent)
        #expect(arrived.bytes == Array(repeatElement(plain, count: 40).joined()))
    }

    @Test("A new key in the middle of the stream changes nothing for who reads, in either direction")
    func keyUpdates() throws {
        var pair = Pair()
        try pair.connect()
        var sent: [UInt8] = []
        for part in 0..<5 {
            try pair.dialler.write([UInt8](repeating: UInt8(part), count: 20_000))
            try pair.dialler.updateKey()
            sent += pair.dialler.takeOutput()
        }
        try pair.dialler.write([5])
        sent += pair.dialler.takeOutput()
        let arrived = try pair.listener.readAll(sent, size: 1000)
        #expect(arrived.bytes == (0..<5).flatMap { [UInt8](repeating: UInt8($0), count: 20_000) } + [5])
        // Nothing is asked for in return.
        #expect(pair.listener.takeOutput().isEmpty)
        try pair.listener.updateKey()
        try pair.listener.write([6])
        #expect(try pair.dialler.readAll(pair.listener.takeOutput()).bytes == [6])
    }

    @Test("The end of the stream is told from bytes that are still missing")
    func ending() throws {
        var pair = Pair()
        try pair.connect()
        try pair.dialler.write([7])
        let sent = pair.dialler.takeOutput()
        let open = try pair.listener.readAll(Array(sent.dropLast()))
        #expect(open.bytes.isEmpty && !open.ended)
        pair.dialler.close()
        let ended = try pair.listener.readAll(Array(sent.suffix(1)) + pair.dialler.takeOutput())
        #expect(ended.bytes == [7] && ended.ended)
        // The other direction is still open.
        try pair.listener.write([8])
        pair.listener.close()
        let back = try pair.dialler.readAll(pair.listener.takeOutput())
        #expect(back.bytes == [8] && back.ended)
    }

    @Test("Nothing can be written behind the end, or before the handshake")
    func closedForWriting() throws {
        var pair = Pair()
        #expect(throws: TLSError.self) { try pair.listener.write([1]) }
        var other = Pair()
        other.dialler.close()
        try other.connect()
        other.dialler.close()
        #expect(throws: TLSError.self) { try other.dialler.write([1]) }
    }

    @Test("A changed byte throws, and nothing can be read afterwards")
    func flippedBytes() throws {
        for position in stride(from: 0, to: 60, by: 1) {
            var pair = Pair()
            try pair.connect()
            try pair.dialler.write([UInt8](repeating: 1, count: 40))
            var sent = pair.dialler.takeOutput()
            sent[position] ^= 0x10
            try pair.dialler.write([2])
            let next = pair.dialler.takeOutput()
            var read: [UInt8] = []
            #expect(throws: TLSError.self, "byte \(position)") {
                read += try pair.listener.readAll(sent + [UInt8](repeating: 0, count: 17_000)).bytes
            }
            #expect(throws: TLSError.self) { read += try pair.listener.readAll(next).bytes }
            #expect(read.isEmpty)
        }
    }

    @Test("A record that was left out, repeated or sent back throws")
    func replay() throws {
        for attack in 0..<3 {
            var pair = Pair()
            try pair.connect()
            try pair.dialler.write([1])
            let first = pair.dialler.takeOutput()
            try pair.dialler.write([2])
            let second = pair.dialler.takeOutput()
            #expect(throws: TLSError.self, "attack \(attack)") {
                switch attack {
                case 0: _ = try pair.listener.readAll(second)
                case 1: _ = try pair.listener.readAll(first + first)
                default: _ = try pair.dialler.readAll(first)
                }
            }
        }
    }
}
