internal import COpenSSL

/// What a connection is for, told by ALPN (RFC 7301) in the handshake.
package enum Plane: String, Sendable, CaseIterable {
    /// Everything of a chat but file bytes.
    case control = "peerconnect"
    /// The bytes of one transfer.
    case data = "peerconnect-data"

    /// The name with its length in front, as ALPN lists it.
    var wireName: [UInt8] { [UInt8(rawValue.utf8.count)] + rawValue.utf8 }
}

/// Settings and certificate shared by all connections of one identity.
package final class TLSContext: Sendable {
    // SSL_CTX is reference counted and locked inside (SSL_CTX_up_ref(3)); it is not changed after `init`, so that any thread
    // may make connections of it.
    nonisolated(unsafe) let raw: OpaquePointer  // immutable after init, see above

    /// Makes the settings and a certificate for this key; only missing memory or an OpenSSL without Ed25519 ends the program.
    package init(key: SigningKey) {
        let aes = "TLS_AES_128_GCM_SHA256", chacha = "TLS_CHACHA20_POLY1305_SHA256"
        guard let raw = SSL_CTX_new(TLS_method()), pc_ctx_tls13_only(raw) == 1,
            SSL_CTX_set_ciphersuites(raw, pc_cpu_has_aes() == 1 ? "\(aes):\(chacha)" : "\(chacha):\(aes)") == 1,
            pc_ctx_set_groups(raw, "X25519") == 1, pc_ctx_set_sigalgs(raw, "ed25519") == 1
        else { preconditionFailure("OpenSSL without TLS 1.3, X25519 or Ed25519") }
        self.raw = raw
        SSL_CTX_set_num_tickets(raw, 0)
        pc_ctx_harden(raw)
        // Both sides show a certificate; whose it is decides its key, which the caller compares. So no chain is built from what a
        // stranger sent.
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(raw, { _, _ in 1 }, nil)
        SSL_CTX_set_alpn_select_cb(raw, TLSContext.selectPlane, nil)
        key.withKey { pkey in
            let certificate = TLSContext.certificate(for: pkey)
            defer { X509_free(certificate) }
            guard SSL_CTX_use_certificate(raw, certificate) == 1, SSL_CTX_use_PrivateKey(raw, pkey) == 1 else {
                preconditionFailure("a certificate fits the key it was made of")
            }
        }
        ERR_clear_error()
    }

    deinit { SSL_CTX_free(raw) }

    /// Takes the first plane that the dialler lists and this build knows; without one the handshake fails.
    private static let selectPlane: SSL_CTX_alpn_select_cb_func = { _, out, outLength, list, length, _ in
        guard let list, let out, let outLength else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        var start = 0
        while start < Int(length) {
            let size = Int(list[start])
            guard start + 1 + size <= Int(length) else { break }
            let name = UnsafeBufferPointer(start: list + start + 1, count: size)
            if Plane.allCases.contains(where: { $0.rawValue.utf8.elementsEqual(name) }) {
                out.pointee = list + start + 1
                outLength.pointee = UInt8(size)
                return SSL_TLSEXT_ERR_OK
            }
            start += 1 + size
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// Self-signed and valid for ever: nobody looks at the dates (RFC 5280, section 4.1.2.5 has this last date).
    private static func certificate(for pkey: OpaquePointer) -> OpaquePointer? {
        let certificate = X509_new()
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        ASN1_TIME_set_string(X509_getm_notBefore(certificate), "19700101000000Z")
        ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z")
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "peerconnect", -1, -1, 0)
        X509_set_issuer_name(certificate, name)
        X509_set_pubkey(certificate, pkey)
        X509_sign(certificate, pkey, nil)
        return certificate
    }
}
