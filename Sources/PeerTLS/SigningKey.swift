internal import COpenSSL

/// Why bytes are not a usable key.
package enum KeyError: Error, Equatable, Sendable {
    /// No key in PEM, damaged, or encrypted.
    case unreadable
    /// Another algorithm than Ed25519.
    case notEd25519
}

/// An Ed25519 private key (RFC 8032), held as its 32-byte seed.
package struct SigningKey: Sendable {
    private let seed: [UInt8]
    /// The half that others may see.
    package let publicKey: PublicKey

    /// A new key from OpenSSL's random numbers.
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
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count)) else {
                return .failure(.unreadable)
            }
            defer { BIO_free(bio) }
            // Gives no passphrase, so that an encrypted key is an error and never asks at the terminal.
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
