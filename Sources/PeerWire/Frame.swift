/// What precedes every payload: its length, the kind, and three bytes that version 1 leaves 0 and ignores.
package struct FrameHeader: Equatable, Sendable {
    /// Bytes on the wire.
    package static let size = 8

    /// What the payload is; control and data connections count their kinds apart.
    package let kind: UInt8
    /// Bytes of payload behind the header: foreign until compared with a limit.
    package let length: Int

    /// A header to be sent; a length that 4 bytes cannot hold is a bug of the caller.
    package init(kind: UInt8, length: Int) {
        precondition(length >= 0 && length <= UInt32.max, "no payload of ours comes near 4 GiB")
        self.kind = kind
        self.length = length
    }

    /// Reads the first 8 of `bytes`; throws `truncated` if there are fewer.
    package init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        length = Int(try reader.number(UInt32.self))
        kind = try reader.number(UInt8.self)
        _ = try reader.bytes(3)
    }

    /// Adds the 8 bytes to `buffer`.
    package func encode(into buffer: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(length).bigEndian) { buffer.append(contentsOf: $0) }
        buffer.append(contentsOf: [kind, 0, 0, 0])
    }
}

/// One frame as it was cut out of the stream; the payload is not looked at yet.
package struct RawFrame: Equatable, Sendable {
    /// What the payload is.
    package var kind: UInt8
    /// As received, within the decoder's limit.
    package var payload: [UInt8]

    package init(kind: UInt8, payload: [UInt8]) {
        self.kind = kind
        self.payload = payload
    }
}

/// A whole frame: header and payload.
package func encodeFrame(kind: UInt8, payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(FrameHeader.size + payload.count)
    FrameHeader(kind: kind, length: payload.count).encode(into: &frame)
    frame.append(contentsOf: payload)
    return frame
}
