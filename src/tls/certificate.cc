// SPDX-License-Identifier: Apache-2.0
#include "tls/certificate.h"

#include <ctime>
#include <vector>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "tls/openssl_ptr.h"

namespace paddle::tls {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";

Error failed() { return {Code::kInternal, "OpenSSL could not make a certificate"}; }

// Who signs: the certificate itself, or an authority.
struct Signer {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

bool add(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

std::time_t seconds(WallTime at) {
  return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

bool fill(X509* certificate, EVP_PKEY* key, const Subject& subject, const Signer& signer) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  X509_NAME* name = X509_get_subject_name(certificate);
  const bool server = !subject.names.empty();
  std::string usage = "critical,digitalSignature";
  if (subject.authority) usage += ",keyCertSign";
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(subject.valid.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(subject.valid.until)) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(subject.common_name.c_str()), -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate)) == 1 &&
         // These distinguish two authorities of the same name.
         add(certificate, signer.certificate, NID_subject_key_identifier, "hash") &&
         add(certificate, signer.certificate, NID_authority_key_identifier, "keyid:always") &&
         add(certificate, signer.certificate, NID_basic_constraints,
             subject.authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
         add(certificate, signer.certificate, NID_key_usage, usage) &&
         (!server || add(certificate, signer.certificate, NID_ext_key_usage, "serverAuth")) &&
         (!server || add(certificate, signer.certificate, NID_subject_alt_name, subject.names)) &&
         X509_sign(certificate, signer.key, EVP_sha256()) > 0;
}

CertificatePtr read_certificate(const std::string& text) {
  const BioPtr memory = memory_reader(text);
  return CertificatePtr(memory ? PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)
                               : nullptr);
}

// `signer` without a certificate: itself.
Result<Identity> make(const Subject& subject, Signer signer) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertificatePtr certificate(X509_new());
  const BioPtr key_text = memory_writer();
  const BioPtr certificate_text = memory_writer();
  if (!key || !certificate || !key_text || !certificate_text) return failed();
  if (!signer.certificate) signer = {certificate.get(), key.get()};
  const bool made = fill(certificate.get(), key.get(), subject, signer) &&
                    PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                                                  nullptr, nullptr) == 1 &&
                    PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1;
  if (!made) return failed();
  return Identity{.certificate = text_of(certificate_text.get()), .key = text_of(key_text.get())};
}

Result<WallTime> wall(const ASN1_TIME* at) {
  std::tm parts{};
  if (!at || ASN1_TIME_to_tm(at, &parts) != 1) {
    return Error{Code::kInvalid, "the certificate has no readable validity"};
  }
  return WallTime{std::chrono::seconds{::timegm(&parts)}};
}

}  // namespace

Result<Identity> make_self_signed(const Subject& subject) { return make(subject, {}); }

Result<Identity> make_signed(const Subject& subject, const Identity& authority) {
  const CertificatePtr certificate = read_certificate(authority.certificate);
  const BioPtr memory = memory_reader(authority.key);
  const KeyPtr key(memory ? PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr)
                          : nullptr);
  if (!certificate || !key)
    return Error{Code::kInvalid, "the certificate or key of the authority cannot be read"};
  return make(subject, {certificate.get(), key.get()});
}

Result<Validity> validity_of(const std::string& certificate) {
  const CertificatePtr read = read_certificate(certificate);
  if (!read) return Error{Code::kInvalid, "not a certificate"};
  Validity valid;
  TRY(valid.from, wall(X509_get0_notBefore(read.get())));
  TRY(valid.until, wall(X509_get0_notAfter(read.get())));
  return valid;
}

std::string first_certificate(const std::string& text) {
  const auto begin = text.find(kBegin);
  if (begin == text.npos) return {};
  const auto end = text.find(kEnd, begin);
  return end == text.npos ? std::string() : text.substr(begin, end + kEnd.size() - begin);
}

Result<std::string> random_hex(std::size_t bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::vector<unsigned char> raw(bytes);
  if (RAND_bytes(raw.data(), static_cast<int>(raw.size())) != 1) {
    return Error{Code::kInternal, "OpenSSL has no random bytes"};
  }
  std::string text;
  for (const unsigned char byte : raw) text += {kDigits[byte / 16], kDigits[byte % 16]};
  return text;
}

}  // namespace paddle::tls
