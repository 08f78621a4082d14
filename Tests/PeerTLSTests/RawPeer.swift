import COpenSSL

/// The other end as a stranger may build it: OpenSSL straight, with any settings.
final class RawPeer {
    struct Settings {
        var protocols = ["peerconnect"]
        /// As a listener: the protocol it chooses, offered or not.
        var chosen: String?
        var keyPEM: String? = SigningKeyTests.pem
        var version = TLS1_3_VERSION
        var ciphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
        /// How often the certificate is sent as its own chain.
        var chainLength = 0
        var tickets = 0
    }

    private let context = SSL_CTX_new(TLS_method())
    private let ssl: OpaquePointer?
    private var chosen: [UInt8]

    init(listening: Bool, _ settings: Settings = Settings()) {
        chosen = Self.list([settings.chosen].compactMap { $0 })
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(settings.version), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(settings.version), nil)
        SSL_CTX_set_ciphersuites(context, settings.ciphers)
        SSL_CTX_set_num_tickets(context, settings.tickets)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
        if let pem = settings.keyPEM { Self.use(pem, chainLength: settings.chainLength, in: context) }
        ssl = SSL_new(context)
        SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        if listening {
            SSL_set_accept_state(ssl)
            guard settings.chosen != nil else { return }
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, out, length, _, _, raw in
                    guard let raw else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                    let peer = Unmanaged<RawPeer>.fromOpaque(raw).takeUnretainedValue()
                    peer.chosen.withUnsafeBufferPointer { out?.pointee = $0.baseAddress.map { $0 + 1 } }
                    length?.pointee = UInt8(peer.chosen.count - 1)
                    return SSL_TLSEXT_ERR_OK
                }, Unmanaged.passUnretained(self).toOpaque())  // freed with the context, by `deinit`
        } else {
            SSL_set_connect_state(ssl)
            let list = Self.list(settings.protocols)
            if !list.isEmpty { SSL_set_alpn_protos(ssl, list, UInt32(list.count)) }
        }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    var cipher: String { String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))) }

    /// Takes bytes of the network, goes on with the handshake, and gives what it wants to send.
    func exchange(_ bytes: [UInt8]) -> [UInt8] {
        receive(bytes)
        SSL_do_handshake(ssl)
        return output()
    }

    func write(_ bytes: [UInt8]) -> [UInt8] {
        SSL_write(ssl, bytes, CInt(bytes.count))
        return output()
    }

    /// The decrypted bytes that are there.
    func read(_ bytes: [UInt8]) -> [UInt8] {
        receive(bytes)
        var result: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 20_000)
        while true {
            let count = SSL_read(ssl, &buffer, CInt(buffer.count))
            guard count > 0 else { return result }
            result += buffer.prefix(Int(count))
        }
    }

    /// A key update that asks for one in return.
    func updateKeys() -> [UInt8] {
        SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
        SSL_do_handshake(ssl)
        return output()
    }

    private func receive(_ bytes: [UInt8]) {
        ERR_clear_error()
        if !bytes.isEmpty { BIO_write(SSL_get_rbio(ssl), bytes, CInt(bytes.count)) }
    }

    private func output() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(SSL_get_wbio(ssl))))
        if !bytes.isEmpty { BIO_read(SSL_get_wbio(ssl), &bytes, CInt(bytes.count)) }
        return bytes
    }

    private static func list(_ names: [String]) -> [UInt8] { names.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } }

    private static func use(_ pem: String, chainLength: Int, in context: OpaquePointer?) {
        let bio = BIO_new(BIO_s_mem())
        BIO_write(bio, pem, CInt(pem.utf8.count))
        let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil), certificate = X509_new()
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -200_000)
        X509_gmtime_adj(X509_getm_notAfter(certificate), -100_000)  // expired: nobody is to look
        X509_set_pubkey(certificate, key)
        X509_sign(certificate, key, EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 ? nil : EVP_sha256())
        SSL_CTX_use_certificate(context, certificate)
        SSL_CTX_use_PrivateKey(context, key)
        for _ in 0..<chainLength {
            X509_up_ref(certificate)
            SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(certificate))
        }
        X509_free(certificate)
        EVP_PKEY_free(key)
        BIO_free(bio)
    }
}
