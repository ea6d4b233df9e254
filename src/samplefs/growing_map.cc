// SPDX-License-Identifier: Apache-2.0
#include "samplefs/growing_map.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>

namespace paddle::samplefs {
namespace {

constexpr std::size_t kReserved = std::size_t{128} << 30;  // addresses, not memory
constexpr std::size_t kStep = std::size_t{8} << 20;

Error failed(const char* what, int number) {
  return {Code::kUnavailable, std::string(what) + " for the index: " + std::strerror(number)};
}

}  // namespace

GrowingMap::~GrowingMap() {
  if (base_) ::munmap(base_, kReserved);
}

Result<> GrowingMap::extend(std::size_t to) {
  if (to > kReserved) return failed("get memory", ENOMEM);
  if (!base_) {
    if (!directory_.empty()) {
      file_ = UniqueFd(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
      if (!file_) return failed("create a temporary file", errno);
    }
    void* reserved =
        ::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return failed("get memory", errno);
    base_ = static_cast<std::byte*>(reserved);
  }
  const std::size_t step = (to - mapped_ + kStep - 1) / kStep * kStep;
  if (!file_) {
    if (::mprotect(base_ + mapped_, step, PROT_READ | PROT_WRITE) != 0) {
      return failed("get memory", errno);
    }
  } else {
    const auto offset = static_cast<off_t>(mapped_);
    const int refused = ::posix_fallocate(file_.get(), offset, static_cast<off_t>(step));
    if (refused != 0) return failed("reserve room on the disk", refused);
    if (::mmap(base_ + mapped_, step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_.get(),
               offset) == MAP_FAILED) {
      return failed("get memory", errno);
    }
  }
  mapped_ += step;
  return Done{};
}

Result<std::byte*> GrowingMap::take(std::size_t bytes) {
  if (bytes > mapped_ - taken_) CHECK_DONE(extend(taken_ + bytes));
  std::byte* room = base_ + taken_;
  taken_ += bytes;
  return room;
}

}  // namespace paddle::samplefs
