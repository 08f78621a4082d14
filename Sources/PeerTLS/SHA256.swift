internal import COpenSSL
package import PeerModel

/// SHA-256 (FIPS 180-4), at once or piece by piece.
package struct SHA256: ~Copyable {
    // OpenSSL's context; owned here and freed once.
    private let context: OpaquePointer

    /// Begins a hash of no bytes yet.
    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("SHA-256 is always there; only memory can be missing")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes; the pieces may be cut anywhere.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// Adds bytes; the pieces may be cut anywhere.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The hash of all bytes added.
    package consuming func finish() -> Digest {
        var bytes = [UInt8](repeating: 0, count: Digest.size)
        EVP_DigestFinal_ex(context, &bytes, nil)
        return Self.digest(bytes)
    }

    /// The hash of all these bytes.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var result = [UInt8](repeating: 0, count: Digest.size)
        EVP_Digest(bytes.baseAddress, bytes.count, &result, nil, EVP_sha256(), nil)
        return digest(result)
    }

    /// The hash of all these bytes.
    package static func hash(_ bytes: [UInt8]) -> Digest { bytes.withUnsafeBytes { hash($0) } }

    private static func digest(_ bytes: [UInt8]) -> Digest {
        guard let digest = Digest(bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
        return digest
    }
}
