// SPDX-License-Identifier: Apache-2.0
#include "net/test_server/certs.h"

#include <cstdio>
#include <cstdlib>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "tls/openssl_ptr.h"

namespace paddle::net {
namespace {

template <typename T>
T* must(T* made) {
  if (!made) {
    std::fputs("OpenSSL cannot make a certificate\n", stderr);
    std::abort();
  }
  return made;
}
void must(int ok) { must(ok == 1 ? "" : nullptr); }

using tls::BioPtr;
using tls::CertificatePtr;
using tls::KeyPtr;

std::string pem(X509* cert) {
  const BioPtr bio(must(tls::memory_writer().release()));
  must(PEM_write_bio_X509(bio.get(), cert));
  return tls::text_of(bio.get());
}

std::string pem(EVP_PKEY* key) {
  const BioPtr bio(must(tls::memory_writer().release()));
  must(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr));
  return tls::text_of(bio.get());
}

BioPtr reading(const std::string& text) { return BioPtr(must(tls::memory_reader(text).release())); }

void name_it(X509_NAME* name, const char* field, const std::string& value) {
  must(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                  0));
}

void extend(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  const tls::ExtensionPtr extension(
      must(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())));
  must(X509_add_ext(cert, extension.get(), -1));
}

CertificatePtr blank(EVP_PKEY* key, long from, long to) {
  CertificatePtr cert(must(X509_new()));
  must(X509_set_version(cert.get(), 2));
  std::uint64_t serial = 0;
  must(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial));
  must(ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert.get()), serial >> 1));
  must(X509_gmtime_adj(X509_getm_notBefore(cert.get()), from));
  must(X509_gmtime_adj(X509_getm_notAfter(cert.get()), to));
  must(X509_set_pubkey(cert.get(), key));
  return cert;
}

}  // namespace

Pair make_ca(const std::string& name) {
  const KeyPtr key(must(EVP_EC_gen("P-256")));
  const CertificatePtr cert = blank(key.get(), -7200, 7200);
  name_it(X509_get_subject_name(cert.get()), "CN", name);
  must(X509_set_issuer_name(cert.get(), X509_get_subject_name(cert.get())));
  extend(cert.get(), cert.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(cert.get(), cert.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(cert.get(), cert.get(), NID_subject_key_identifier, "hash");
  must(X509_sign(cert.get(), key.get(), EVP_sha256()) > 0 ? 1 : 0);
  return {pem(cert.get()), pem(key.get())};
}

Pair make_leaf(const Pair& ca, const Leaf& leaf) {
  const CertificatePtr issuer(
      must(PEM_read_bio_X509(reading(ca.cert).get(), nullptr, nullptr, nullptr)));
  const KeyPtr issuer_key(
      must(PEM_read_bio_PrivateKey(reading(ca.key).get(), nullptr, nullptr, nullptr)));
  const KeyPtr key(must(EVP_EC_gen("P-256")));
  const CertificatePtr cert = blank(key.get(), leaf.valid_from, leaf.valid_to);
  X509_NAME* subject = X509_get_subject_name(cert.get());
  for (const auto& organization : leaf.organizations) name_it(subject, "O", organization);
  name_it(subject, "CN", leaf.common_name);
  must(X509_set_issuer_name(cert.get(), X509_get_subject_name(issuer.get())));
  extend(cert.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  extend(cert.get(), issuer.get(), NID_ext_key_usage, leaf.client ? "clientAuth" : "serverAuth");
  if (!leaf.client) extend(cert.get(), issuer.get(), NID_subject_alt_name, leaf.san);
  must(X509_sign(cert.get(), issuer_key.get(), EVP_sha256()) > 0 ? 1 : 0);
  return {pem(cert.get()), pem(key.get())};
}

}  // namespace paddle::net
