// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/certificate.h"

#include <memory>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "local/api_server/data_directory.h"

namespace paddle::local {
namespace {

constexpr std::string_view kBorder = "-----BEGIN CERTIFICATE-----";

template <auto Free>
struct FreeBy {
  template <typename T>
  void operator()(T* held) const {
    Free(held);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeBy<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, FreeBy<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, FreeBy<BIO_free_all>>;

Error failed() { return {Code::kInternal, "OpenSSL could not make a certificate"}; }

bool add(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool fill(X509* certificate, EVP_PKEY* key, const std::string& address, WallTime now) {
  using std::chrono::days, std::chrono::seconds;
  const auto at = [&](days shift) {
    return std::chrono::floor<seconds>(now + shift).time_since_epoch().count();
  };
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  X509_NAME* name = X509_get_subject_name(certificate);
  std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
  if (address != "127.0.0.1" && address != "::1") names += ",IP:" + address;
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), at(days{-1})) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), at(days{3650})) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                    reinterpret_cast<const unsigned char*>("paddle-local"), -1, -1,
                                    0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 &&
         add(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
         add(certificate, NID_key_usage, "critical,digitalSignature,keyCertSign") &&
         add(certificate, NID_ext_key_usage, "serverAuth") &&
         add(certificate, NID_subject_alt_name, names) &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

std::string text_of(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

Result<Identity> make_identity(const std::string& address, WallTime now) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  const Memory key_text(BIO_new(BIO_s_mem()));
  const Memory certificate_text(BIO_new(BIO_s_mem()));
  const bool made = key && certificate && key_text && certificate_text &&
                    fill(certificate.get(), key.get(), address, now) &&
                    PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                                                  nullptr, nullptr) == 1 &&
                    PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1;
  if (!made) return failed();
  return Identity{.certificate = text_of(certificate_text.get()), .key = text_of(key_text.get())};
}

Result<Identity> load_identity(const std::string& directory, const std::string& address,
                               WallTime now) {
  const std::string path = directory + "/server.pem";
  TRY(const std::string text, read_private(path));
  const auto border = text.find(kBorder);
  if (border != std::string::npos && border > 0) {
    return Identity{.certificate = text.substr(border), .key = text.substr(0, border)};
  }
  TRY(Identity made, make_identity(address, now));
  CHECK_DONE(replace_private(path, made.key + made.certificate));
  return made;
}

}  // namespace paddle::local
