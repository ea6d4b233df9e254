// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/data_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace paddle::local {
namespace {

constexpr size_t kTokenBytes = 32;
constexpr size_t kLongestToken = 4096;
constexpr size_t kLargestFile = 64UL * 1024;

Error failed(const std::string& doing) {
  return {Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

Result<UniqueFd> open_private(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed("open " + path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return failed("stat " + path);
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) {
    return Error{Code::kForbidden, path + " is not a file of this user"};
  }
  if ((info.st_mode & 0777) != 0600 && ::fchmod(file.get(), 0600) != 0) {
    return failed("chmod " + path);
  }
  return file;
}

// Secrets come from the kernel: the state of base/random.h can be guessed from uids.
Result<std::string> new_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  const UniqueFd source(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  if (!source) return failed("open /dev/urandom");
  if (::read(source.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return failed("read /dev/urandom");
  }
  constexpr const char* kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

}  // namespace

Result<> make_private_directory(const std::string& path) {
  if (path.empty()) return Error{Code::kInvalid, "the data directory has no name"};
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed("create " + path);
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!directory) return failed("open " + path);
  struct stat info {};
  if (::fstat(directory.get(), &info) != 0) return failed("stat " + path);
  if (info.st_uid != ::geteuid()) {
    return Error{Code::kForbidden, path + " belongs to another user"};
  }
  if ((info.st_mode & 0777) != 0700 && ::fchmod(directory.get(), 0700) != 0) {
    return failed("chmod " + path);
  }
  return Done{};
}

Result<> make_private_file(const std::string& path) {
  TRY(const UniqueFd file, open_private(path));
  return Done{};
}

Result<std::string> read_private(const std::string& path) {
  TRY(const UniqueFd file, open_private(path));
  std::string text(kLargestFile + 1, '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  if (count < 0) return failed("read " + path);
  if (count > static_cast<ssize_t>(kLargestFile)) {
    return Error{Code::kInvalid, path + " is too large"};
  }
  text.resize(static_cast<size_t>(count));
  return text;
}

Result<> replace_private(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  {
    TRY(const UniqueFd file, open_private(beside));
    if (::ftruncate(file.get(), 0) != 0 ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(file.get()) != 0) {
      return failed("write " + beside);
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return failed("rename " + beside);
  return Done{};
}

Result<UniqueFd> lock_directory(const std::string& path) {
  TRY(UniqueFd file, open_private(path + "/lock"));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return failed("lock " + path);
  return Error{Code::kUnavailable, path + " is in use by another API server"};
}

Result<std::string> load_token(const std::string& directory) {
  const std::string path = directory + "/token";
  TRY(std::string token, read_private(path));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.empty()) {
    TRY(token, new_token());
    CHECK_DONE(replace_private(path, token + "\n"));
  }
  const bool printable = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 127; });
  if (!printable || token.size() > kLongestToken || token.size() < 16) {
    return Error{Code::kInvalid,
                 path + " does not contain a token of 16 or more printable characters"};
  }
  return token;
}

}  // namespace paddle::local
