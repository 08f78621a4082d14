internal import COpenSSL
package import PeerModel

/// Why bytes are not a usable key.
package enum KeyError: Error, Equatable, Sendable {
    case unreadable
    /// Another algorithm than Ed25519.
    case notEd25519
}

/// An Ed25519 private key (RFC 8032), held as its 32-byte seed.
package struct SigningKey: Sendable {
    private let seed: [UInt8]
    package let publicKey: PublicKey

    package static func generate() -> SigningKey {
        var pkey: OpaquePointer?
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer {
            EVP_PKEY_CTX_free(context)
            EVP_PKEY_free(pkey)
        }
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &pkey) == 1,
            let key = pkey.flatMap(SigningKey.init(copying:))
        else { preconditionFailure("OpenSSL without Ed25519 or without randomness") }
        return key
    }

    /// Reads a PKCS#8 PEM as `pem()` writes it.
    package init(pem: [UInt8]) throws(KeyError) {
        let key: Result<SigningKey, KeyError> = pem.withUnsafeBytes { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count))
            defer { BIO_free(bio) }
            // An empty passphrase, so that an encrypted key is an error and never asks at the terminal.
            let pkey = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
            ERR_clear_error()
            guard let pkey else { return .failure(.unreadable) }
            defer { EVP_PKEY_free(pkey) }
            guard EVP_PKEY_get_id(pkey) == EVP_PKEY_ED25519, let key = SigningKey(copying: pkey) else {
                return .failure(.notEd25519)
            }
            return .success(key)
        }
        self = try key.get()
    }

    private init?(copying pkey: OpaquePointer) {
        var seed = [UInt8](repeating: 0, count: 32), size = 32
        guard EVP_PKEY_get_raw_private_key(pkey, &seed, &size) == 1, size == 32 else { return nil }
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(pkey, &der)
        guard length > 0, let der else { return nil }
        defer { CRYPTO_free(der, #file, #line) }
        guard let key = PublicKey(spki: Array(UnsafeBufferPointer(start: der, count: Int(length)))) else { return nil }
        self.seed = seed
        publicKey = key
    }

    /// The key as PKCS#8 in PEM, not encrypted: the file's mode protects it.
    package func pem() -> [UInt8] {
        withKey { pkey in
            let bio = BIO_new(BIO_s_mem())
            defer { BIO_free(bio) }
            PEM_write_bio_PKCS8PrivateKey(bio, pkey, nil, nil, 0, nil, nil)
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = BIO_read(bio, &bytes, CInt(bytes.count))
            return Array(bytes.prefix(Int(max(count, 0))))
        }
    }

    /// A signature of 64 bytes; the same for the same bytes.
    package func sign(_ bytes: [UInt8]) -> [UInt8] {
        withKey { pkey in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var signature = [UInt8](repeating: 0, count: 64), size = 64
            guard EVP_DigestSignInit(context, nil, nil, nil, pkey) == 1,
                EVP_DigestSign(context, &signature, &size, bytes, bytes.count) == 1, size == 64
            else { preconditionFailure("Ed25519 signs any bytes; only memory can be missing") }
            return signature
        }
    }

    /// Lends OpenSSL's form of the key.
    func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        guard let pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
            preconditionFailure("a seed of 32 bytes is a key; only memory can be missing")
        }
        defer { EVP_PKEY_free(pkey) }
        return body(pkey)
    }
}

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
