#ifndef PEERCONNECT_COPENSSL_SHIM_H
#define PEERCONNECT_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// Macros and variadic calls, which Swift cannot use.

static inline void pc_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void pc_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline int pc_ctx_tls13_only(SSL_CTX *ctx) {
    return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) && SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION);
}
static inline int pc_ctx_set_groups(SSL_CTX *ctx, const char *list) { return (int)SSL_CTX_set1_groups_list(ctx, list); }
static inline int pc_ctx_set_sigalgs(SSL_CTX *ctx, const char *list) { return (int)SSL_CTX_set1_sigalgs_list(ctx, list); }
static inline void pc_ctx_harden(SSL_CTX *ctx) {
    // The listener's cipher order holds, unless ChaCha20 is the dialler's first: then one side at least lacks AES.
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_cert_list(ctx, 4096);  // one certificate of an Ed25519 key has about 300 bytes
}
static inline int pc_cpu_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("aes") != 0;
#else
    return 1;  // ARMv8 without it is rare, and then only slower
#endif
}

#endif
