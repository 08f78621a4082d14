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
    /// For own files, which may change under the hands of who sends them.
    var own: OwnFiles?
    var bytesPerKey = Limits.dataPerKey
    /// Told here first when the bytes cannot be had any more.
    var failed: @Sendable (TransferReason) -> Void = { _ in }

    /// Runs until the neighbour has everything; a source that failed ends it early.
    func run(_ stream: inout TLSStream, from piece: UInt64) throws(StreamError) {
        if try serve(&stream, from: piece) {
            stream.tls.close()
            try stream.flushAll()
        } else if own != nil, let reason = ledger.state.read({ $0.failure }) {
            failed(reason)
        }
        // The receiver closes when it has read the end, or has heard why there is none; to close first could destroy what is
        // still on its way, or be heard before the reason.
        _ = try? stream.readAll(1)
    }

    /// False when the bytes cannot be had any more.
    private func serve(_ stream: inout TLSStream, from piece: UInt64) throws(StreamError) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block, alignment: 4096)
        defer { buffer.deallocate() }
        let pieces = ledger.pieces
        // Hashing goes on from there, also when the neighbour has the start already.
        ledger.served(piece)
        var next = piece + 1, sinceKey: UInt64 = 0, spoiled: Set<Int> = []
        while next <= pieces {
            if sinceKey >= bytesPerKey {
                try stream.updateKey()
                sinceKey = 0
            }
            let index = next
            guard case .piece(let hash) = try wait(&stream, { ledger.hash(of: index, seconds: $0) }),
                let digest = Digest(hash), try send(index, digest, &stream, buffer, &spoiled)
            else { return false }
            if PieceLedger.isCheckpoint(index, of: pieces) {
                guard
                    case .checkpoint(let signature) = try wait(
                        &stream, { ledger.checkpoint(behind: index, seconds: $0) })
                else { return false }
                let checkpoint = Checkpoint(index: index, signature: signature)
                try stream.write(encodeFrame(kind: DataFrame.checkpoint.rawValue, payload: checkpoint.payload()))
            }
            ledger.served(index)
            sinceKey += UInt64(Limits.pieceSize)
            next += 1
        }
        guard let end = try end(&stream, spoiled) else { return false }
        try stream.write(encodeFrame(kind: DataFrame.end.rawValue, payload: end.payload()))
        return true
    }

    private func end(_ stream: inout TLSStream, _ spoiled: Set<Int>) throws(StreamError) -> StreamEnd? {
        guard let own else {
            guard case .end(let end) = try wait(&stream, { ledger.end(seconds: $0) }) else { return nil }
            return end
        }
        guard case .hashed(let hashed) = try wait(&stream, { ledger.hashed(seconds: $0) }) else { return nil }
        guard let end = own.end(hashed, spoiled: spoiled) else {
            ledger.fail(.changed)
            return nil
        }
        return end
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

    // MARK: One piece

    /// Sends a piece; false when there is no use in going on.
    ///
    /// Bytes that are not those that were hashed make the files they belong to `spoiled`.
    private func send(
        _ piece: UInt64, _ hash: Digest, _ stream: inout TLSStream, _ buffer: UnsafeMutableRawBufferPointer,
        _ spoiled: inout Set<Int>
    ) throws(StreamError) -> Bool {
        let range = ledger.range(of: piece)
        // Hashing costs more than all the rest, so what is sent is hashed again only when there is a reason. A piece of one
        // file goes out while it is read; one of several is looked at first, or one that changed would take the others along.
        if let own {
            let files = own.source.files(in: range)
            if files.count > 1 || own.source.isSuspected(files) {
                return try sendChecked(piece, hash, &stream, &spoiled)
            }
        }
        try stream.write(PieceHeader(index: UInt32(clamping: piece), hash: hash).frameStart(length: range.count))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = min(UInt64(Self.block), range.upperBound - offset)
            let block = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)])
            guard read(at: offset, into: block) else { return false }
            offset += count
            // If so, some of what was read may be new.
            if offset == range.upperBound, let own, own.source.hasChanged(in: range), !spoil(range, &spoiled) {
                return false
            }
            try stream.write(UnsafeRawBufferPointer(block))
            try stream.flushAll()
        }
        return true
    }

    /// Sends a piece once all of it was read; that of a changed file may still be what it was, as when the file only grew.
    private func sendChecked(
        _ piece: UInt64, _ hash: Digest, _ stream: inout TLSStream, _ spoiled: inout Set<Int>
    ) throws(StreamError) -> Bool {
        let range = ledger.range(of: piece)
        let whole = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 4096)
        defer { whole.deallocate() }
        guard read(at: range.lowerBound, into: whole) else { return false }
        if let own, own.source.hasChanged(in: range), SHA256.hash(UnsafeRawBufferPointer(whole)) != hash,
            !spoil(range, &spoiled)
        {
            return false
        }
        try stream.write(PieceHeader(index: UInt32(clamping: piece), hash: hash).frameStart(length: range.count))
        try stream.write(UnsafeRawBufferPointer(whole))
        try stream.flushAll()
        return true
    }

    /// The neighbour cannot have these bytes as they were signed; false when that ends the transfer.
    private func spoil(_ range: Range<UInt64>, _ spoiled: inout Set<Int>) -> Bool {
        guard let own, own.source.fileCount > 1 else {
            ledger.fail(.changed)
            return false
        }
        spoiled.formUnion(own.source.files(in: range))
        return true
    }

    private func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        do throws(TransferFailure) {
            try store.read(at: offset, into: buffer)
            return true
        } catch {
            ledger.fail(error.reason)
            if own == nil { failed(error.reason) }  // of own files it is told where the stream ends
            return false
        }
    }
}
