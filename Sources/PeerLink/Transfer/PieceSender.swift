internal import PeerModel
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// Serves pieces to one neighbour, from the one it asked for to the end, as fast as they are there and as it takes them.
struct PieceSender {
    /// What is encrypted and sent at once: it stays in the processor's cache, and several records share one call.
    private static let block = 64 << 10

    let store: any PieceReading
    let ledger: PieceLedger
    var bytesPerKey = Limits.dataPerKey

    /// Runs until the neighbour has everything; a source that failed ends it early.
    func run(_ stream: inout TLSStream, from piece: UInt64) throws(StreamError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block, alignment: 4096)
        defer { buffer.deallocate() }
        let pieces = ledger.pieces
        // Hashing goes on from there, also when the neighbour has the start already.
        ledger.served(piece)
        var next = piece + 1, sinceKey: UInt64 = 0
        while next <= pieces {
            if sinceKey >= bytesPerKey {
                try stream.updateKey()
                sinceKey = 0
            }
            guard case .piece(let hash) = try wait(&stream, { ledger.hash(of: next, seconds: $0) }) else { return }
            try send(next, hash, &stream, buffer)
            if PieceLedger.isCheckpoint(next, of: pieces) {
                let behind = next
                guard
                    case .checkpoint(let signature) = try wait(
                        &stream, { ledger.checkpoint(behind: behind, seconds: $0) })
                else { return }
                try stream.write(
                    encodeFrame(
                        kind: DataFrame.checkpoint.rawValue,
                        payload: Checkpoint(index: next, signature: signature).payload()))
            }
            ledger.served(next)
            sinceKey += UInt64(Limits.pieceSize)
            next += 1
        }
        guard case .end(let end) = try wait(&stream, { ledger.end(seconds: $0) }) else { return }
        try stream.write(encodeFrame(kind: DataFrame.end.rawValue, payload: end.payload()))
        stream.tls.close()
        try stream.flushAll()
        // The receiver closes when it has read the end; to close first could destroy what is still on its way.
        _ = try? stream.readAll(1)
    }

    /// Waits for the ledger, and shows every 10 s that this side is alive.
    private func wait(
        _ stream: inout TLSStream, _ next: (Double) -> PieceLedger.Next?
    ) throws(StreamError) -> PieceLedger.Next {
        if let ready = next(0) { return ready }
        try stream.flushAll()
        while true {
            if let ready = next(Limits.dataKeepalive) { return ready }
            try stream.write(encodeFrame(kind: DataFrame.idle.rawValue, payload: []))
            try stream.flushAll()
        }
    }

    private func send(
        _ piece: UInt64, _ hash: [UInt8], _ stream: inout TLSStream, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(StreamError) {
        let range = ledger.range(of: piece)
        guard let digest = Digest(hash) else { return }
        let header = PieceHeader(index: UInt32(clamping: piece), hash: digest)
        try stream.write(header.frameStart(length: range.count))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = min(UInt64(Self.block), range.upperBound - offset)
            let block = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)])
            do throws(TransferFailure) {
                try store.read(at: offset, into: block)
            } catch {
                ledger.fail(error.reason)
                throw .ended
            }
            try stream.write(UnsafeRawBufferPointer(block))
            try stream.flushAll()
            offset += count
        }
    }
}
