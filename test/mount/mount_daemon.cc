// SPDX-License-Identifier: Apache-2.0
//
// The daemon as a process of its own, for tests that kill it.
//
//   mount_daemon mount PATH   mounts and serves
//   mount_daemon serve -      serves the fresh connection on standard input
//   mount_daemon serve TEXT   takes over the connection on standard input; TEXT is what was agreed
//
// Prints what was agreed as one line once it serves, then serves until it is killed. The tree:
// files "0" to "63", 110,000 bytes each of the pattern with their number as seed, and "stuck",
// whose reads never end. A read takes a few milliseconds, so that a kill finds some at work.

#include <cstdio>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/metrics.h"
#include "fuse/data_mount.h"
#include "fuse/fake/delegating_file_system.h"
#include "fuse/fake/memory_file_system.h"

namespace paddle {
namespace {

void add_samples(fuse::MemoryFileSystem& files) {
  for (std::uint64_t i = 0; i < 64; ++i) files.add_pattern(std::to_string(i), 110'000, i);
  files.hold_reads(files.add_pattern("stuck", 4096, 0));
}

int fail(const Error& error) {
  std::fprintf(stderr, "mount_daemon: %s\n", error.message.c_str());
  return 1;
}

void serve_until_killed(const fuse::Negotiated& agreed) {
  const std::string line = fuse::to_text(agreed);
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
  while (true) ::pause();
}

int run(std::string_view verb, const std::string& argument) {
  fuse::MemoryFileSystem samples;
  add_samples(samples);
  fuse::SlowFileSystem files(samples);
  Metrics metrics;
  if (verb == "mount") {
    const auto mount = fuse::DataMount::start(argument, files, metrics);
    if (!mount) return fail(mount.error());
    serve_until_killed((*mount)->agreed());
    return 1;
  }
  std::optional<fuse::Negotiated> resumed;
  if (argument != "-") {
    const auto remembered = fuse::negotiated_from_text(argument);
    if (!remembered) return fail(remembered.error());
    resumed = *remembered;
  }
  std::vector<UniqueFd> channels;
  channels.emplace_back(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const auto session = fuse::Session::start(std::move(channels), files, metrics, {}, resumed);
  if (!session) return fail(session.error());
  const auto agreed = (*session)->wait_ready(std::chrono::milliseconds{30'000});
  if (!agreed) return fail(agreed.error());
  serve_until_killed(*agreed);
  return 1;
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return paddle::run(argv[1], argv[2]);
}
