import PeerTLS
import Testing

@Suite struct HostileTests {
    @Test("Bytes that are no TLS throw in the handshake, on both sides", arguments: 0..<100 as Range<UInt64>)
    func garbage(seed: UInt64) {
        let bytes = noise(seed: seed, count: 20_000)
        for side in [.listener, .dialler(.data)] as [TLSEngine.Side] {
            var engine = TLSEngine(TLSContext(key: .generate()), side: side)
            #expect(throws: TLSError.self) { _ = try engine.exchange(bytes, size: 1 + Int(seed) * 50) }
            #expect(throws: TLSError.self) { _ = try engine.exchange(bytes) }
            let waiting = engine.pendingOutput
            #expect(waiting < 2000)
        }
    }

    @Test("Garbage in the form of records throws in an open connection", arguments: 0..<60 as Range<UInt64>)
    func records(seed: UInt64) throws {
        var pair = Pair()
        try pair.connect()
        let length = Int(seed) * 13
        let kind: UInt8 = [20, 21, 22, 23, 24, 0][Int(seed) % 6]
        let record = [kind, 3, 3, UInt8(length >> 8), UInt8(length & 0xFF)] + noise(seed: seed, count: length)
        #expect(throws: TLSError.self) {
            for _ in 1...40 { _ = try pair.listener.readAll(record) }
        }
    }

    @Test("A record longer than TLS allows is refused from its header on")
    func longRecord() throws {
        var pair = Pair()
        try pair.connect()
        #expect(throws: TLSError.self) { _ = try pair.listener.readAll([23, 3, 3, 0xFF, 0xFF]) }
    }

    @Test("A stranger that closes in the middle of the handshake, or sends an alert, ends it")
    func alert() throws {
        var pair = Pair()
        _ = try pair.dialler.handshake()
        #expect(throws: TLSError.self) { _ = try pair.dialler.exchange([21, 3, 3, 0, 2, 2, 40]) }
        #expect(throws: TLSError.self) { _ = try pair.dialler.exchange([]) }
        var other = Pair()
        _ = try other.dialler.handshake()
        #expect(throws: TLSError.self) { _ = try other.dialler.exchange([21, 3, 3, 0, 2, 1, 0]) }
    }

    @Test("Key updates are answered, and the stream goes on both ways")
    func keyUpdates() throws {
        var listener = TLSEngine(TLSContext(key: .generate()), side: .listener)
        let peer = RawPeer(listening: false)
        try connect(&listener, with: peer)
        for round in 1...1000 {
            let number = [UInt8(round % 256)]
            let arrived = try listener.readAll(peer.updateKeys() + peer.write(number))
            #expect(arrived.bytes == number)
            try listener.write(number)
            #expect(peer.read(listener.takeOutput()) == number)
        }
    }

    @Test("A stranger that asks for answers and takes none is refused before they fill the memory", arguments: [0, 1])
    func keyUpdateFlood(dataBetween: Int) throws {
        var listener = TLSEngine(TLSContext(key: .generate()), side: .listener)
        let peer = RawPeer(listening: false)
        try connect(&listener, with: peer)
        let data = [UInt8](repeating: 1, count: dataBetween)
        #expect(throws: TLSError.failed("too many answers asked for")) {
            for _ in 1...5000 { _ = try listener.readAll(peer.updateKeys() + peer.write(data)) }
        }
        let waiting = listener.pendingOutput
        #expect(waiting < 100_000)
    }

    @Test("One burst of key updates is bounded too")
    func keyUpdateBurst() throws {
        var listener = TLSEngine(TLSContext(key: .generate()), side: .listener)
        let peer = RawPeer(listening: false)
        try connect(&listener, with: peer)
        let burst = (1...5000).flatMap { _ in peer.updateKeys() }
        #expect(throws: TLSError.self) { _ = try listener.readAll(burst) }
        let waiting = listener.pendingOutput
        #expect(waiting < 256 << 10)
    }

    @Test("Tickets of a listener that sends some are passed over")
    func tickets() throws {
        var dialler = TLSEngine(TLSContext(key: .generate()), side: .dialler(.control))
        let peer = RawPeer(listening: true, .init(chosen: "peerconnect", tickets: 4))
        try connect(&dialler, with: peer)
        let arrived = try dialler.readAll(peer.write([5]))
        #expect(arrived.bytes == [5])
        try dialler.write([6])
        #expect(peer.read(dialler.takeOutput()) == [6])
    }
}
