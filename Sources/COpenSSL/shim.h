#ifndef PEERCONNECT_COPENSSL_SHIM_H
#define PEERCONNECT_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#endif
