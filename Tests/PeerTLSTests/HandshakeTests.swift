import COpenSSL
import PeerTLS
import Testing

@Suite struct HandshakeTests {
    @Test(
        "Both sides learn the other's key and the plane, however the bytes are cut", arguments: [1, 2, 3, 7, 100, 5000])
    func anyChunking(size: Int) throws {
        for plane in Plane.allCases {
            let ada = SigningKey.generate(), bob = SigningKey.generate()
            var pair = Pair(plane, from: ada, to: bob)
            try pair.connect(size: size)
            let keys = [pair.dialler.peerKey, pair.listener.peerKey],
                planes = [pair.dialler.plane, pair.listener.plane]
            #expect(keys == [bob.publicKey, ada.publicKey])
            #expect(planes == [plane, plane])
        }
    }

    @Test("One context serves many connections at once, as dialler and as listener")
    func sharedContext() throws {
        let key = SigningKey.generate(), context = TLSContext(key: key)
        for _ in 1...3 {
            var pair = Pair()
            pair.dialler = TLSEngine(context, side: .dialler(.data))
            pair.listener = TLSEngine(context, side: .listener)
            try pair.connect()
            let keys = [pair.dialler.peerKey, pair.listener.peerKey]
            #expect(keys == [key.publicKey, key.publicKey])
        }
    }

    @Test("A stranger's certificate counts for its key alone, even when it has expired")
    func rawPeer() throws {
        var listener = makeListener()
        try connect(&listener, with: RawPeer(listening: false))
        let key = listener.peerKey, plane = listener.plane
        #expect(key?.spki == SigningKeyTests.spki)
        #expect(plane == .control)

        var dialler = makeDialler(.data)
        try connect(&dialler, with: RawPeer(listening: true, .init(chosen: "peerconnect-data")))
        let listenerKey = dialler.peerKey
        #expect(listenerKey?.spki == SigningKeyTests.spki)
    }

    @Test("The listener passes over protocols it does not know")
    func firstKnownProtocol() throws {
        var listener = makeListener()
        try connect(
            &listener, with: RawPeer(listening: false, .init(protocols: ["h2", "peerconnect-data", "peerconnect"])))
        let plane = listener.plane
        #expect(plane == .data)
    }

    @Test("A listener refuses a dialler without a protocol it knows")
    func listenerNeedsProtocol() {
        refusesDialler(.init(protocols: []), with: .unusable)
        refusesDialler(.init(protocols: ["h2", "peerconnec", "peerconnect-datax", "PEERCONNECT"]))
    }

    @Test("A dialler refuses a listener that chooses no protocol, or another than it asked for")
    func diallerNeedsProtocol() {
        refusesListener(.init(chosen: nil), with: .unusable)
        refusesListener(.init(chosen: "peerconnect-data"))
        refusesListener(.init(chosen: "h2"))
    }

    @Test("TLS 1.2 is refused by both sides")
    func onlyVersion13() {
        refusesDialler(.init(version: TLS1_2_VERSION))
        refusesListener(.init(chosen: "peerconnect", version: TLS1_2_VERSION))
    }

    @Test("A dialler without a certificate is refused")
    func certificateNeeded() { refusesDialler(.init(keyPEM: nil)) }

    @Test(
        "A certificate of another kind of key is refused by both sides",
        arguments: [ForeignKeys.rsa, ForeignKeys.ellipticCurve])
    func onlyEd25519(pem: String) {
        refusesDialler(.init(keyPEM: pem))
        refusesListener(.init(chosen: "peerconnect", keyPEM: pem))
    }

    @Test("A long chain of certificates is refused")
    func longChain() {
        refusesDialler(.init(chainLength: 50))
        refusesListener(.init(chosen: "peerconnect", chainLength: 50))
    }

    @Test("ChaCha20 is used for a dialler that has it first, AES for the others")
    func ciphers() throws {
        for (ciphers, expected) in [
            ("TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
            ("TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
            ("TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
        ] {
            var listener = makeListener()
            let peer = RawPeer(listening: false, .init(ciphers: ciphers))
            try connect(&listener, with: peer)
            #expect(peer.cipher == expected)
        }
        refusesDialler(.init(ciphers: "TLS_AES_256_GCM_SHA384"))
    }

    @Test("A changed byte anywhere in what the dialler says ends the handshake")
    func flippedBytes() throws {
        var probe = Pair(), lengths: [Int] = []
        try probe.connect { lengths.append($0.count) }
        let total = lengths.reduce(0, +)
        let ada = SigningKey.generate(), bob = SigningKey.generate()
        for position in stride(from: 0, to: total, by: 3) {
            var pair = Pair(from: ada, to: bob), start = 0
            #expect(throws: (any Error).self, "byte \(position) of \(total)") {
                try pair.connect { bytes in
                    let index = position - start
                    if bytes.indices.contains(index) { bytes[index] ^= 0x55 }
                    start += bytes.count
                }
            }
        }
    }

    private func makeListener() -> TLSEngine { TLSEngine(TLSContext(key: .generate()), side: .listener) }
    private func makeDialler(_ plane: Plane) -> TLSEngine {
        TLSEngine(TLSContext(key: .generate()), side: .dialler(plane))
    }

    private func refusesDialler(
        _ settings: RawPeer.Settings, with error: TLSError? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var listener = makeListener()
        refuses(&listener, RawPeer(listening: false, settings), with: error, sourceLocation)
    }

    private func refusesListener(
        _ settings: RawPeer.Settings, with error: TLSError? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var dialler = makeDialler(.control)
        refuses(&dialler, RawPeer(listening: true, settings), with: error, sourceLocation)
    }

    /// The engine itself must refuse: that the two have nothing more to say is not enough.
    private func refuses(
        _ engine: inout TLSEngine, _ peer: RawPeer, with error: TLSError?, _ location: SourceLocation
    ) {
        var thrown: TLSError?
        do throws(TLSError) { try connect(&engine, with: peer) } catch { thrown = error }
        #expect(thrown != nil && thrown != .failed("neither side has anything to say"), sourceLocation: location)
        if let error { #expect(thrown == error, sourceLocation: location) }
    }
}
