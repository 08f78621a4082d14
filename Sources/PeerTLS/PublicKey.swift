internal import COpenSSL
package import PeerModel

/// An Ed25519 public key in SubjectPublicKeyInfo form (RFC 8410): what a peer ID is the hash of.
package struct PublicKey: Hashable, Sendable {
    /// DER of every Ed25519 key before its 32 bytes: SEQUENCE, AlgorithmIdentifier 1.3.101.112, BIT STRING.
    private static let prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]

    /// 44 bytes.
    package let spki: [UInt8]

    /// `nil` for anything but an Ed25519 key in this one form.
    package init?(spki: [UInt8]) {
        guard spki.count == 44, spki.starts(with: Self.prefix) else { return nil }
        self.spki = spki
    }

    /// The ID that whoever owns this key can prove.
    package var peerID: PeerID { PeerID(SHA256.hash(spki)) }

    /// Whether the signature was made over these bytes by this key's owner.
    package func isValid(signature: [UInt8], for bytes: [UInt8]) -> Bool {
        let raw = Array(spki.dropFirst(Self.prefix.count))
        guard signature.count == 64, let pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw, raw.count)
        else { return false }
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(pkey)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, nil, nil, pkey) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}
