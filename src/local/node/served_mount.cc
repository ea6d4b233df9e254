// SPDX-License-Identifier: Apache-2.0
#include "local/node/served_mount.h"

#include <filesystem>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "fuse/channel.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAttachLimit{10'000};
constexpr milliseconds kUnmountGrace{0};
// A successor is polled often at first: readers wait.
constexpr milliseconds kSoon{20};
constexpr milliseconds kLater{200};
constexpr int kSoonTries = 250;
constexpr std::size_t kChannels = 2;

// Returns when the peer closes the connection, or at `stop`.
void wait_for_end(int link, std::stop_token stop) {
  const UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback on_stop(stop, [&] { ::eventfd_write(wake.get(), 1); });
  while (!stop.stop_requested()) {
    pollfd fds[] = {{link, POLLIN, 0}, {wake.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) > 0 && fds[0].revents != 0) return;
  }
}

}  // namespace

ServedMount::ServedMount(std::string point, std::string session, std::string name,
                         const Clock& clock)
    : point_(std::move(point)),
      session_(std::move(session)),
      name_(std::move(name)),
      clock_(clock),
      thread_([this](std::stop_token stop) { run(stop); }) {}

ServedMount::~ServedMount() {
  thread_.request_stop();
  thread_.join();
  unmount();
}

Result<> ServedMount::ready() const {
  Lock lock(mutex_);
  if (ready_) return Done{};
  return Error{Code::kUnavailable, why_not_};
}

void ServedMount::run(std::stop_token stop) {
  for (int tries = 0; !stop.stop_requested(); ++tries) {
    if (auto served = serve(stop); served) {
      tries = 0;
      continue;
    } else if (!agreed_) {
      unmount();
      Lock lock(mutex_);
      why_not_ = served.error().message;
    } else if (tries % kSoonTries == kSoonTries - 1) {
      log::warn("a mount still waits for its runtime",
                {{"mount", name_}, {"reason", served.error().message}});
    }
    clock_.sleep(tries < kSoonTries ? kSoon : kLater, stop);
  }
}

// Returns when the runtime that served the mount is gone.
Result<> ServedMount::serve(std::stop_token stop) {
  if (!agreed_) {
    if (::access((session_ + "/attach.sock").c_str(), F_OK) != 0) {
      return Error{Code::kUnavailable, "no runtime listens yet"};
    }
    CHECK_DONE(mount());
  }
  std::vector<int> channels{mounted_.channel.get()};
  for (const UniqueFd& clone : clones_) channels.push_back(clone.get());
  TRY(auto attached, fuse::attach(session_, name_, channels, agreed_, kAttachLimit, stop));
  log::info(agreed_ ? "a successor serves the mount" : "mounted a sample set", {{"mount", name_}});
  agreed_ = attached.agreed;
  {
    Lock lock(mutex_);
    ready_ = true;
  }
  wait_for_end(attached.link.get(), stop);
  if (!stop.stop_requested()) {
    log::info("the runtime is gone; readers wait for its successor", {{"mount", name_}});
  }
  return Done{};
}

Result<> ServedMount::mount() {
  std::error_code error;
  std::filesystem::create_directories(point_, error);
  if (error) return Error{Code::kInternal, "create " + point_ + ": " + error.message()};
  TRY(mounted_, fuse::mount_data(point_, {.source = "samplefs"}));
  if (auto clones = fuse::clone_device(mounted_.channel.get(), kChannels - 1); clones) {
    clones_ = *std::move(clones);
  } else {
    log::info("one FUSE channel only", {{"reason", clones.error().message}});
  }
  return Done{};
}

void ServedMount::unmount() {
  if (!mounted_.channel) return;
  if (auto done = fuse::unmount(mounted_.point, mounted_.device, kUnmountGrace, clock_); !done) {
    log::error("cannot unmount", {{"path", point_}, {"reason", done.error().message}});
  }
  clones_.clear();
  mounted_ = {};
  ::rmdir(point_.c_str());
}

}  // namespace paddle::local
