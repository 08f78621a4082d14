internal import PeerModel

/// Cuts the bytes of one connection into frames.
///
/// Give it what was received with `append`, then call `next` until it is `nil`. After an error the connection is over.
package struct FrameDecoder: Sendable {
    /// The longest payload let through, bytes: `Limits.firstPayload` at first, more once the peer is known.
    package var maximumPayload: Int
    private var buffer: [UInt8] = []
    private var consumed = 0  // bytes of `buffer` already turned into frames

    /// A decoder at the start of a connection.
    package init(maximumPayload: Int = Limits.firstPayload) { self.maximumPayload = maximumPayload }

    /// Keeps `bytes` until a frame is complete.
    package mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

    /// Keeps `bytes` until a frame is complete.
    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        if consumed == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            consumed = 0
        } else if consumed > buffer.count / 2 {  // seldom enough that the moves stay linear in total
            buffer.removeFirst(consumed)
            consumed = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame, or `nil` when more bytes are needed; throws `payloadTooLarge` from the header on.
    package mutating func next() throws(WireError) -> RawFrame? {
        guard buffer.count - consumed >= FrameHeader.size else { return nil }
        let start = consumed + FrameHeader.size
        let header = try FrameHeader(parsing: Array(buffer[consumed..<start]))
        guard header.length <= maximumPayload else { throw .payloadTooLarge(header.length) }
        guard buffer.count - start >= header.length else { return nil }
        consumed = start + header.length
        return RawFrame(kind: header.kind, payload: Array(buffer[start..<consumed]))
    }

    /// What was received behind the last frame, for a connection whose reading goes on elsewhere; empties the decoder.
    package mutating func takeRest() -> [UInt8] {
        defer {
            buffer = []
            consumed = 0
        }
        return Array(buffer[consumed...])
    }

    /// At the end of the stream: half a frame is `truncated`, nothing left is fine.
    package func finish() throws(WireError) {
        guard buffer.count == consumed else { throw .truncated }
    }
}
