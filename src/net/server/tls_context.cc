// SPDX-License-Identifier: Apache-2.0
#include "net/server/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "base/log.h"

namespace paddle::net {
namespace {

// A stamp: another file, or other content, has another stamp.
std::string mark_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return "none";
  return std::to_string(found.st_ino) + "/" + std::to_string(found.st_size) + "/" +
         std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec);
}

Result<std::shared_ptr<SSL_CTX>> load(const ServerTls& files) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  ERR_clear_error();
  const bool usable =
      context && SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) == 1 &&
      SSL_CTX_use_certificate_chain_file(context.get(), files.certificate_file.c_str()) == 1 &&
      SSL_CTX_use_PrivateKey_file(context.get(), files.key_file.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_check_private_key(context.get()) == 1;
  ERR_clear_error();
  if (!usable) {
    return Error{Code::kInvalid, "'" + files.certificate_file + "' and '" + files.key_file +
                                     "' are not a certificate and its key"};
  }
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  return context;
}

}  // namespace

Result<std::unique_ptr<TlsContext>> TlsContext::open(const ServerTls& files) {
  std::unique_ptr<TlsContext> made(new TlsContext(files));
  const Lock lock(made->mutex_);
  made->seen_ = mark_of(files.certificate_file) + " " + mark_of(files.key_file);
  TRY(made->context_, load(files));
  return made;
}

std::shared_ptr<SSL_CTX> TlsContext::current() {
  const Lock lock(mutex_);
  const std::string now = mark_of(files_.certificate_file) + " " + mark_of(files_.key_file);
  if (now == seen_) return context_;
  seen_ = now;
  if (auto loaded = load(files_); loaded) {
    context_ = *std::move(loaded);
    log::info("loaded a new certificate", {{"file", files_.certificate_file}});
  } else {
    log::warn("keeping the old certificate", {{"reason", loaded.error().message}});
  }
  return context_;
}

}  // namespace paddle::net
