// SPDX-License-Identifier: Apache-2.0
#include "net/server/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>

namespace paddle::net {

char RangeMask::next(char c) {
  constexpr std::string_view kName = "range";
  if (c == '\n') {
    matched_ = 0;
  } else if (matched_ >= 0) {
    const char expected = kName[static_cast<size_t>(matched_)];
    const bool same = c == expected || c == expected - 'a' + 'A';
    matched_ = same ? matched_ + 1 : -1;
    if (matched_ == static_cast<int>(kName.size())) {
      matched_ = -1;
      return '_';
    }
  }
  return c;
}

bool Connection::wait(short events) const {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - system_clock().boot());
    if (left.count() <= 0) return false;
    pollfd watched[] = {{socket_, events, 0}, {stop_fd_, POLLIN, 0}};
    const int ready = ::poll(watched, 2, static_cast<int>(std::min<long>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (watched[1].revents != 0) return false;
    if (ready > 0 && watched[0].revents != 0) return true;
  }
}

// TLS may have to write in order to read, and the other way round.
template <typename Step>
ssize_t Connection::until_done(Step step) {
  for (;;) {
    const ssize_t done = step();
    if (done == SocketStream::kWantsRead || done == SocketStream::kWantsWrite) {
      if (!wait(done == SocketStream::kWantsRead ? POLLIN : POLLOUT)) return -1;
      continue;
    }
    return done;
  }
}

bool Connection::is_readable() const {
  return used_ < filled_ || stream_.has_buffered() || wait(POLLIN);
}
bool Connection::is_writable() const { return wait(POLLOUT); }

ssize_t Connection::read(char* into, size_t size) {
  if (used_ == filled_) {
    if (received_ >= read_limit_) return -1;
    const size_t most = std::min(sizeof buffer_, read_limit_ - received_);
    const ssize_t got = until_done([&] { return stream_.read(buffer_, most); });
    if (got <= 0) return got;
    received_ += static_cast<size_t>(got);
    used_ = 0;
    filled_ = static_cast<size_t>(got);
  }
  const size_t taken = std::min(size, filled_ - used_);
  std::memcpy(into, buffer_ + used_, taken);
  if (in_header_) {
    for (size_t i = 0; i < taken; ++i) into[i] = mask_.next(into[i]);
  }
  used_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* from, size_t size) {
  if (!wait(POLLOUT)) return -1;
  return until_done([&] { return stream_.write(from, size); });
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace paddle::net
