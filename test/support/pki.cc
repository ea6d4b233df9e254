// SPDX-License-Identifier: Apache-2.0
#include "test/support/pki.h"

#include <cstdint>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "tls/openssl_ptr.h"

namespace paddle::test {
namespace {

constexpr long kDay = 24L * 60 * 60;

using tls::BioPtr;
using tls::CertificatePtr;
using tls::ExtensionPtr;
using tls::KeyPtr;

Error failed(const std::string& doing) {
  return {Code::kInternal, doing + ": OpenSSL error " + std::to_string(ERR_get_error())};
}

template <typename Write>
std::string pem(Write&& write) {
  const BioPtr memory = tls::memory_writer();
  write(memory.get());
  return tls::text_of(memory.get());
}

std::string pem_of(EVP_PKEY* key) {
  return pem([&](BIO* bio) {
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

struct Request {
  std::string user{};
  std::vector<std::string> groups{};
  std::vector<std::pair<int, std::string>> extensions{};
  Validity validity = Validity::kNow;
};

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
}

bool fill(X509* certificate, X509* issuer, EVP_PKEY* key, const Request& request) {
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U);
  const bool expired = request.validity == Validity::kExpired;
  X509_gmtime_adj(X509_getm_notBefore(certificate), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate), expired ? -kDay : kDay);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (const auto& group : request.groups) add_name(subject, "O", group);
  add_name(subject, "CN", request.user);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const auto& [nid, value] : request.extensions) {
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return false;
  }
  return true;
}

// Signed by the issuer, or by itself when there is none.
Result<Certificate> issue(const Certificate* issuer, const Request& request) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertificatePtr made(X509_new());
  if (!key || !made) return failed("make a key");
  KeyPtr issuer_key;
  CertificatePtr issuer_certificate;
  if (issuer != nullptr) {
    const BioPtr key_text = tls::memory_reader(issuer->key);
    const BioPtr text = tls::memory_reader(issuer->certificate);
    issuer_key.reset(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
    issuer_certificate.reset(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
    if (!issuer_key || !issuer_certificate) return failed("read the authority");
  }
  X509* const above = issuer_certificate ? issuer_certificate.get() : made.get();
  if (!fill(made.get(), above, key.get(), request) ||
      X509_sign(made.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) == 0) {
    return failed("sign a certificate");
  }
  return Certificate{.certificate = pem([&](BIO* bio) { PEM_write_bio_X509(bio, made.get()); }),
                     .key = pem_of(key.get())};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

Result<Authority> Authority::create(const std::string& name) {
  TRY(Certificate own, issue(nullptr, {.user = name,
                                       .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                                                      {NID_key_usage, "critical,keyCertSign"},
                                                      {NID_subject_key_identifier, "hash"}}}));
  return Authority(std::move(own));
}

Result<Certificate> Authority::server(const std::vector<std::string>& names,
                                      Validity validity) const {
  return issue(&own_, {.user = "server",
                       .extensions = {{NID_subject_alt_name, joined(names)},
                                      {NID_ext_key_usage, "serverAuth"}},
                       .validity = validity});
}

Result<Certificate> Authority::client(const std::string& user,
                                      const std::vector<std::string>& groups,
                                      Validity validity) const {
  return issue(&own_, {.user = user,
                       .groups = groups,
                       .extensions = {{NID_ext_key_usage, "clientAuth"}},
                       .validity = validity});
}

Result<KeyPair> new_key_pair() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return failed("make a key");
  return KeyPair{.public_key = pem([&](BIO* bio) { PEM_write_bio_PUBKEY(bio, key.get()); }),
                 .private_key = pem_of(key.get())};
}

}  // namespace paddle::test
