// SPDX-License-Identifier: Apache-2.0
//
// For tests: the client behind a mount. Its control file is a pseudo-terminal whose other end the
// test has. It has no `.stats` and no `.config`, so polling its usage fails.

#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/unique_fd.h"

namespace paddle::engine::juicefs {

inline const std::string kInterrupted(1, static_cast<char>(EINTR));
inline const std::string kMissing(1, static_cast<char>(ENOENT));
inline const std::string kDone(1, '\0');

// An answer that holds this text, of less than 256 bytes.
inline std::string data_answer(const std::string& json) {
  return std::string("\xff\0\0\0", 4) + static_cast<char>(json.size()) + json;
}

class FakeClient {
 public:
  FakeClient() {
    must(::grantpt(master_.get()) == 0 && ::unlockpt(master_.get()) == 0);
    const std::string terminal = ::ptsname(master_.get());
    slave_ = UniqueFd(::open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios raw{};
    must(::tcgetattr(slave_.get(), &raw) == 0);
    ::cfmakeraw(&raw);
    must(::tcsetattr(slave_.get(), TCSANOW, &raw) == 0);
    must(::symlink(terminal.c_str(), (path() + "/.control").c_str()) == 0);
  }

  const std::string& path() const { return mount_.path(); }

  // One answer to each request, in this order.
  void answer(std::deque<std::string> answers) {
    client_ = std::jthread([this, answers = std::move(answers)](std::stop_token stop) mutable {
      std::string request;
      while (!stop.stop_requested()) {
        pollfd ready{.fd = master_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, 20) <= 0) continue;
        char room[512];
        const ssize_t got = ::read(master_.get(), room, sizeof room);
        if (got > 0) request.append(room, static_cast<std::size_t>(got));
        if (request.size() < 8 || request.size() < 8 + std::size_t(std::uint8_t(request[7]))) {
          continue;
        }
        request.clear();
        ++requests_;
        if (answers.empty()) continue;
        must(::write(master_.get(), answers.front().data(), answers.front().size()) > 0);
        answers.pop_front();
      }
    });
  }
  // The number of requests so far. No more are answered.
  int requests() {
    client_ = {};
    return requests_;
  }

 private:
  static void must(bool done) {
    if (!done) std::abort();
  }

  const Scratch mount_{};
  UniqueFd master_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  UniqueFd slave_{};
  int requests_ = 0;
  std::jthread client_{};
};

}  // namespace paddle::engine::juicefs
