internal import COpenSSL

/// Why a TLS connection cannot go on.
package enum TLSError: Error, Equatable, Sendable {
    /// What OpenSSL says, in its words; for logs.
    case failed(String)
    /// The other side shows no Ed25519 key, or speaks for no known plane.
    case unusable
}

/// One TLS 1.3 connection as bytes in, bytes out; no socket, no thread.
///
/// Received bytes go in through `fill`, bytes to send are taken with `drain`: also after `read`, which may have
/// something to answer, and after a failure, which may have an alert to tell. It may be handed from one thread to another.
package struct TLSEngine: ~Copyable, Sendable {
    /// Which end this is.
    package enum Side: Sendable {
        /// Takes either plane.
        case listener
        /// Asks for one plane, and takes no other.
        case dialler(Plane)
    }

    // Both are owned here and freed once. The pointers are only followed by methods that need exclusive access or a thread that
    // owns the value.
    private nonisolated(unsafe) let ssl: OpaquePointer  // owned by this noncopyable value alone, see above
    private let buffers: Buffers
    private let context: TLSContext
    private let wantedPlane: Plane?

    /// The most that the other side may make this one answer before the answers are taken with `drain`.
    private static let maximumAnswers = 64 << 10

    /// A connection before its handshake.
    package init(_ context: TLSContext, side: Side) {
        guard let ssl = SSL_new(context.raw), let bio = BIO_new(Buffers.method) else {
            preconditionFailure("out of memory")
        }
        self.context = context
        self.ssl = ssl
        buffers = Buffers()
        BIO_set_data(bio, Unmanaged.passUnretained(buffers).toOpaque())  // `buffers` lives as long as `ssl`
        BIO_set_init(bio, 1)
        SSL_set_bio(ssl, bio, bio)
        switch side {
        case .listener:
            wantedPlane = nil
            SSL_set_accept_state(ssl)
        case .dialler(let plane):
            wantedPlane = plane
            SSL_set_connect_state(ssl)
            let name = plane.wireName
            SSL_set_alpn_protos(ssl, name, UInt32(name.count))
        }
    }

    deinit { SSL_free(ssl) }

    // MARK: Network side

    /// Takes received bytes: `receive` writes them to the buffer it is given and returns how many; they must be used up by
    /// `handshake` or `read` before the next call.
    package mutating func fill<Failure: Error>(
        _ receive: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        try buffers.fill(receive)
    }

    /// Bytes received and not yet looked at.
    package var pendingInput: Int { buffers.inputCount }

    /// Bytes that wait to be sent.
    package var pendingOutput: Int { buffers.outputCount }

    /// Lends the bytes to send; `send` returns how many of them went out.
    package mutating func drain<Failure: Error>(
        _ send: (UnsafeRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        try buffers.drain(send)
    }

    // MARK: Program side

    /// Goes on with the handshake: true when it is done, false when more must be received first.
    ///
    /// A dialler is done before the listener has judged its certificate: only the first bytes read prove that it was taken.
    package mutating func handshake() throws(TLSError) -> Bool {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            guard peerKey != nil, let plane, plane == wantedPlane ?? plane else { throw .unusable }
            return true
        }
        guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else { throw Self.failure() }
        return false
    }

    /// Reads decrypted bytes: `nil` when more must be received first, 0 when the other side has ended the stream.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> Int? {
        ERR_clear_error()
        var count = 0
        let waiting = buffers.outputCount
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        let outcome = SSL_get_error(ssl, result)
        buffers.answered += buffers.outputCount - waiting
        // A key update may ask for one in return (RFC 8446, section 4.6.3); whoever asks without end never takes the answers.
        guard buffers.answered <= Self.maximumAnswers else { throw .failed("too many answers asked for") }
        switch outcome {
        case SSL_ERROR_NONE: return count
        case SSL_ERROR_WANT_READ: return nil
        case SSL_ERROR_ZERO_RETURN: return 0
        default: throw Self.failure()
        }
    }

    /// Encrypts all these bytes into the output.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) {
        guard bytes.count > 0 else { return }
        ERR_clear_error()
        var count = 0
        // The output takes everything, so that a record is never half written.
        guard SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count) == 1 else { throw Self.failure() }
    }

    /// Encrypts with a new key from here on (RFC 8446, section 4.6.3); the other side follows by itself.
    package mutating func updateKey() throws(TLSError) {
        ERR_clear_error()
        // Queued here, sent with the next bytes that are written.
        guard SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else { throw Self.failure() }
    }

    /// Queues the end of the stream; nothing during the handshake, where TLS has no such word.
    package mutating func close() {
        _ = SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// The other side's key, proved once the handshake is done.
    package var peerKey: PublicKey? {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return nil }
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der)
        guard length > 0, let der else { return nil }
        defer { CRYPTO_free(der, #file, #line) }
        return PublicKey(spki: Array(UnsafeBufferPointer(start: der, count: Int(length))))
    }

    /// What the connection is for, once the handshake is done.
    package var plane: Plane? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name else { return nil }
        return Plane(rawValue: String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self))
    }

    private static func failure() -> TLSError {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return .failed("the stream broke off") }
        return .failed(String(cString: text))
    }
}
