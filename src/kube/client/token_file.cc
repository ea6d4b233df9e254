// SPDX-License-Identifier: Apache-2.0
#include "kube/client/token_file.h"

#include "os/read_file.h"

namespace paddle::kube {
namespace {

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

Result<> TokenFile::read() {
  struct stat now {};
  const bool there = ::stat(path_.c_str(), &now) == 0;  // before the read: a race reads it again
  if (there && same_file(now, seen_)) return Done{};
  TRY(std::string text, os::read_file(path_, size_t{1} << 20));
  const size_t first = text.find_first_not_of(" \t\r\n");
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (first == std::string::npos) return Error{Code::kUnauthorized, path_ + " contains no token"};
  token_ = text.substr(first, last - first + 1);
  seen_ = now;
  return Done{};
}

Result<Credential> TokenFile::current(std::chrono::milliseconds, std::stop_token) {
  const Lock lock(mutex_);
  if (auto done = read(); !done && token_.empty()) {
    return Error{Code::kUnauthorized, std::move(done).error().message};
  }
  return Credential{.token = token_};
}

bool TokenFile::refused(const Credential& used) {
  const Lock lock(mutex_);
  seen_ = {};  // read it again even if its stamp is the same
  return read() && token_ != used.token;
}

}  // namespace paddle::kube
