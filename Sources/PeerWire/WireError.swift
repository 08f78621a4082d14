/// Why bytes from a peer cannot be read.
///
/// Each case ends the connection, or makes the signed thing they were part of invalid.
package enum WireError: Error, Equatable, Sendable {
    /// A frame announced more than the decoder's `maximumPayload`; gives the announced length.
    case payloadTooLarge(Int)
    /// A frame of a known kind whose payload is not what `WIRE.md` says.
    case malformed(kind: UInt8)
    /// The bytes end too early.
    case truncated
    /// A binary layout with a wrong value: another context, a number out of range, text that is not UTF-8, bytes too many.
    case badLayout
}
