internal import COpenSSL

/// A key that is slow to derive (RFC 8018, 5.2), so that guessing what it was derived from is slow too.
package enum PBKDF2 {
    /// With HMAC-SHA-256; takes about 100 ms for 2^17 rounds, so it is for a thread of its own.
    package static func derive(from password: [UInt8], salt: [UInt8], rounds: Int, count: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        let isDone = password.withUnsafeBytes { password in
            PKCS5_PBKDF2_HMAC(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(clamping: password.count), salt,
                CInt(clamping: salt.count), CInt(clamping: rounds), EVP_sha256(), CInt(clamping: count), &result)
        }
        guard isDone == 1 else { preconditionFailure("HMAC-SHA-256 is always there; only memory can be missing") }
        return result
    }
}
