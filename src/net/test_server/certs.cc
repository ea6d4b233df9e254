// SPDX-License-Identifier: Apache-2.0
#include "net/test_server/certs.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace paddle::net {
namespace {

template <typename T>
T* must(T* made) {
  if (!made) {
    std::fputs("OpenSSL can not make a certificate\n", stderr);
    std::abort();
  }
  return made;
}
void must(int ok) { must(ok == 1 ? "" : nullptr); }

template <auto Free>
struct With {
  template <typename T>
  void operator()(T* made) const {
    Free(made);
  }
};
using Key = std::unique_ptr<EVP_PKEY, With<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, With<X509_free>>;
using Memory = std::unique_ptr<BIO, With<BIO_vfree>>;

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string pem(X509* cert) {
  const Memory bio(must(BIO_new(BIO_s_mem())));
  must(PEM_write_bio_X509(bio.get(), cert));
  return text_of(bio.get());
}

std::string pem(EVP_PKEY* key) {
  const Memory bio(must(BIO_new(BIO_s_mem())));
  must(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr));
  return text_of(bio.get());
}

Memory reading(const std::string& text) {
  return Memory(must(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))));
}

void name_it(X509_NAME* name, const char* field, const std::string& value) {
  must(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                  0));
}

void extend(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, With<X509_EXTENSION_free>> extension(
      must(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())));
  must(X509_add_ext(cert, extension.get(), -1));
}

Cert blank(EVP_PKEY* key, long from, long to) {
  Cert cert(must(X509_new()));
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
  const Key key(must(EVP_EC_gen("P-256")));
  const Cert cert = blank(key.get(), -7200, 7200);
  name_it(X509_get_subject_name(cert.get()), "CN", name);
  must(X509_set_issuer_name(cert.get(), X509_get_subject_name(cert.get())));
  extend(cert.get(), cert.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(cert.get(), cert.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(cert.get(), cert.get(), NID_subject_key_identifier, "hash");
  must(X509_sign(cert.get(), key.get(), EVP_sha256()) > 0 ? 1 : 0);
  return {pem(cert.get()), pem(key.get())};
}

Pair make_leaf(const Pair& ca, const Leaf& leaf) {
  const Cert issuer(must(PEM_read_bio_X509(reading(ca.cert).get(), nullptr, nullptr, nullptr)));
  const Key issuer_key(
      must(PEM_read_bio_PrivateKey(reading(ca.key).get(), nullptr, nullptr, nullptr)));
  const Key key(must(EVP_EC_gen("P-256")));
  const Cert cert = blank(key.get(), leaf.valid_from, leaf.valid_to);
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
