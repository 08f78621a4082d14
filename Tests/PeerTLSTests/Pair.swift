import PeerTLS

extension TLSEngine {
    /// Everything that waits to be sent.
    mutating func takeOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        drain { (waiting: UnsafeRawBufferPointer) -> Int in
            bytes = Array(waiting)
            return waiting.count
        }
        return bytes
    }

    /// Receives as many of these bytes as there is room for, and returns the others.
    mutating func give(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        fill { (room: UnsafeMutableRawBufferPointer) -> Int in
            let count = min(room.count, rest.count)
            room.copyBytes(from: rest.prefix(count))
            rest = rest.dropFirst(count)
            return count
        }
        return rest
    }

    /// Goes on with the handshake, with these bytes cut in pieces; true when it is done.
    mutating func exchange(_ bytes: [UInt8], size: Int = .max) throws(TLSError) -> Bool {
        var rest = bytes[...], done = try handshake()
        while !rest.isEmpty {
            let piece = rest.prefix(size)
            rest = give(piece) + rest.dropFirst(piece.count)
            if !done { done = try handshake() }
        }
        return done
    }

    /// Decrypts these bytes, cut in pieces, until no more come; nil at the end stands for "needs more", 0 for the end of the stream.
    mutating func readAll(_ bytes: [UInt8], size: Int = .max) throws(TLSError) -> (bytes: [UInt8], ended: Bool) {
        var rest = bytes[...], result: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 20_000)
        while true {
            let piece = rest.prefix(size)
            rest = give(piece) + rest.dropFirst(piece.count)
            while let count = try read(&buffer) {
                if count == 0 { return (result, true) }
                result += buffer.prefix(count)
            }
            if rest.isEmpty { return (result, false) }
        }
    }

    private mutating func read(_ buffer: inout [UInt8]) throws(TLSError) -> Int? {
        let result: Result<Int?, TLSError> = buffer.withUnsafeMutableBytes { room in
            do throws(TLSError) { return .success(try read(into: room)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    mutating func write(_ bytes: [UInt8]) throws(TLSError) {
        let result: Result<Void, TLSError> = bytes.withUnsafeBytes { plain in
            do throws(TLSError) { return .success(try write(plain)) } catch { return .failure(error) }
        }
        try result.get()
    }
}

/// Neither side has anything to say, and they are not connected.
struct Stuck: Error {}

/// Both ends of a connection in memory.
struct Pair: ~Copyable {
    var dialler: TLSEngine
    var listener: TLSEngine

    init(_ plane: Plane = .control, from dialling: SigningKey = .generate(), to listening: SigningKey = .generate()) {
        dialler = TLSEngine(TLSContext(key: dialling), side: .dialler(plane))
        listener = TLSEngine(TLSContext(key: listening), side: .listener)
    }

    /// Runs the handshake to its end on both sides; `corrupt` may change what goes over.
    mutating func connect(size: Int = .max, corrupt: (inout [UInt8]) -> Void = { _ in }) throws {
        var dialled = try dialler.handshake(), listened = false
        while true {
            var there = dialler.takeOutput()
            corrupt(&there)
            if !there.isEmpty { listened = try listener.exchange(there, size: size) }
            let back = listener.takeOutput()
            if !back.isEmpty { dialled = try dialler.exchange(back, size: size) }
            if dialled && listened { return }
            if there.isEmpty && back.isEmpty { throw Stuck() }
        }
    }
}

/// Runs a whole handshake of an engine with a stranger; throws what the engine throws.
func connect(_ engine: inout TLSEngine, with peer: RawPeer) throws(TLSError) {
    var there = peer.exchange([])
    while true {
        let done = try engine.exchange(there)
        let back = engine.takeOutput()
        there = peer.exchange(back)
        if done && there.isEmpty { return }
        if there.isEmpty && back.isEmpty { throw .failed("neither side has anything to say") }
    }
}
