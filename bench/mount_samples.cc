// SPDX-License-Identifier: Apache-2.0
//
// Does what the node does for a pod: mounts a sample set and attaches the connection to the runtime
// that listens in SESSION.
//
//   mount_samples SESSION POINT
//
// Prints "mounted" once the files are visible. Unmounts when its standard input ends.

#include <cstdio>

#include <unistd.h>

#include "fuse/attach.h"
#include "fuse/mount.h"

namespace paddle {
namespace {

constexpr std::chrono::seconds kAnswerWithin{30};
constexpr std::chrono::seconds kLeaveWithin{10};

Result<> run(const std::string& session, const std::string& point) {
  TRY(const fuse::Mounted mounted, fuse::mount_data(point, {}));
  const auto attached =
      fuse::attach(session, "bench", {mounted.channel.get()}, std::nullopt, kAnswerWithin);
  if (attached) {
    std::puts("mounted");
    std::fflush(stdout);
    char ignored = 0;
    while (::read(STDIN_FILENO, &ignored, 1) > 0) {
    }
  }
  TRY(const fuse::Unmounted left, fuse::unmount(mounted.point, mounted.device, kLeaveWithin));
  if (left == fuse::Unmounted::kDetached) std::fprintf(stderr, "mount_samples: still in use\n");
  if (!attached) return attached.error();
  return Done{};
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: mount_samples SESSION POINT\n");
    return 2;
  }
  const auto done = paddle::run(argv[1], argv[2]);
  if (!done) std::fprintf(stderr, "mount_samples: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
