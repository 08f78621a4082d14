internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// One piece on its way from the thread that receives to the thread that checks and writes.
final class PieceBuffer: @unchecked Sendable {  // handed on through a locked queue
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.pieceSize, alignment: 4096)
    var count = 0
    var index: UInt64 = 0
    var hash: [UInt8] = []

    deinit { memory.deallocate() }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }
}

/// What the receiving thread passes on.
enum Arrival: Sendable {
    case piece(PieceBuffer)
    case checkpoint(Checkpoint)
    case end(StreamEnd)
}

/// The short queue between receiving and checking, with the few buffers that go round: memory does not grow with the file.
final class ArrivalQueue: Sendable {
    private struct State: Sendable {
        var arrivals: [Arrival] = []
        var free: [PieceBuffer]
        var failure: StreamError?
        var isClosed = false
        var isDismissed = false
    }

    /// Three pieces, what is signed behind them, and the end.
    private static let capacity = 8

    private let state: Monitor<State>

    init() { state = Monitor(State(free: (0..<3).map { _ in PieceBuffer() })) }

    /// A buffer to fill, when one is free; `nil` once the other side has given up.
    func buffer() -> PieceBuffer? {
        while true {
            let found: PieceBuffer?? = state.wait(seconds: 60) { state in
                if state.isClosed { return .some(nil) }
                return state.free.popLast().map { .some($0) }
            }
            if let found { return found }
        }
    }

    /// Waits for room; false once the other side has given up.
    func put(_ arrival: Arrival) -> Bool {
        while true {
            let isTaken: Bool? = state.wait(seconds: 60) { state in
                if state.isClosed { return false }
                guard state.arrivals.count < Self.capacity else { return nil }
                state.arrivals.append(arrival)
                return true
            }
            if let isTaken { return isTaken }
        }
    }

    /// Nothing more will come; never waits.
    func fail(_ error: StreamError) { state.update { $0.failure = $0.failure ?? error } }

    /// Nothing was asked for, and nothing will be: whoever keeps what comes has nothing to tell.
    func dismiss() {
        state.update {
            $0.isDismissed = true
            $0.failure = $0.failure ?? .ended
        }
    }

    var isDismissed: Bool { state.read { $0.isDismissed } }

    /// The next arrival, or the failure behind the last one.
    func next() throws(StreamError) -> Arrival {
        while true {
            let found: Result<Arrival, StreamError>? = state.wait(seconds: 60) { state in
                guard state.arrivals.isEmpty else { return .success(state.arrivals.removeFirst()) }
                return state.failure.map { .failure($0) }
            }
            if let found { return try found.get() }
        }
    }

    func giveBack(_ buffer: PieceBuffer) { state.update { $0.free.append(buffer) } }

    /// Nothing more is wanted: whoever waits for a buffer stops.
    func close() { state.update { $0.isClosed = true } }
}

/// Reads pieces from a neighbour into the queue, in order.
struct PieceReceiver {
    let queue: ArrivalQueue
    let ledger: PieceLedger
    /// How long the next part of the stream may take.
    var silence = Limits.dataSilence

    /// With 30 s for each this is 2 KB/s: slower than any link that files are sent over.
    private static let part = 64 << 10

    func run(_ stream: inout TLSStream, from piece: UInt64) {
        do throws(StreamError) {
            try receive(&stream, from: piece)
            stream.tls.close()
            _ = try? stream.flush()
        } catch {
            queue.fail(error)
        }
    }

    private func receive(_ stream: inout TLSStream, from piece: UInt64) throws(StreamError) {
        // Whether the sender's signature must come next: who is served from here would wait for it without end.
        var last = piece, owesCheckpoint = false
        while true {
            let head = try read(&stream, FrameHeader.size)
            guard let header = try? FrameHeader(parsing: head), header.length <= Limits.dataPayload else {
                throw .violation("a frame that is too large")
            }
            switch DataFrame(rawValue: header.kind) {
            case .piece:
                guard !owesCheckpoint else { throw .violation("a checkpoint is missing") }
                guard let buffer = queue.buffer() else { throw .ended }
                try readPiece(&stream, length: header.length, after: last, into: buffer)
                last = buffer.index
                owesCheckpoint = PieceLedger.isCheckpoint(last, of: ledger.pieces)
                guard queue.put(.piece(buffer)) else { throw .ended }
            case .checkpoint:
                let payload = try read(&stream, header.length)
                guard let checkpoint = try? Checkpoint(parsing: payload) else {
                    throw .violation("a checkpoint that cannot be read")
                }
                guard owesCheckpoint, checkpoint.index == last else {
                    throw .violation("a checkpoint where none belongs")
                }
                owesCheckpoint = false
                guard queue.put(.checkpoint(checkpoint)) else { throw .ended }
            case .end:
                guard !owesCheckpoint else { throw .violation("a checkpoint is missing") }
                let payload = try read(&stream, header.length)
                guard let end = try? StreamEnd(parsing: payload) else {
                    throw .violation("an end that cannot be read")
                }
                _ = queue.put(.end(end))
                return
            case .idle, nil: _ = try read(&stream, header.length)
            }
        }
    }

    private func readPiece(
        _ stream: inout TLSStream, length: Int, after last: UInt64, into buffer: PieceBuffer
    ) throws(StreamError) {
        guard length > PieceHeader.size, last < ledger.pieces else { throw .violation("an empty piece") }
        let head = try read(&stream, PieceHeader.size)
        guard let header = try? PieceHeader(parsing: head, followedBy: length - PieceHeader.size) else {
            throw .violation("a piece that cannot be read")
        }
        buffer.index = UInt64(header.index)
        buffer.hash = header.hash.bytes
        buffer.count = length - PieceHeader.size
        guard buffer.index == last + 1, UInt64(buffer.count) == UInt64(ledger.range(of: buffer.index).count) else {
            throw .violation("a piece out of order or of another length")
        }
        try read(&stream, into: UnsafeMutableRawBufferPointer(rebasing: buffer.memory[..<buffer.count]))
    }

    /// Each part has its own time: a byte now and then does not hold the connection, and a slow link does not end it.
    private func read(
        _ stream: inout TLSStream, into buffer: UnsafeMutableRawBufferPointer
    ) throws(StreamError) {
        var rest = buffer[...]
        while !rest.isEmpty {
            stream.deadline = BootClock.now() + silence
            try stream.readAll(into: UnsafeMutableRawBufferPointer(rebasing: rest.prefix(Self.part)))
            rest = rest.dropFirst(Self.part)
        }
    }

    private func read(_ stream: inout TLSStream, _ count: Int) throws(StreamError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result: Result<Void, StreamError> = bytes.withUnsafeMutableBytes { buffer in
            do throws(StreamError) { return .success(try read(&stream, into: buffer)) } catch { return .failure(error) }
        }
        try result.get()
        return bytes
    }
}
