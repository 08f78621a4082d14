/// Bytes with their author's Ed25519 signature; they travel exactly as they were signed.
///
/// Having one says nothing about who signed it: whoever takes it checks it.
package struct SignedBytes: Hashable, Sendable {
    /// Bytes of a signature, RFC 8032.
    package static let signatureSize = 64

    /// A `Join` or a `Statement`, by where it stands.
    package let bytes: [UInt8]
    /// Always 64 bytes.
    package let signature: [UInt8]

    /// Joins the two; a signature of another size is a bug of the caller, who just made it or has checked it.
    package init(bytes: [UInt8], signature: [UInt8]) {
        precondition(signature.count == Self.signatureSize, "an Ed25519 signature has 64 bytes")
        self.bytes = bytes
        self.signature = signature
    }
}
