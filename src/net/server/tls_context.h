// SPDX-License-Identifier: Apache-2.0
//
// A server's certificate and key, read from files and read again when these change, so that they
// can be renewed while the server runs. When they cannot be read, the last valid pair stays in use.
// Thread-safe.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/sync.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace paddle::net {

struct ServerTls {
  std::string certificate_file{};  // PEM, followed by the intermediate certificates
  std::string key_file{};
  bool operator==(const ServerTls&) const = default;
};

class TlsContext {
 public:
  // kInvalid when the files are not a usable pair.
  static Result<std::unique_ptr<TlsContext>> open(const ServerTls& files);

  std::shared_ptr<SSL_CTX> current() EXCLUDES(mutex_);

 private:
  explicit TlsContext(ServerTls files) : files_(std::move(files)) {}

  const ServerTls files_;
  Mutex mutex_;
  std::string seen_ GUARDED_BY(mutex_);  // stamps of the files that were read last
  std::shared_ptr<SSL_CTX> context_ GUARDED_BY(mutex_);
};

}  // namespace paddle::net
