import Glibc
import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

typealias DataEnd = @Sendable (inout TLSStream) throws -> Void

/// Runs both ends of a connection, each on a thread of its own, until both have ended; gives the errors they ended with.
func withDataConnection(_ dialler: @escaping DataEnd, _ listener: @escaping DataEnd) async throws -> [String?] {
    var pair: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let ends = Monitor([Int: String?]())
    for (number, body) in [dialler, listener].enumerated() {
        let raw = pair[number]
        try BlockingThread.spawn("data end") {
            var failure: String?
            do {
                let socket = TCPSocket(owning: OwnedDescriptor(owning: raw))
                socket.makeBlocking(receiveSeconds: 20, sendSeconds: 20)
                let side: TLSEngine.Side = number == 0 ? .dialler(.data) : .listener
                var stream = TLSStream(socket: socket, tls: TLSEngine(TLSContext(key: .generate()), side: side))
                try stream.shakeHands()
                try body(&stream)
            } catch {
                failure = "\(error)"
            }
            ends.update { $0[number] = .some(failure) }
        }
    }
    while ends.read({ $0.count }) < 2 { try await Task.sleep(for: .milliseconds(5)) }
    return ends.read { [$0[0] ?? nil, $0[1] ?? nil] }
}

/// A stream of pieces, for senders that break the rules.
struct ScriptedStream {
    let key = SigningKey.generate()
    let transfer = TransferID(SHA256.hash([9]))
    let bytes: [UInt8]

    /// `count` bytes that are not all the same.
    init(_ count: Int) { bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 12) } }

    var ledger: PieceLedger { PieceLedger(length: UInt64(bytes.count)) }

    private func piece(_ index: UInt64) -> ArraySlice<UInt8> {
        let range = ledger.range(of: index)
        return bytes[Int(range.lowerBound)..<Int(range.upperBound)]
    }

    /// Sends all pieces, with checkpoints where `isSigned` says so, and the end.
    func send(_ stream: inout TLSStream, isSigned: (UInt64) -> Bool) throws {
        var chain = PieceChain(transfer)
        for index in 1...ledger.pieces {
            let piece = Array(piece(index)), hash = SHA256.hash(piece)
            chain.append(hash, length: piece.count)
            try stream.write(PieceHeader(index: UInt32(index), hash: hash).frameStart(length: piece.count) + piece)
            if isSigned(index) {
                let checkpoint = Checkpoint(index: index, signature: key.sign(chain.checkpoint))
                try stream.write(encodeFrame(kind: DataFrame.checkpoint.rawValue, payload: checkpoint.payload()))
            }
            try stream.flushAll()
        }
        let end = StreamEnd(index: chain.index, changed: [], signature: key.sign(chain.end(changed: [])))
        try stream.write(encodeFrame(kind: DataFrame.end.rawValue, payload: end.payload()))
        try stream.flushAll()
        _ = try? stream.readAll(1)
    }
}
